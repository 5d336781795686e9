import { Collection } from './collection.js';
import { Capabilities, Connection } from './connection.js';
import { makeEmitter } from './emitter.js';
import { ExceptionCodes, titleOfCode } from './error-tables.js';
import { OTError } from './errors.js';
import {
  ConnectionEvent, ExceptionEvent, OTEvent, SessionConnectEvent, SessionDisconnectEvent, SignalEvent, StreamEvent,
} from './events.js';
import { helpers } from './helpers.js';
import { Level, Log } from './log.js';
import { mediaCallsOfOT } from '../media/media-calls.js';
import { Subscriber } from '../media/media-objects.js';
import { Publisher } from '../media/publisher.js';
import { newStreamId, Stream } from '../media/stream.js';
import { PublishOption } from './publish-option.js';
import { Session } from './session.js';
import { Signal } from './signal/signal.js';
import { whenParsed } from './when-parsed.js';

/** The version of OpenTok's script whose behaviour this library has. */
const VERSION = 'v2.35.1';

/**
 * Creates an `OT`. `environment` is what it needs of a browser: `WebSocket`, `now()`, `random()`, `setTimeout`,
 * `clearTimeout`, `watch(report)`, `console`, `pageProtocol`, and if there is a page, `document`, `mediaDevices`,
 * `scriptApiKey`, `scriptPublish` and `restoreGlobals()`. `server` is the default server; null when that is not known.
 */
export function createOT(environment, server) {
  const log = new Log(environment.console);
  const handlerFailed = (failure, name) => log.error(`a handler for "${name}" failed:`, failure);
  const shared = {
    log,
    handlerFailed,
    environment,
    publishers: new Collection(handlerFailed, (publisher) => publisher.guid()),
    publishOption: new PublishOption(log, environment.scriptPublish),
    server: () => currentServer,
    raise(event) {
      OT.dispatchEvent(event);
    },
    forget(session) {
      if (OT.sessions.get(session.id) === session) OT.sessions.remove(session);
    },
  };
  let currentServer = server;

  const OT = makeEmitter({
    version: VERSION,
    /** The key in the address of the script (`?apikey=…`), for pages that pass none; usually empty. */
    APIKEY: environment.scriptApiKey ?? '',
    ExceptionCodes,
    $: helpers(log, handlerFailed, () => newStreamId(environment.random)),
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
    sessions: new Collection(handlerFailed),
    publishers: shared.publishers,
    /** Always empty: the server has no streams. */
    subscribers: new Collection(handlerFailed),
    ...mediaCallsOfOT(shared),

    /** The same session id gives the same Session: two clients of one session need two pages. */
    initSession(apiKey, sessionId, options) {
      // `initSession(sessionId)` is the older form; the key then comes with `connect`.
      const isOlderForm = sessionId === undefined || sessionId === null;
      const given = isOlderForm ? apiKey : sessionId;
      // Some servers return a list with one id, and OpenTok accepts it.
      const id = Array.isArray(given) && given.length === 1 ? given[0] : given;
      // Pages write keys as numbers, too.
      const key = isOlderForm || apiKey === undefined || apiKey === null ? OT.APIKEY || undefined : String(apiKey);
      const known = OT.sessions.get(id);
      if (known) return known;
      const session = new Session(shared, key, id, options ?? {});
      OT.sessions.add(session);
      return session;
    },

    /**
     * The server for later connects: `https://host`, `wss://host/prefix`, `host:port`. The option `publish` is what
     * `session.publish` does; without it, that stays as it is.
     */
    setServer(address, options) {
      currentServer = address;
      shared.publishOption.set(options?.publish);
    },

    /** Gives the globals `OT` and `TB` back to the script that had them before, and returns this library. */
    noConflict() {
      environment.restoreGlobals?.();
      return OT;
    },

    /** Calls the function as soon as the page is parsed; at once if it is. */
    onLoad(act, context) {
      whenParsed(environment.document, () => act.call(context));
    },

    setLogLevel: (level) => log.setLevel(level),
    log: (...words) => log.log(...words),
    debug: (...words) => log.debug(...words),
    info: (...words) => log.info(...words),
    warn: (...words) => log.warn(...words),
    error: (...words) => log.error(...words),

    getErrorTitleByCode: titleOfCode,
    checkSystemRequirements: () => (environment.WebSocket ? OT.HAS_REQUIREMENTS : OT.NOT_HAS_REQUIREMENTS),
  }, handlerFailed);
  return OT;
}
