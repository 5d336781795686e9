import { Code } from '../client/wire/codes.js';
import { Driver } from '../client/driver.js';
import { signalingAddress } from '../client/server-address.js';
import { localPublishingOf } from '../media/media-calls.js';
import { OwnRestrictions } from '../client/own-restrictions.js';
import { Collection } from './collection.js';
import { complete } from './completion.js';
import { ConnectHandler } from './connect-handler.js';
import { Capabilities, Connection, emitDestroyed, noteDestroyed } from './connection.js';
import { titleOfCode } from './error-tables.js';
import { OTError } from './errors.js';
import {
  ConnectionEvent, ExceptionEvent, HistoryEvent, MessagesErasedEvent, ModeratedEvent, OTEvent, RestrictedEvent,
  SessionConnectEvent, SessionDisconnectEvent, SessionReconnectEvent, SignalEvent, UnrestrictedEvent, UserEvent,
} from './events.js';
import { ExtensionCalls } from './extension-calls.js';
import { historyOption, pageOf } from './history.js';
import { addPromiseForm, Outcome, promised, settle } from './promises.js';
import { SessionUsers } from './session-users.js';
import { HeldSignals } from './signal/held-signals.js';
import { decodeData, encodeData } from './signal/signal-data.js';
import { Signal } from './signal/signal.js';

// A longer token or connection id could make a message that is too long for the server, which would end the connection.
const TOKEN_BYTE_COUNT = 16_384;
const CONNECTION_ID_BYTE_COUNT = 255;

const byteCount = (text) => new TextEncoder().encode(text).length;

/**
 * OpenTok's Session: turns the events of a connection into OpenTok's events, in OpenTok's order.
 *
 * `shared` is what all sessions of one `OT` share: `log`, `environment`, `server()`, `raise(event)` for exceptions,
 * `handlerFailed` for errors thrown by handlers, `publishers`, `publishOption`, and `forget(session)`.
 */
export class Session extends ExtensionCalls {
  #shared;
  #driver;
  #server;
  #connectEventsSuppressed;
  #awayEvents;
  #historyOption;
  #connectHandler = new ConnectHandler(this);
  #attempts = 0;
  #held;
  #users = new SessionUsers((type, user) => this.#tellUser(type, user));
  #restrictions = new OwnRestrictions();

  constructor(shared, apiKey, sessionId, options = {}) {
    super(shared, options.publish, (...request) => this.#ask(...request));
    addPromiseForm(this, 'connect');
    this.#shared = shared;
    this.#server = options.server;
    this.#connectEventsSuppressed = options.connectionEventsSuppressed === true;
    this.#awayEvents = options.connectionAwayEvents === true;
    this.#historyOption = isGiven(options.history) ? historyOption(options.history) : null;
    if (isGiven(options.history) && this.#historyOption === null) {
      shared.log.warn('the option history is ignored: it must be {last} or {after, limit}, with numbers');
    }
    this.#held = new HeldSignals(shared.log);
    this.#driver = new Driver(
      shared.environment,
      () => this.#address(),
      (effect) => this.#perform(effect),
      (error) => shared.log.error('the library failed to carry out a step:', error),
    );
    this.apiKey = apiKey;
    this.sessionId = sessionId;
    this.id = sessionId;
    this.token = undefined;
    this.connection = null;
    this.connections = new Collection(shared.handlerFailed);
    this.streams = new Collection(shared.handlerFailed);
    this.archives = new Collection(shared.handlerFailed);
    this.capabilities = new Capabilities();
    this.currentState = 'disconnected';
    /** Extensions: the name of the session's order, and whether it keeps a history that this client may read. */
    this.epoch = null;
    this.hasHistory = false;
    /** An extension: false while the role of the token may not send signals (CON-10). */
    this.maySignal = true;
  }

  is(...states) {
    return states.includes(this.currentState);
  }

  isNot(...states) {
    return !this.is(...states);
  }

  /**
   * True while reconnecting, too, as in OpenTok: only the events `sessionReconnecting` and `sessionReconnected` show
   * the difference.
   */
  isConnected() {
    return this.currentState === 'connected';
  }

  /**
   * An extension: the users of the session (USR-3), each `{user, connections}`, in the order in which they joined.
   * Guests are not among them.
   */
  get users() {
    return this.#users.list((id) => this.connections.get(id));
  }

  /** An extension: what keeps this client from signalling now, each `{kind, until?, reason?}` (MOD-5). */
  get restrictedBy() {
    return this.#restrictions.holding(Date.now());
  }

  /** `connect(token, handler?)`, and the older `connect(apiKey, token, handler?)`. */
  connect(...args) {
    const isOlderForm = typeof args[1] === 'string';
    const token = isOlderForm ? args[1] : args[0];
    if (this.currentState !== 'disconnected') {
      const message = `connect does nothing: the session is ${this.currentState}`;
      this.#shared.log.warn(message);
      settle(args.at(-1), new OTError(Code.illegalState, message));
      return this;
    }
    // The key of `initSession` has precedence. The older form supplies a missing one.
    if (isOlderForm && isGiven(args[0]) && this.apiKey === undefined) this.apiKey = String(args[0]);
    this.token = token;
    this.currentState = 'connecting';
    this.#attempts += 1;
    // OpenTok uses the last argument as the handler: programs call `connect(token, options, handler)`.
    this.#connectHandler.set(args.at(-1));
    const error = this.#missingArgument();
    if (error) {
      // Reported later, as every other refusal, so that listeners added after this call receive it.
      const attempt = this.#attempts;
      queueMicrotask(() => {
        if (attempt === this.#attempts && this.currentState === 'connecting') this.#connectFailed(error);
      });
      return this;
    }
    this.#driver.handle({
      is: 'connect',
      apiKey: this.apiKey,
      sessionId: this.sessionId,
      token,
      options: {
        ...(this.#connectEventsSuppressed ? { connectionEventsSuppressed: true } : {}),
        ...(this.#awayEvents ? { connectionAwayEvents: true } : {}),
        ...(this.#historyOption ? { history: this.#historyOption } : {}),
      },
    });
    return this;
  }

  /**
   * Clears the session at once, and emits `sessionDisconnected` later. The client completes the departure by itself. The
   * promise is resolved after the event.
   */
  disconnect() {
    const wasConnected = this.isConnected();
    const handler = this.#connectHandler.remove();
    this.#driver.handle({ is: 'disconnect' });
    const emitStreamsEnded = this.#reset('clientDisconnected');
    this.#complete(handler, new OTError(Code.connectFailed, 'The session was disconnected before it was connected.'));
    return wasConnected ? this.#dispatchDisconnected('clientDisconnected', emitStreamsEnded) : Promise.resolve();
  }

  /** `signal(options?, handler?)`, `signal(handler)`. */
  signal(...args) {
    const [options, handler] = typeof args[0] === 'function' ? [{}, args[0]] : [args[0] ?? {}, args[1]];
    return promised(this.#shared.log, handler, (done) => {
      this.#signal(options, (error) => (error ? done(error) : done(undefined, options)));
    });
  }

  #signal(options, done) {
    if (!this.isConnected()) {
      // Checked before the signal itself, as in OpenTok's script.
      const error = new OTError(Code.notConnected, 'The signal cannot be sent: the session is not connected.');
      done(error);
      this.#raise(error);
      return;
    }
    if (typeof options !== 'object') {
      // OpenTok treats a string as an object without properties and sends an empty signal. No program wants that.
      done(new OTError(Code.invalidParameter, 'The signal must be an object with type and data.'));
      return;
    }
    const signal = new Signal(options, this);
    if (!signal.valid) {
      done(new OTError(signal.error.code, signal.error.message));
      return;
    }
    this.#driver.handle({
      is: 'signal',
      call: { kind: 'signal', done },
      type: signal.type === undefined ? undefined : String(signal.type),
      ...encodeData(signal.data, this.#shared.log),
      // OpenTok accepts the session itself as a target: all clients.
      to: signal.to === this ? undefined : signal.to?.connectionId,
      onlineOnly: signal.onlineOnly,
      retryAfterReconnect: signal.retryAfterReconnect,
    });
  }

  forceDisconnect(connectionOrId, handler) {
    return promised(this.#shared.log, handler, (done) => {
      this.#forceDisconnect(connectionOrId, (error) => {
        done(error);
        if (error) this.#raise(error);
      });
    });
  }

  #forceDisconnect(connectionOrId, done) {
    const connectionId = typeof connectionOrId === 'string' ? connectionOrId : connectionOrId?.connectionId;
    if (!this.isConnected()) {
      done(new OTError(Code.notConnectedToModerate, 'forceDisconnect failed: the session is not connected.'));
    } else if (!this.capabilities.permittedTo('forceDisconnect')) {
      done(new OTError(Code.unableToForceDisconnect, 'forceDisconnect failed: it needs the token of a moderator.'));
    } else if (typeof connectionId !== 'string' || connectionId === ''
      || byteCount(connectionId) > CONNECTION_ID_BYTE_COUNT) {
      done(new OTError(Code.badTarget, 'forceDisconnect failed: pass a connection or its id.'));
    } else {
      this.#driver.handle({ is: 'forceDisconnect', call: { kind: 'forceDisconnect', done }, connectionId });
    }
  }

  /**
   * An extension: shows the server a newer token for the same session, role and connection data (CON-12). `handler`
   * gets an error if the server refuses it; the session then continues with the old token.
   */
  refreshToken(token, handler) {
    return promised(this.#shared.log, handler, (done) => {
      this.#refreshToken(token, (error) => {
        if (!error) this.token = token;
        done(error);
      });
    });
  }

  #refreshToken(token, done) {
    if (!this.isConnected()) {
      done(new OTError(Code.notConnected, 'The token cannot be refreshed: the session is not connected.'));
    } else if (!isText(token)) {
      done(new OTError(Code.authenticationError, 'The token cannot be refreshed: a token is required.'));
    } else if (byteCount(token) > TOKEN_BYTE_COUNT) {
      done(new OTError(Code.authenticationError, `The token is longer than ${TOKEN_BYTE_COUNT} bytes.`));
    } else {
      this.#driver.handle({ is: 'refreshToken', call: { kind: 'refreshToken', done }, token });
    }
  }

  /** `message` is the request without its `op` and `id`; null if the program's arguments make none. */
  #ask(kind, message, advice, handler = undefined) {
    const { promise, resolve, reject } = new Outcome();
    const done = (error, result) => {
      const answer = kind === 'history' && result ? this.#pageOf(result) : result;
      this.#complete(handler, error, answer);
      if (error) reject(error);
      else resolve(answer);
    };
    if (!this.isConnected()) {
      done(new OTError(Code.notConnected, `${kind} failed: the session is not connected.`));
    } else if (message === null) {
      done(new OTError(Code.invalidParameter, `${kind} failed: the arguments are invalid. ${advice}`));
    } else {
      this.#driver.handle({ is: kind, call: { kind, done }, message });
    }
    return promise;
  }

  /** Disconnects, and releases everything: the next `initSession` with this id makes a new Session. */
  destroy() {
    this.disconnect();
    this.#shared.forget(this);
    // `sessionDisconnected` is still to come; the handlers stay until they have received it.
    queueMicrotask(() => this.off());
  }

  // Effects of the client

  #perform(effect) {
    switch (effect.do) {
      case 'connectSucceeded':
        this.#connected(effect.welcome);
        break;
      case 'connectFailed':
        this.#connectFailed(OTError.of('connect', effect.error));
        break;
      case 'connectionReplaced':
        this.#setConnection(effect.welcome);
        this.#users.replace();
        break;
      case 'connectionResumed':
        // The server may have been started again with another list of types.
        this.hasHistory = effect.welcome.history === true;
        this.#noteRestrictions(effect.welcome);
        break;
      case 'callSucceeded':
        effect.call.done(undefined, effect.result);
        break;
      case 'callFailed':
        this.#callFailed(effect);
        break;
      case 'emit':
        this.#handleEvent(effect.event);
        break;
      case 'warn':
        this.#shared.log.warn(effect.message);
        break;
    }
  }

  #callFailed({ call, error }) {
    const { restriction, retryAfter } = error;
    if (call.kind === 'signal' && restriction) this.#restrictions.refused(restriction, retryAfter, Date.now());
    call.done(OTError.of(call.kind, error));
  }

  #handleEvent(event) {
    switch (event.name) {
      case 'signal':
        this.#signalled(event);
        break;
      case 'connectionCreated':
        this.#created(this.#remember(event.connection));
        break;
      case 'connectionDestroyed':
        this.#destroyed(event);
        break;
      case 'connectionAway':
      case 'connectionBack':
        this.#absenceChanged(event);
        break;
      case 'history':
        this.dispatchEvent(new HistoryEvent(this, this.#pageOf(event.page)));
        break;
      case 'erased':
        this.dispatchEvent(new MessagesErasedEvent(this, event.erasure));
        break;
      case 'moderated':
        this.dispatchEvent(new ModeratedEvent(this, event.action));
        break;
      case 'restricted':
        this.#restrictions.restrict(event.restriction);
        this.dispatchEvent(new RestrictedEvent(this, event.restriction));
        break;
      case 'unrestricted':
        this.#restrictions.lift(event.kind);
        this.dispatchEvent(new UnrestrictedEvent(this, event.kind));
        break;
      case 'reconnecting':
        this.dispatchEvent(new OTEvent('sessionReconnecting', this));
        break;
      case 'reconnected':
        this.#reconnected(event);
        break;
      case 'disconnected':
        this.#ended(event);
        break;
    }
  }

  /** A program that knows OpenTok looks for an error with code 1004 in `exception`, as for a refused connect. */
  #ended({ reason, error: refusal, restriction }) {
    const emitStreamsEnded = this.#reset(reason);
    const error = refusal ? OTError.of('connect', refusal) : null;
    this.#dispatchDisconnected(reason, emitStreamsEnded, { error, restriction });
  }

  #connected(welcome) {
    this.#setConnection(welcome);
    this.currentState = 'connected';
    const own = this.connection;
    // The collection is complete before any event: programs count its members in their connect handler.
    const present = welcome.connections.map((each) => this.#remember(each));
    const announced = this.#users.enter(present);
    if (this.connection !== own) {
      // A handler of the collection's `add` disconnected.
      this.connections.clear();
      return;
    }
    const event = new SessionConnectEvent(this);
    this.dispatchEvent(event);
    // `off` may have removed the connect handler's listener, as in OpenTok. The handler must not receive a later
    // failure. A promise is resolved nevertheless.
    if (this.connection === own) settle(this.#connectHandler.remove(), undefined, event);
    for (const each of present) {
      // A handler may disconnect while these events are emitted.
      if (this.connection !== own) return;
      this.#announce(each);
      announced(each);
    }
  }

  #setConnection(welcome) {
    const { connection, capabilities, role, epoch, history } = welcome;
    this.epoch = epoch;
    this.maySignal = role !== 'publisheronly';
    this.hasHistory = history === true;
    this.connection = new Connection({ ...connection, capabilities }, this.#shared.handlerFailed);
    this.capabilities = new Capabilities(capabilities);
    localPublishingOf(this).adopt(this.connection);
    this.#noteRestrictions(welcome);
  }

  #noteRestrictions({ restrictions }) {
    this.#restrictions.enter(restrictions, { isModerator: this.capabilities.permittedTo('forceDisconnect') });
  }

  #reconnected({ outcome, missing }) {
    const own = this.connection;
    this.#users.settle(this.connections.map((each) => each));
    // A handler may have disconnected.
    if (this.connection !== own) return;
    if (outcome === 'lost') {
      this.#shared.log.warn('the session reconnected, but may have missed signals and connections');
    }
    this.dispatchEvent(new SessionReconnectEvent(this, outcome, missing));
  }

  #remember(described) {
    const id = described.connectionId;
    const known = id === this.connection?.connectionId ? this.connection : this.connections.get(id);
    const connection = known ?? new Connection(described, this.#shared.handlerFailed);
    this.connections.add(connection);
    return connection;
  }

  #created(connection) {
    this.#users.add(connection, () => this.#announce(connection));
  }

  #tellUser(type, user) {
    // A handler of an earlier event may have disconnected.
    if (this.connection === null || this.#connectEventsSuppressed) return;
    this.dispatchEvent(new UserEvent(type, this, user));
  }

  #announce(connection) {
    // A handler of the collection's `add` may have disconnected.
    if (this.connections.get(connection.connectionId) !== connection) return;
    if (!this.#connectEventsSuppressed) this.dispatchEvent(new ConnectionEvent('connectionCreated', this, connection));
    this.#held.release(connection.connectionId, (signal) => this.#signalled(signal));
  }

  #destroyed({ connectionId, reason }) {
    const connection = this.connections.get(connectionId);
    if (!connection) return;
    noteDestroyed(connection, reason);
    this.connections.remove(connection, reason);
    this.#users.remove(connectionId, () => {
      emitDestroyed(connection);
      if (this.#connectEventsSuppressed) return;
      this.dispatchEvent(new ConnectionEvent('connectionDestroyed', this, connection, reason));
    });
  }

  /** An extension (PRES-4): another connection has had no socket for 10 s, or is back. */
  #absenceChanged({ name, connectionId }) {
    const connection = this.connections.get(connectionId);
    if (connection) this.dispatchEvent(new ConnectionEvent(name, this, connection));
  }

  #signalled(signal) {
    const sender = this.#sender(signal);
    if (sender === undefined) {
      this.#held.add(signal);
      return;
    }
    const { type, seq } = signal;
    const event = new SignalEvent(this, { type, data: decodeData(signal), from: sender, seq });
    this.emit('signal', event);
    if (type) this.emit(`signal:${type}`, event);
  }

  /**
   * Null for the project's own server, undefined for a connection that has not been announced. With connection events
   * suppressed the signal describes its sender (SIG-9), or at least has the sender's id.
   */
  #sender({ from, connection }) {
    if (from === null) return null;
    const known = from === this.connection?.connectionId ? this.connection : this.connections.get(from);
    if (known) return known;
    if (!connection && !this.#connectEventsSuppressed) return undefined;
    return new Connection({ ...connection, connectionId: from }, this.#shared.handlerFailed);
  }

  #pageOf(page) {
    return pageOf(page, (connection) => this.#sender({ from: connection.connectionId, connection }));
  }

  #connectFailed(error) {
    const { code, message } = error;
    const handler = this.#connectHandler.remove();
    this.#reset('networkDisconnected');
    this.#complete(handler, error);
    const members = { name: error.name, code, message, reason: message, error };
    this.dispatchEvent(new OTEvent('sessionConnectFailed', this, members));
    this.#raise(error);
  }

  /** Emits later, so that the program finds everything cleared when it receives the event. */
  async #dispatchDisconnected(reason, emitStreamsEnded, { error = null, restriction } = {}) {
    await null;
    if (error !== null) this.#raise(error);
    this.dispatchEvent(new SessionDisconnectEvent(this, reason, error, restriction));
    emitStreamsEnded();
  }

  /**
   * Without `connectionDestroyed` for the others, as in OpenTok. Returns a function that emits the events of the
   * session's own streams.
   */
  #reset(reason) {
    this.#held.dropAll();
    this.connections.forEach((connection) => noteDestroyed(connection, reason));
    this.connection = null;
    this.connections.clear();
    this.#users.clear();
    this.#restrictions.enter();
    this.capabilities = new Capabilities();
    this.epoch = null;
    this.hasHistory = false;
    this.maySignal = true;
    this.currentState = 'disconnected';
    return localPublishingOf(this).endAll(reason);
  }

  #complete(handler, error, ...details) {
    complete(this.#shared.log, handler, error, ...details);
  }

  #raise(error) {
    this.#shared.raise(new ExceptionEvent(this, error, titleOfCode(error.code)));
  }

  #missingArgument() {
    if (!isText(this.apiKey)) return new OTError(Code.authenticationError, 'An API key is required.');
    if (!isText(this.sessionId)) return new OTError(Code.invalidSession, 'A session id is required.');
    if (!isText(this.token)) return new OTError(Code.authenticationError, 'A token is required.');
    return null;
  }

  #address() {
    const { environment, server, log } = this.#shared;
    const address = signalingAddress(this.#server ?? server(), environment.pageProtocol);
    if (address === null) log.error('no server is known: call OT.setServer, or pass {server} to OT.initSession');
    return address;
  }
}

function isGiven(value) {
  return value !== undefined && value !== null;
}

function isText(value) {
  return typeof value === 'string' && value !== '';
}
