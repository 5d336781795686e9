// A program written for the declarations of OpenTok's own package. It uses their names and types, in strict mode.
import * as OT from '../../opentok/index.js';

type SignalEvent = OT.Event<'signal', OT.Session> & { type?: string; data?: string; from: OT.Connection | null };

class Room {
  session!: OT.Session;
  publisher?: OT.Publisher;
  subscribers: OT.Subscriber[] = [];
  streams: OT.Stream[] = [];
  connections = new Map<string, OT.Connection>();

  constructor(private key: string, private id: string) {}

  async join(token: string): Promise<void> {
    this.session = OT.initSession(this.key, this.id, {
      connectionEventsSuppressed: false,
      ipWhitelist: true,
      iceConfig: { includeServers: 'all', transportPolicy: 'relay', customServers: [{ urls: 'turn:x' }] },
    });
    this.session.on('connectionCreated', ({ connection }) => {
      this.connections.set(connection.connectionId, connection);
      console.log(new Date(connection.creationTime).toISOString(), connection.data.length);
    });
    this.session.on('connectionDestroyed', (event) => {
      this.connections.delete(event.connection.connectionId);
      const why: string = event.reason;
      console.log(why);
    });
    type DisconnectEvent = OT.Event<'sessionDisconnected', OT.Session> & { reason: string };
    this.session.on('sessionDisconnected', (event: DisconnectEvent) => {
      console.log(event.reason === 'other', event.target.sessionId);
      event.preventDefault();
    });
    this.session.on('signal', (event: SignalEvent) => this.receive(event));
    this.session.on('signal:chat', (event: any) => console.log(event.data));
    this.session.on(
      { streamCreated: (event: any) => this.streams.push(event.stream), sessionConnected: () => {} }, this
    );
    this.session.on('streamCreated', (event) => {
      const stream: OT.Stream = event.stream;
      const wanted: OT.SubscriberProperties = {
        insertMode: 'append', width: '100%', height: 240, preferredResolution: { width: 1, height: 2 },
      };
      const subscriber = this.session.subscribe(stream, document.createElement('div'), wanted, (err?: OT.OTError) => {
        if (err) console.log(err.name, err.message);
      });
      subscriber.on('videoElementCreated', (e) => console.log(e.element));
      subscriber.on('videoDimensionsChanged', (e) => console.log(e.newValue.width));
      this.subscribers.push(subscriber);
      console.log(
        stream.name,
        stream.hasAudio,
        stream.videoType === 'screen',
        stream.videoDimensions.width,
        stream.connection.data,
      );
    });
    this.session.on('streamDestroyed', (event) => {
      this.streams = this.streams.filter((stream) => stream.streamId !== event.stream.streamId);
    });
    this.session.once('sessionReconnected', () => {});
    this.session.off('sessionReconnecting');
    this.session.off();
    const properties: OT.PublisherProperties = {
      insertMode: 'append', name: 'me', resolution: '640x480', style: { nameDisplayMode: 'on' }, videoSource: false,
    };
    this.publisher = OT.initPublisher(
      document.getElementById('publisher') ?? undefined,
      properties,
      (error?: OT.OTError) => console.log(error && error.message),
    );
    this.publisher.on('streamCreated', (event) => console.log(event.stream.streamId));
    this.publisher.on('accessDenied', () => {});
    console.log(
      this.publisher.stream?.streamId,
      this.publisher.element?.id,
      this.publisher.session?.sessionId,
      this.publisher.accessAllowed,
    );
    await new Promise<void>(
      (resolve, reject) => this.session.connect(token, (error) => (error ? reject(error) : resolve()))
    );
    const mine: OT.Connection | undefined = this.session.connection;
    console.log(mine?.connectionId, this.session.connection!.connectionId);
    if (this.session.capabilities.publish == 1) {
      this.session.publish(this.publisher, (error) => console.log(error?.name));
    }
    if (this.session.capabilities.forceDisconnect === 1 && mine) {
      this.session.forceDisconnect(mine, (error) => console.log(error?.message));
    }
    await this.session.forceMuteAll(this.streams);
    await this.session.setIceConfig({ includeServers: 'custom', transportPolicy: 'all', customServers: [] });
    await this.session.setEncryptionSecret('x');
  }

  receive(event: SignalEvent) {
    if (event.from && event.from.connectionId === this.session.connection!.connectionId) return;
    console.log(event.type, event.data);
  }

  send(type: string, data: string, to?: OT.Connection): Promise<void> {
    return new Promise((resolve, reject) => {
      const signal: { type?: string; data?: string; to?: OT.Connection } = { type, data };
      if (to) signal.to = to;
      this.session.signal(signal, (error?: OT.OTError) => (error ? reject(error) : resolve()));
    });
  }
}
OT.on('exception', (event: OT.ExceptionEvent) => console.log(event.code, event.title.length, event.message));
OT.getDevices((error, devices) => {
  if (!error && devices) {
    console.log(devices.filter((device: OT.Device) => device.kind === 'videoInput').map((device) => device.label));
  }
});
OT.checkScreenSharingCapability(
  (answer: OT.ScreenSharingCapabilityResponse) => console.log(answer.supported, answer.extensionRegistered)
);
if (OT.checkSystemRequirements() !== 1) OT.upgradeSystemRequirements();
OT.setProxyUrl('https://x');
console.log(OT.hasEndToEndEncryptionSupport(), OT.hasMediaProcessorSupport(), OT.version);
export default Room;
