import { Collection } from './collection.js';
import { complete } from './completion.js';
import { Capabilities, Connection, noteDestroyed } from './connection.js';
import { Driver } from './driver.js';
import { Code, OTError, titleOfCode } from './errors.js';
import { ConnectionEvent, ExceptionEvent, OTEvent, SessionConnectEvent, SessionDisconnectEvent, SessionReconnectEvent, SignalEvent } from './events.js';
import { MediaCalls } from './media.js';
import { signalingAddress } from './server-address.js';
import { Signal } from './signal.js';

/** So many signals may wait for their senders to be introduced; past that the oldest is given up, and the log says so. */
const HELD_SIGNALS = 256;

/**
 * OpenTok's Session: what happens to a connection, told in OpenTok's events and in OpenTok's order.
 *
 * `house` is what all sessions of one `OT` share: `log`, `environment`, `server()`, `raise(event)` for exceptions,
 * `handlerFailed` for what handlers throw, `publishers`, and `forget(session)`.
 */
export class Session extends MediaCalls {
  #house;
  #driver;
  #server;
  #connectEventsSuppressed;
  /** The handler of the running `connect`, until it is called. */
  #connectHandler = null;
  /** The once-listener through which a successful connect calls it. */
  #connectListener = null;
  #attempts = 0;
  /** Signals whose sender has not been announced yet, in the order in which they came. */
  #held = [];

  constructor(house, apiKey, sessionId, options = {}) {
    super(house);
    this.#house = house;
    this.#server = options.server;
    this.#connectEventsSuppressed = options.connectionEventsSuppressed === true;
    this.#driver = new Driver(
      house.environment,
      () => this.#address(),
      (effect) => this.#perform(effect),
    );
    this.apiKey = apiKey;
    this.sessionId = sessionId;
    this.id = sessionId;
    this.token = undefined;
    this.connection = null;
    this.connections = new Collection();
    this.streams = new Collection();
    this.archives = new Collection();
    this.capabilities = new Capabilities();
    this.currentState = 'disconnected';
  }

  is(...states) {
    return states.flat().includes(this.currentState);
  }

  isNot(...states) {
    return !this.is(...states);
  }

  /** Also while reconnecting, as in OpenTok: only `sessionReconnecting` and `sessionReconnected` tell the difference. */
  isConnected() {
    return this.currentState === 'connected';
  }

  /** `connect(token, handler?)`, and the older `connect(apiKey, token, handler?)`. */
  connect(...args) {
    const isOlderForm = typeof args[1] === 'string';
    const token = isOlderForm ? args[1] : args[0];
    // OpenTok takes whatever is last for the handler: `connect(token, options, handler)` is found in programs.
    const handler = args.at(-1);
    if (this.currentState !== 'disconnected') {
      this.#house.log.warn(`connect does nothing: the session is ${this.currentState}`);
      return this;
    }
    // The key of `initSession` counts; the older form brings one where that had none.
    if (isOlderForm && isGiven(args[0]) && this.apiKey === undefined) this.apiKey = String(args[0]);
    this.token = token;
    this.currentState = 'connecting';
    this.#attempts += 1;
    this.#connectHandler = typeof handler === 'function' ? handler : null;
    if (this.#connectHandler) {
      // A listener like any other: it runs after those added before it, and before those added later.
      this.#connectListener = (event) => this.#takeConnectHandler()?.(undefined, event);
      this.once('sessionConnected', this.#connectListener);
    }
    const complaint = this.#connectComplaint();
    if (complaint) {
      // Answered later, as every other refusal is, so that listeners added after this call hear of it.
      const attempt = this.#attempts;
      queueMicrotask(() => {
        if (attempt === this.#attempts && this.currentState === 'connecting') this.#refuse(complaint);
      });
      return this;
    }
    this.#driver.handle({
      event: 'connectRequested',
      apiKey: this.apiKey,
      sessionId: this.sessionId,
      token,
      options: this.#connectEventsSuppressed ? { connectionEventsSuppressed: true } : undefined,
    });
    return this;
  }

  disconnect() {
    const handler = this.#takeConnectHandler();
    this.#driver.handle({ event: 'disconnectRequested' });
    this.#reset();
    this.#complete(handler, new OTError(Code.connectFailed, 'The session was left before it was connected.'));
  }

  /** `signal(options?, handler?)`, `signal(handler)`. */
  signal(...args) {
    const [options, handler] = typeof args[0] === 'function' ? [{}, args[0]] : [args[0] ?? {}, args[1]];
    const done = (error) => (error ? this.#complete(handler, error) : this.#complete(handler, undefined, options));
    if (!this.isConnected()) {
      // Before the signal is looked at, as in OpenTok's script.
      const error = new OTError(Code.notConnected, 'The signal cannot be sent: the session is not connected.');
      done(error);
      this.#raise(error);
      return;
    }
    if (typeof options !== 'object') {
      // Looked at as OpenTok does, a text has no properties and is a signal with nothing in it; nobody means that.
      done(new OTError(Code.invalidParameter, 'The signal must be an object with type and data.'));
      return;
    }
    const signal = new Signal(options, this);
    if (!signal.valid) {
      done(new OTError(signal.error.code, signal.error.message));
      return;
    }
    this.#driver.handle({
      event: 'signalRequested',
      tag: done,
      type: signal.type === undefined ? undefined : String(signal.type),
      ...this.#asText(signal.data),
      // OpenTok lets the session itself stand as a target; it can only mean everybody.
      to: signal.to === this ? undefined : signal.to?.connectionId,
      onlineOnly: signal.onlineOnly,
      retryAfterReconnect: signal.retryAfterReconnect,
    });
  }

  forceDisconnect(connectionOrId, handler) {
    const done = (error) => {
      this.#complete(handler, error);
      if (error) this.#raise(error);
    };
    const connectionId = typeof connectionOrId === 'string' ? connectionOrId : connectionOrId?.connectionId;
    if (!this.isConnected()) {
      done(new OTError(Code.notConnectedToModerate, 'Nobody can be disconnected: the session is not connected.'));
    } else if (!this.capabilities.permittedTo('forceDisconnect')) {
      done(new OTError(Code.unableToForceDisconnect, 'This token does not permit to disconnect others.'));
    } else if (typeof connectionId !== 'string' || connectionId === '') {
      done(new OTError(Code.badTarget, 'Name a connection to disconnect.'));
    } else {
      this.#driver.handle({ event: 'forceDisconnectRequested', tag: done, connectionId });
    }
  }

  /** Leaves, and lets go of everything: the next `initSession` with this id makes a new Session. */
  destroy() {
    this.disconnect();
    this.#house.forget(this);
    // Leaving has put off its `sessionDisconnected`; the handlers stay until they have heard it.
    queueMicrotask(() => this.off());
  }

  // What the rules tell us to do

  #perform(effect) {
    switch (effect.do) {
      case 'announce':
        this.#announce(effect.happening);
        break;
      case 'settle':
        effect.tag(effect.error ? new OTError(effect.error.code, effect.error.message) : undefined);
        break;
      case 'refuse':
        this.#refuse(effect.error);
        break;
      case 'end':
        this.#reset();
        // Later, so that the program that left finds everything cleared before it hears of it.
        queueMicrotask(() => this.dispatchEvent(new SessionDisconnectEvent(this, effect.reason)));
        break;
      case 'warn':
        this.#house.log.warn(effect.message);
        break;
    }
  }

  #announce(happening) {
    switch (happening.what) {
      case 'connected':
        this.#connected(happening);
        break;
      case 'connectionCreated':
        this.#created(this.#remember(happening.connection));
        break;
      case 'connectionDestroyed':
        this.#destroyed(happening);
        break;
      case 'signal':
        this.#signalled(happening);
        break;
      case 'reconnecting':
        this.dispatchEvent(new OTEvent('sessionReconnecting', this));
        break;
      case 'replaced':
        this.#become(happening);
        break;
      case 'reconnected':
        this.#reconnected(happening);
        break;
    }
  }

  #connected({ connection, connections, capabilities }) {
    this.#become({ connection, capabilities });
    this.currentState = 'connected';
    const mine = this.connection;
    // Everybody is in the collection before anything is told: programs count who is here in their connect handler.
    const present = connections.map((each) => this.#remember(each));
    this.dispatchEvent(new SessionConnectEvent(this));
    // `off` may have taken the connect handler along, as in OpenTok. It must not hear of a failure later.
    if (this.connection === mine) this.#takeConnectHandler();
    for (const each of present) {
      // A handler may leave in the middle of this; the others were then never here.
      if (this.connection !== mine) return;
      this.#created(each);
    }
  }

  #become({ connection, capabilities }) {
    this.connection = new Connection({ ...connection, capabilities }, this.#house.handlerFailed);
    this.capabilities = new Capabilities(capabilities);
  }

  #reconnected({ outcome }) {
    if (outcome === 'lost') {
      this.#house.log.warn('the session is connected again, after too long: signals and connections of the meantime may have been missed');
    }
    this.dispatchEvent(new SessionReconnectEvent(this, outcome));
  }

  #remember(described) {
    const known = described.connectionId === this.connection?.connectionId ? this.connection : this.connections.get(described.connectionId);
    const connection = known ?? new Connection(described, this.#house.handlerFailed);
    this.connections.add(connection);
    return connection;
  }

  #created(connection) {
    if (!this.#connectEventsSuppressed) this.dispatchEvent(new ConnectionEvent('connectionCreated', this, connection));
    this.#releaseHeldBackFor(connection);
  }

  #releaseHeldBackFor(connection) {
    for (const happening of this.#held.filter(({ from }) => from === connection.connectionId)) {
      // A handler may leave, or see the sender leave, in the middle of this.
      const place = this.#held.indexOf(happening);
      if (place < 0) return;
      this.#held.splice(place, 1);
      this.#signalled(happening);
    }
  }

  #destroyed({ connectionId, reason }) {
    const connection = this.connections.get(connectionId);
    if (!connection) return;
    noteDestroyed(connection, reason);
    this.connections.remove(connection);
    if (!this.#connectEventsSuppressed) this.dispatchEvent(new ConnectionEvent('connectionDestroyed', this, connection, reason));
  }

  #signalled(happening) {
    const { from, connection, type } = happening;
    const sender = this.#sender(from, connection);
    if (sender === undefined) {
      this.#hold(happening);
      return;
    }
    const event = new SignalEvent(this, { type, data: valueOf(happening), from: sender });
    this.emit('signal', event);
    if (type) this.emit(`signal:${type}`, event);
  }

  /**
   * Null for the server itself, undefined for somebody who has not been announced. Where presence is suppressed, the
   * signal describes its sender (SIG-9), and one that does not still has the sender's id.
   */
  #sender(from, described) {
    if (from === null) return null;
    const known = from === this.connection?.connectionId ? this.connection : this.connections.get(from);
    if (known) return known;
    if (!described && !this.#connectEventsSuppressed) return undefined;
    return new Connection({ ...described, connectionId: from }, this.#house.handlerFailed);
  }

  /** Handlers always see a `from` that they know: who has not been announced has to wait. */
  #hold(happening) {
    this.#held.push(happening);
    if (this.#held.length <= HELD_SIGNALS) return;
    this.#held.shift();
    this.#house.log.warn('a signal was dropped: its sender was never announced');
  }

  #refuse({ code, message }) {
    const handler = this.#takeConnectHandler();
    const error = new OTError(code, message);
    this.#reset();
    this.#complete(handler, error);
    this.dispatchEvent(new OTEvent('sessionConnectFailed', this, { name: error.name, code, message, reason: message, error }));
    this.#raise(error);
  }

  // Small things

  #reset() {
    if (this.#held.length > 0) this.#house.log.warn(`${this.#held.length} signals were dropped: their senders were never announced`);
    this.#held = [];
    this.connection = null;
    this.connections.clear();
    this.capabilities = new Capabilities();
    this.currentState = 'disconnected';
  }

  #takeConnectHandler() {
    const handler = this.#connectHandler;
    if (this.#connectListener) this.off('sessionConnected', this.#connectListener);
    this.#connectHandler = null;
    this.#connectListener = null;
    return handler;
  }

  #complete(handler, error, ...details) {
    complete(this.#house.log, handler, error, ...details);
  }

  #raise(error) {
    this.#house.raise(new ExceptionEvent(this, error, titleOfCode(error.code)));
  }

  #connectComplaint() {
    if (!isText(this.apiKey)) return { code: Code.authenticationError, message: 'An API key is required.' };
    if (!isText(this.sessionId)) return { code: Code.invalidSessionId, message: 'A session id is required.' };
    if (!isText(this.token)) return { code: Code.authenticationError, message: 'A token is required.' };
    return null;
  }

  #address() {
    const { environment, server, log } = this.#house;
    const address = signalingAddress(this.#server ?? server(), environment.pageProtocol);
    if (address === null) log.error('no server is known: call OT.setServer, or pass {server} to OT.initSession');
    return address;
  }

  /** The wire carries text. OpenTok's web client also takes objects and numbers, with a warning; they go as JSON (SIG-13). */
  #asText(data) {
    if (data === undefined || typeof data === 'string') return { data };
    this.#house.log.warn('signal data that is not a string is deprecated; other than browsers receive its JSON text');
    return { data: JSON.stringify(data), isJSON: true };
  }
}

/** What the sender's program gave to `signal`. Each receiver has a value of its own. */
function valueOf({ data, isJSON }) {
  if (!isJSON || data === undefined) return data;
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

function isGiven(value) {
  return value !== undefined && value !== null;
}

function isText(value) {
  return typeof value === 'string' && value !== '';
}
