// The event objects that applications receive. They are ordinary and mutable on purpose: OpenTok hands one and the
// same object to `signal` and `signal:<type>`, and programs leave notes on it.

export class OTEvent {
  #isDefaultPrevented = false;

  constructor(type, target, details = {}, cancelable = false) {
    this.type = type;
    this.target = target;
    this.cancelable = cancelable;
    Object.assign(this, details);
  }

  preventDefault() {
    if (this.cancelable) this.#isDefaultPrevented = true;
  }

  isDefaultPrevented() {
    return this.#isDefaultPrevented;
  }
}

/** `type` is `signal:<type>` in the generic `signal` handlers, too: programs compare it so. */
export class SignalEvent extends OTEvent {
  constructor(target, { type, data, from }) {
    super(type ? `signal:${type}` : 'signal', target, { data, from });
  }
}

/** Nobody makes one here; for programs that ask `instanceof`. */
export class StreamEvent extends OTEvent {}

export class SessionConnectEvent extends OTEvent {
  constructor(target) {
    super('sessionConnected', target, { connections: [], streams: [], archives: [] });
  }
}

export class SessionDisconnectEvent extends OTEvent {
  constructor(target, reason) {
    super('sessionDisconnected', target, { reason }, true);
  }
}

/**
 * `outcome` is ours: `resumed`, the same connection, with nothing missed; `recovered`, another connection, which has the
 * broadcasts that were missed; `lost`, another connection, which may have missed something.
 */
export class SessionReconnectEvent extends OTEvent {
  constructor(target, outcome) {
    super('sessionReconnected', target, { outcome });
  }
}

export class ConnectionEvent extends OTEvent {
  constructor(type, target, connection, reason) {
    super(type, target, { connection, connections: [connection], reason });
  }
}

export class ExceptionEvent extends OTEvent {
  constructor(target, error, title) {
    super('exception', target, { code: error.code, title, message: error.message, error });
  }
}
