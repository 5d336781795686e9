import { Collection } from './collection.js';
import { Capabilities, Connection } from './connection.js';
import { Emitter } from './emitter.js';
import { OTError, titleOfCode } from './errors.js';
import {
  ConnectionEvent, ExceptionEvent, OTEvent, SessionConnectEvent, SessionDisconnectEvent, SignalEvent, StreamEvent,
} from './events.js';
import { Level, Log } from './log.js';
import { mediaCallsOfOT } from '../media/media-calls.js';
import { Publisher, Stream, Subscriber } from '../media/media-objects.js';
import { Session } from './session.js';
import { Signal } from './signal.js';

/** The version of OpenTok's API. */
const VERSION = 'v2.0.0';

const LISTENING = ['on', 'once', 'off', 'addEventListener', 'removeEventListener', 'emit', 'trigger', 'dispatchEvent'];

/**
 * Creates an `OT`. `environment` is what it needs of a browser: `WebSocket`, `now()`, `random()`, `setTimeout`,
 * `clearTimeout`, `watch(report)`, `console`, `pageProtocol`. `server` is the default server; null when that is not
 * known.
 */
export function createOT(environment, server) {
  const log = new Log(environment.console);
  const handlerFailed = (failure, name) => log.error(`a handler for "${name}" failed:`, failure);
  const events = new Emitter(handlerFailed);
  const shared = {
    log,
    handlerFailed,
    environment,
    publishers: new Collection(),
    server: () => currentServer,
    raise(event) {
      events.dispatchEvent(event);
    },
    forget(session) {
      if (OT.sessions.get(session.id) === session) OT.sessions.remove(session);
    },
  };
  let currentServer = server;

  const OT = {
    version: VERSION,
    HAS_REQUIREMENTS: 1,
    NOT_HAS_REQUIREMENTS: 0,
    ...Level,
    Capabilities,
    Connection,
    ConnectionEvent,
    Error: OTError,
    Event: OTEvent,
    ExceptionEvent,
    Publisher,
    Session,
    SessionConnectEvent,
    SessionDisconnectEvent,
    Signal,
    SignalEvent,
    Stream,
    StreamEvent,
    Subscriber,
    properties: { version: VERSION },
    sessions: new Collection(),
    publishers: shared.publishers,
    /** Always empty: the server has no streams. */
    subscribers: new Collection(),
    ...mediaCallsOfOT(shared),

    /** The same session id gives the same Session: two clients of one session need two pages. */
    initSession(apiKey, sessionId, options) {
      // `initSession(sessionId)` is the older form; the key then comes with `connect`.
      const isOlderForm = sessionId === undefined || sessionId === null;
      const given = isOlderForm ? apiKey : sessionId;
      // Some servers return a list with one id, and OpenTok accepts it.
      const id = Array.isArray(given) && given.length === 1 ? given[0] : given;
      // Pages write keys as numbers, too.
      const key = isOlderForm || apiKey === undefined || apiKey === null ? undefined : String(apiKey);
      const known = OT.sessions.get(id);
      if (known) return known;
      const session = new Session(shared, key, id, options ?? {});
      OT.sessions.add(session);
      return session;
    },

    /** The server for later connects: `https://host`, `wss://host/prefix`, `host:port`. */
    setServer(address) {
      currentServer = address;
    },

    setLogLevel: (level) => log.setLevel(level),
    log: (...words) => log.log(...words),
    debug: (...words) => log.debug(...words),
    info: (...words) => log.info(...words),
    warn: (...words) => log.warn(...words),
    error: (...words) => log.error(...words),

    getErrorTitleByCode: titleOfCode,
    checkSystemRequirements: () => (environment.WebSocket ? OT.HAS_REQUIREMENTS : OT.NOT_HAS_REQUIREMENTS),
  };

  for (const name of LISTENING) {
    OT[name] = (...args) => {
      events[name](...args);
      return OT;
    };
  }
  return OT;
}
