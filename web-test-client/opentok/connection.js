import { Emitter } from './emitter.js';

/** One client in one session, as everybody sees it. Only the session makes these: `to` accepts nothing else. */
export class Connection extends Emitter {
  constructor({ connectionId, creationTime = null, data = '' }) {
    super();
    this.connectionId = connectionId;
    this.id = connectionId;
    this.creationTime = creationTime;
    this.data = data;
    this.destroyedReason = undefined;
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
