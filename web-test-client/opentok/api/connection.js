import { Emitter } from './emitter.js';

/** Beside the connections, since only the session may write here. */
const destroyedReasons = new WeakMap();

/** For the session, before it tells that this one is gone. */
export function noteDestroyed(connection, reason) {
  destroyedReasons.set(connection, reason);
}

/**
 * One client in one session, as everybody sees it. Only the session makes these: `to` accepts nothing else.
 *
 * What a connection may do is told to nobody but itself, so `capabilities` and `permissions` are zeros for all others.
 */
export class Connection extends Emitter {
  constructor({ connectionId, creationTime = null, data = '', capabilities = {} }, handlerFailed) {
    super(handlerFailed);
    this.connectionId = connectionId;
    this.id = connectionId;
    this.creationTime = creationTime;
    this.data = data;
    this.capabilities = new Capabilities(capabilities);
    this.permissions = new Capabilities(capabilities);
    /** OpenTok's media servers rate a connection here; nobody does without media. */
    this.quality = null;
  }

  /** Why it ended, for others than oneself; undefined while it has not. A function, as in OpenTok's script. */
  destroyedReason() {
    return destroyedReasons.get(this);
  }
}

const NAMES = ['publish', 'subscribe', 'forceDisconnect', 'forceUnpublish', 'forceMute', 'supportsWebRTC', 'supportsE2ee'];

/** What the role permits, 1 or 0 each; all zero while not connected. There is no `signal` among them, as in OpenTok. */
export class Capabilities {
  constructor(granted = {}) {
    for (const name of NAMES) this[name] = granted[name] === 1 ? 1 : 0;
  }

  permittedTo(name) {
    return Object.hasOwn(this, name) && this[name] === 1;
  }
}
