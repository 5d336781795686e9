// The event objects that applications receive. They are mutable on purpose: OpenTok passes the same object to `signal`
// and `signal:<type>`, and programs add properties to it.

export class OTEvent {
  #isDefaultPrevented = false;

  constructor(type, target, details = {}, cancelable = false) {
    this.type = type;
    this.target = target;
    this.cancelable = cancelable;
    Object.assign(this, details);
  }

  /** Of its own, for Vue, as that of an `Emitter`. */
  get [Symbol.toStringTag]() {
    return 'Event';
  }

  preventDefault() {
    if (this.cancelable) this.#isDefaultPrevented = true;
  }

  isDefaultPrevented() {
    return this.#isDefaultPrevented;
  }
}

/**
 * `type` is `signal:<type>` in handlers of `signal`, too: programs compare it. `seq` is an extension: the index of the
 * signal in the session's order (G1); null for an online-only signal, which has none.
 */
export class SignalEvent extends OTEvent {
  constructor(target, { type, data, from, seq = null }) {
    super(type ? `signal:${type}` : 'signal', target, { data, from, seq });
  }
}

/** Of this page's own streams: the publisher emits it. Of those of other clients: the session. */
export class StreamEvent extends OTEvent {}

export class SessionConnectEvent extends OTEvent {
  constructor(target) {
    super('sessionConnected', target, { connections: [], streams: [], archives: [] });
  }
}

/**
 * `error` is an extension: why the server does not let this client come back, such as 1004; else null. So is
 * `restriction`: the ban that has ended the connection, or keeps it from coming back (MOD-3); else null.
 */
export class SessionDisconnectEvent extends OTEvent {
  constructor(target, reason, error = null, restriction = error?.restriction ?? null) {
    super('sessionDisconnected', target, { reason, error, restriction }, true);
  }
}

/**
 * `outcome` is an extension: `resumed` is the same connection, and the missed events follow; `recovered` is another
 * connection, which receives the missed broadcasts; `lost` is another connection, and events may be missing. With
 * `lost`, `missing` is the range `{first, last}` of the events that the server's log no longer has, if it knows them
 * (RES-16); else it is null. The broadcasts after `missing.last` follow.
 */
export class SessionReconnectEvent extends OTEvent {
  constructor(target, outcome, missing = null) {
    super('sessionReconnected', target, { outcome, missing });
  }
}

/** An extension (HIS-5): the page of the history that the option `history` asked for. */
export class HistoryEvent extends OTEvent {
  constructor(target, page) {
    super('history', target, { page });
  }
}

/**
 * An extension (HIS-9). `erasure` is `{ref}`, the seq of one message, `{through}`, that of the last of several, or
 * `{user, before}`: the messages of a user before this seq.
 */
export class MessagesErasedEvent extends OTEvent {
  constructor(target, erasure) {
    super('messagesErased', target, erasure);
  }
}

/** An extension (CHG-2): the message `ref` has other data, if `rel` is `edit`; `seq` is that of the change. */
export class MessageChangedEvent extends OTEvent {
  constructor(target, change) {
    super('messageChanged', target, change);
  }
}

/**
 * An extension (CHG-12): the message `ref` has these reactions now, each `{key, count}`; `seq` is that of the event. Of
 * two events of a message the later one counts.
 */
export class ReactionsChangedEvent extends OTEvent {
  constructor(target, { seq, ref, reactions }) {
    super('reactionsChanged', target, { seq, ref, reactions });
  }
}

/** An extension (CHG-13): on the message `ref` this user has exactly these keys now, by a connection of theirs. */
export class OwnReactionsChangedEvent extends OTEvent {
  constructor(target, { seq, ref, keys }) {
    super('ownReactionsChanged', target, { seq, ref, keys });
  }
}

/** An extension (READ-3): a user, perhaps that of this client, has read all messages up to the seq `through`. */
export class MessagesReadEvent extends OTEvent {
  constructor(target, { user, through }) {
    super('messagesRead', target, { user, through });
  }
}

/** An extension (USR-3): `userJoined` or `userLeft`, with the user's id. */
export class UserEvent extends OTEvent {
  constructor(type, target, user) {
    super(type, target, { user });
  }
}

/** An extension, for moderators: an action of a moderator or of the project's server, as the line has it (MOD-6). */
export class ModeratedEvent extends OTEvent {
  constructor(target, action) {
    super('moderated', target, action);
  }
}

/** An extension (MOD-5): what this client may not do from now on, `{kind, until?, reason?}`. */
export class RestrictedEvent extends OTEvent {
  constructor(target, restriction) {
    super('restricted', target, { restriction });
  }
}

/** An extension (MOD-5): a restriction of this kind is lifted. */
export class UnrestrictedEvent extends OTEvent {
  constructor(target, kind) {
    super('unrestricted', target, { kind });
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
