import { Emitter } from './emitter.js';
import { OTEvent } from './events.js';

/** Kept outside the `Connection` objects, because only the session may write them. */
const destroyedReasons = new WeakMap();

/** For the session, when a connection ended. */
export function noteDestroyed(connection, reason) {
  destroyedReasons.set(connection, reason);
}

/** For the session, before it emits `connectionDestroyed`: programs also listen on the connection itself. */
export function emitDestroyed(connection) {
  connection.dispatchEvent(new OTEvent('destroyed', connection, { reason: connection.destroyedReason() }));
}

/**
 * One client of a session. Only the session creates connections, and `to` of a signal accepts nothing else.
 *
 * The server sends a client only its own capabilities, so `capabilities` and `permissions` of others are zeros.
 * `user` is an extension: the id of the user that the token names (USR-1), or null for a guest.
 */
export class Connection extends Emitter {
  constructor({ connectionId, creationTime = null, data = '', user = null, capabilities = {} }, handlerFailed) {
    super(handlerFailed);
    this.connectionId = connectionId;
    this.id = connectionId;
    this.creationTime = creationTime;
    this.data = data;
    this.user = user;
    this.capabilities = new Capabilities(capabilities);
    this.permissions = new Capabilities(capabilities);
    /** OpenTok's media servers rate a connection here; always null. */
    this.quality = null;
  }

  /** Whether the connection ended, or the own session did. A function, as in OpenTok's script. */
  destroyed() {
    return destroyedReasons.has(this);
  }

  /** Why the connection ended; undefined while it has not. A function, too. */
  destroyedReason() {
    return destroyedReasons.get(this);
  }
}

const NAMES = [
  'publish', 'subscribe', 'forceDisconnect', 'forceUnpublish', 'forceMute', 'supportsWebRTC', 'supportsE2ee',
];

/** The permissions of the role, each 1 or 0; all 0 while not connected. As in OpenTok, `signal` is not among them. */
export class Capabilities {
  constructor(granted = {}) {
    for (const name of NAMES) this[name] = granted[name] === 1 ? 1 : 0;
  }

  permittedTo(name) {
    return Object.hasOwn(this, name) && this[name] === 1;
  }
}
