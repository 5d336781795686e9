// A program in TypeScript that uses `opentok.d.ts`. `tsc --strict --noEmit` has to report an error for each line after
// `@ts-expect-error`, and no other.
import OT = require('../../opentok/opentok');

const session: OT.Session = OT.initSession(
  '100', '1_x', { connectionEventsSuppressed: true, server: 'https://signals.example' }
);

OT.on('exception', (event) => console.log(event.code.toFixed(), event.title?.length, event.error.reason?.length));
OT.once('exception', () => {}).off();

session
  .on('sessionConnected', (event) => console.log(event.target.connection?.connectionId))
  .on('signal:chat', (event) => console.log(event.data?.length, event.from?.data.length), {})
  .on('sessionReconnected', (event) => console.log(event.outcome === 'lost'))
  .on('connectionCreated connectionDestroyed', (event) => console.log(event.connection))
  .once({ sessionDisconnected: (event) => console.log(event.reason === 'forceDisconnected') })
  .off('signal:chat')
  .off({ signal: () => {} });

session.connect('T1==', (error, event) => {
  if (error) {
    console.log(error.name, error.code, error.message, error.reason);
    return;
  }
  console.log(event?.type);
  session.signal();
  session.signal(() => {});
  session.signal(
    { type: 'chat', data: 'hello', retryAfterReconnect: false, onlineOnly: true },
    (failure) => console.log(failure?.code),
  );
  const ada = session.connections.find({ data: 'Ada' });
  if (ada) session.signal({ to: ada, data: { a: 1 } });
  session.signal({ to: session });
  session.forceDisconnect(ada ?? 'id', (failure) => console.log(failure?.code));
  const names: string[] = session.connections.map((connection) => connection.data);
  console.log(
    names, session.connections.length(), session.streams.length(), session.capabilities.permittedTo('publish')
  );
});

const properties: OT.PublisherProperties = { insertMode: 'append', width: '100%', height: '100%' };
const shown: OT.SubscriberProperties = properties;
const failed = (error?: OT.OTError): void => console.log(error?.name);
session.on('streamCreated', (event) => session.subscribe(event.stream, 'subscriber', shown, failed));
session.publish(OT.initPublisher('publisher', properties, failed), failed);
session.on(
  'signal',
  (event: OT.Event<'signal', OT.Session> & { data?: string; from: OT.Connection | null }) => console.log(event.data),
);

const publisher = OT.initPublisher('publisher', { insertMode: 'append' }, (error) => console.log(error?.name));
publisher.on('streamCreated', () => {});
publisher.publishAudio(false).destroy();
session.publish(publisher, (error) => console.log(error?.message));
OT.setLogLevel(OT.DEBUG);

async function withHistory(): Promise<void> {
  const joined = OT.initSession('100', '1_x', { history: { last: 50 } });
  joined.on('history', ({ page }) => console.log(page.messages.map(({ data, from }) => [data?.length, from?.data])));
  joined.on('messagesErased', ({ ref, through }) => console.log(ref ?? through));
  const page: OT.HistoryPage = await joined.history({ before: 812, limit: 20 });
  if (joined.hasHistory && page.more) console.log(page.first?.toFixed(), joined.epoch?.length, await joined.history());
  await joined.erase({ ref: 7 });
  joined.on('messageChanged', ({ seq, ref, rel, from, data }) => console.log(seq + ref, rel, from?.data, data?.length));
  if (joined.changes?.includes('edit')) console.log((await joined.change({ ref: 7, rel: 'edit', data: 'x' })).seq);
  const { all, changedThrough, messages: [changed] } = await joined.history({ changedAfter: 7 });
  console.log(all, changedThrough?.toFixed(), changed.edited, changed.changed);
  // @ts-expect-error one message, or all up to one
  await joined.erase({});
}
void withHistory;

async function withPromises(): Promise<void> {
  const shown: OT.Publisher = await OT.initPublisher.promise('publisher', { videoSource: null });
  const same: OT.Session = await session.connect.promise('T1==');
  (await session.publish.promise(shown)).on('streamDestroyed', (event) => console.log(event.stream.id, event.reason));
  await shown.publishVideo.promise(false);
  session.on('streamCreated', async ({ stream }) => {
    const subscriber: OT.Subscriber = await session.subscribe.promise(stream, 'subscriber', { insertMode: 'append' });
    await subscriber.subscribeToAudio.promise(false);
    console.log(subscriber.getCaptionsTranslationLanguage(), await subscriber.getStats());
  });
  await same.signal({ type: 'msg', data: 'hello' });
  await session.forceDisconnect('id');
  await session.forceUnpublish(shown.stream);
  const devices: OT.Device[] = await OT.getDevices();
  const { supported } = await OT.checkScreenSharingCapability();
  console.log(devices.length, supported, await OT.reportIssue());
  await session.disconnect();
}
withPromises();
OT.setServer('https://signals.example', { publish: 'local' });
OT.initSession('100', '1_y', { publish: 'fail' });
OT.initSession('100', '1_w', { publish: 'announce' });

// @ts-expect-error the values are local and fail
OT.setServer('https://signals.example', { publish: 'remote' });
// @ts-expect-error connect itself returns the session
session.connect('T1==').then(() => {});
// @ts-expect-error a connection's id is no target
session.signal({ to: 'ada-id' });
// @ts-expect-error length is a function
const count: number = session.connections.length;
// @ts-expect-error only the session makes connections
new OT.Connection({});
// @ts-expect-error from may be null
session.on('signal', (event) => event.from.data);
console.log(count);
