import { Code } from '../../client/wire/codes.js';
import { Driver } from '../../client/driver.js';
import { addressOfSession, signalingAddress } from '../../client/server-address.js';
import { announces, localPublishingOf, remoteStreamsOf } from '../media/media-calls.js';
import { OwnRestrictions } from '../../client/own-restrictions.js';
import { ServerClock } from '../../client/server-clock.js';
import { Collection } from './collection.js';
import { complete, completeLater } from './completion.js';
import { Capabilities, Connection } from './connection.js';
import { titleOfCode } from './error-tables.js';
import { OTError } from './errors.js';
import {
  ExceptionEvent, HistoryEvent, MessageChangedEvent, MessagesErasedEvent, MessagesReadEvent, ModeratedEvent, OTEvent,
  OwnReactionsChangedEvent, ReactionsChangedEvent, RestrictedEvent, SessionConnectEvent, SessionDisconnectEvent,
  SessionReconnectEvent, UnrestrictedEvent,
} from './events.js';
import { addPromiseForm, promised, settle } from './promises.js';
import { ConnectHandler } from './session/connect-handler.js';
import { ExtensionCalls } from './session/extension-calls.js';
import { historyOption } from './session/history.js';
import { readStateAfter, readStateWithout } from './session/read-state.js';
import { SessionMembers } from './session/session-members.js';
import { SessionRequests } from './session/session-requests.js';

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
  #members;
  #requests;
  #restrictions = new OwnRestrictions();
  #clock = new ServerClock();

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
    this.#members = new SessionMembers(this, {
      isSuppressed: this.#connectEventsSuppressed, handlerFailed: shared.handlerFailed, log: shared.log,
    });
    this.#driver = new Driver(
      shared.environment,
      () => this.#address(),
      (effect) => this.#perform(effect),
      (error) => shared.log.error('the library failed to carry out a step:', error),
    );
    this.#requests = new SessionRequests(this, { log: shared.log, request: (input) => this.#driver.handle(input) });
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
    /** An extension: what the session permits to do with messages that it has (CHG-3); null: nothing can be changed. */
    this.changes = null;
    /** An extension: who has read up to where (READ-3), `{markers, through?, unread?, readers?}`; null: no markers. */
    this.readState = null;
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
    return this.#members.users;
  }

  /** An extension: what keeps this client from signalling now, each `{kind, until?, reason?}` (MOD-5). */
  get restrictedBy() {
    return this.#restrictions.holding(this.serverTime);
  }

  /** An extension: the time of the server's clock, in ms since 1970; before the first connect that of this computer. */
  get serverTime() {
    return this.#clock.at(Date.now());
  }

  /** `connect(token, handler?)`, and the older `connect(apiKey, token, handler?)`. */
  connect(...args) {
    const isOlderForm = typeof args[1] === 'string';
    const token = isOlderForm ? args[1] : args[0];
    if (this.currentState !== 'disconnected') {
      const message = `connect does nothing: the session is ${this.currentState}`;
      this.#shared.log.warn(message);
      // A program that connects in two of its parts goes on in both.
      if (this.isConnected()) completeLater(this.#shared.log, args.at(-1));
      else settle(args.at(-1), new OTError(Code.illegalState, message));
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
        ...(announces(this) ? { streamEvents: true } : {}),
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
    this.#requests.signal(options, done);
  }

  forceDisconnect(connectionOrId, handler) {
    return promised(this.#shared.log, handler, (done) => {
      this.#requests.forceDisconnect(connectionOrId, (error) => {
        done(error);
        if (error) this.#raise(error);
      });
    });
  }

  /**
   * An extension: shows the server a newer token for the same session, role and connection data (CON-12). `handler`
   * gets an error if the server refuses it; the session then continues with the old token.
   */
  refreshToken(token, handler) {
    return promised(this.#shared.log, handler, (done) => {
      this.#requests.refreshToken(token, (error) => {
        if (!error) this.token = token;
        done(error);
      });
    });
  }

  #ask(kind, message, advice, handler = undefined) {
    const read = (result) => (kind === 'history' ? this.#members.pageOf(result) : result);
    return this.#requests.ask(kind, message, { advice, handler, read });
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
        this.#noteClock(effect.error);
        this.#connectFailed(OTError.of('connect', effect.error));
        break;
      case 'connectionReplaced':
        this.#setConnection(effect.welcome);
        this.#members.replace();
        break;
      case 'connectionResumed':
        // The server may have been started again with other settings.
        this.#setHistory(effect.welcome);
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
    this.#noteClock(error);
    if (error.code === Code.permissionDenied && restriction) this.#restrictions.refused(restriction, retryAfter, this.serverTime);
    call.done(OTError.of(call.kind, error));
  }

  #noteClock({ restriction, retryAfter }) {
    if (restriction) this.#clock.refused(restriction, retryAfter, Date.now());
  }

  #handleEvent(event) {
    switch (event.name) {
      case 'signal':
        this.#members.signalled(event);
        break;
      case 'connectionCreated':
        this.#members.created(event.connection);
        break;
      case 'connectionDestroyed':
        remoteStreamsOf(this).end(event.connectionId, event.reason);
        this.#members.destroyed(event);
        break;
      case 'connectionAway':
      case 'connectionBack':
        this.#members.absenceChanged(event);
        break;
      case 'streams':
        remoteStreamsOf(this).set(event);
        break;
      case 'streamList':
        remoteStreamsOf(this).enter(event.streams);
        break;
      case 'history':
        this.dispatchEvent(new HistoryEvent(this, this.#members.pageOf(event.page)));
        break;
      case 'changed':
        this.dispatchEvent(new MessageChangedEvent(this, this.#members.changeOf(event)));
        break;
      case 'reactions':
        this.dispatchEvent(new ReactionsChangedEvent(this, event));
        break;
      case 'reacted':
        this.dispatchEvent(new OwnReactionsChangedEvent(this, event));
        break;
      case 'read':
        this.readState = readStateAfter(this.readState, event, this.connection?.user);
        this.dispatchEvent(new MessagesReadEvent(this, event));
        break;
      case 'erased':
        this.readState = readStateWithout(this.readState, event.erasure.user);
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
    if (refusal) this.#noteClock(refusal);
    const emitStreamsEnded = this.#reset(reason);
    const error = refusal ? OTError.of('connect', refusal) : null;
    this.#dispatchDisconnected(reason, emitStreamsEnded, { error, restriction });
  }

  #connected(welcome) {
    this.#setConnection(welcome);
    this.currentState = 'connected';
    const own = this.connection;
    const announce = this.#members.enter(welcome.connections);
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
    announce();
    if (this.connection === own) remoteStreamsOf(this).enter(welcome.streams);
  }

  #setConnection(welcome) {
    this.#clock.connected(welcome, Date.now());
    const { connection, capabilities, role, epoch } = welcome;
    this.epoch = epoch;
    this.maySignal = role !== 'publisheronly';
    this.#setHistory(welcome);
    this.connection = new Connection({ ...connection, capabilities }, this.#shared.handlerFailed);
    this.capabilities = new Capabilities(capabilities);
    localPublishingOf(this).adopt(this.connection);
    this.#noteRestrictions(welcome);
  }

  #setHistory({ history, changes = null, read = null }) {
    this.hasHistory = history === true;
    this.changes = changes;
    this.readState = read;
  }

  #noteRestrictions({ restrictions }) {
    this.#restrictions.enter(restrictions, { isModerator: this.capabilities.permittedTo('forceDisconnect') });
  }

  #reconnected({ outcome, missing }) {
    const own = this.connection;
    this.#members.settle();
    // A handler may have disconnected.
    if (this.connection !== own) return;
    if (outcome === 'lost') {
      this.#shared.log.warn('the session reconnected, but may have missed signals and connections');
    }
    this.dispatchEvent(new SessionReconnectEvent(this, outcome, missing));
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
   * session's own streams, and removes its subscribers.
   */
  #reset(reason) {
    this.#members.clear(reason);
    this.#restrictions.enter();
    this.capabilities = new Capabilities();
    this.epoch = null;
    this.#setHistory({});
    this.maySignal = true;
    this.currentState = 'disconnected';
    const ends = [localPublishingOf(this).endAll(reason), remoteStreamsOf(this).endAll(reason)];
    return () => ends.forEach((end) => end());
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
    return addressOfSession(address, this.sessionId);
  }
}

function isGiven(value) {
  return value !== undefined && value !== null;
}

function isText(value) {
  return typeof value === 'string' && value !== '';
}
