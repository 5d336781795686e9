import { Collection } from './collection.js';
import { Connection } from './connection.js';
import { Emitter } from './emitter.js';
import { OTError, titleOfCode } from './errors.js';
import { OTEvent, SignalEvent } from './events.js';
import { Level, Log } from './log.js';
import { Session } from './session.js';

/** The version of OpenTok's interface that this library speaks is v2. */
const VERSION = 'v2.0.0';

/**
 * One `OT`. `environment` is what it needs of a browser: `WebSocket`, `now()`, `setTimeout`, `clearTimeout`,
 * `console`, `pageProtocol`. `server` is where it connects unless told otherwise; null when that is not known.
 */
export function createOT(environment, server) {
  const log = new Log(environment.console);
  const events = new Emitter((failure, name) => log.error(`a handler for "${name}" failed:`, failure));
  let currentServer = server;

  const OT = {
    version: VERSION,
    HAS_REQUIREMENTS: 1,
    NOT_HAS_REQUIREMENTS: 0,
    ...Level,
    Connection,
    Error: OTError,
    Event: OTEvent,
    Session,
    SignalEvent,
    sessions: new Collection(),

    /** Twice the same session id gives the same Session: two clients of one session need two pages. */
    initSession(apiKey, sessionId, options) {
      // `initSession(sessionId)` is the older form; the key then comes with `connect`.
      const isOlderForm = sessionId === undefined || sessionId === null;
      const id = isOlderForm ? apiKey : sessionId;
      // Keys look like numbers, and pages write them as such.
      const key = isOlderForm || apiKey === undefined || apiKey === null ? undefined : String(apiKey);
      const known = OT.sessions.get(id);
      if (known) return known;
      const session = new Session(house, key, id, options ?? {});
      OT.sessions.add(session);
      return session;
    },

    /** Which server to use from now on: `https://host`, `wss://host/prefix`, `host:port`. */
    setServer(address) {
      currentServer = address;
    },

    on(...args) {
      events.on(...args);
      return OT;
    },
    once(...args) {
      events.once(...args);
      return OT;
    },
    off(...args) {
      events.off(...args);
      return OT;
    },

    setLogLevel: (level) => log.setLevel(level),
    log: (...words) => log.log(...words),
    debug: (...words) => log.debug(...words),
    info: (...words) => log.info(...words),
    warn: (...words) => log.warn(...words),
    error: (...words) => log.error(...words),

    getErrorTitleByCode: titleOfCode,
    checkSystemRequirements: () => (environment.WebSocket ? OT.HAS_REQUIREMENTS : OT.NOT_HAS_REQUIREMENTS),
    upgradeSystemRequirements() {},
  };

  const house = {
    log,
    environment,
    server: () => currentServer,
    raise(event) {
      events.dispatchEvent(event);
    },
  };
  return OT;
}
