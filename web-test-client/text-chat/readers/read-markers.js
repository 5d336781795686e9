/** A marker is sent at most so often, in milliseconds. */
const SENDING_INTERVAL = 1000;

/**
 * The read markers of a session, as its server tells them, and what this chat tells of its own user (READ-1). Pure: it
 * knows neither a channel nor the rows.
 */
export class ReadMarkers {
  /** Null: the session has none. `shared`: also those of others are told. */
  #mode = null;
  /** One's own user; null: a guest, who has no marker. */
  #user = null;
  /** One's own marker as the server has it; null: none. */
  #told = null;
  /** Up to where the user has read here; null: nothing was marked. */
  #wanted = null;
  /** `{count, through}`: how many messages were unread above the marker of the connect. */
  #unread = { count: 0, through: null };
  /** User → seq, of other users. */
  #readers = new Map();
  /** `{through}`, which is on its way; null: none is. */
  #sending = null;
  #sentAt = -Infinity;
  /** The server has refused to move the marker so far. */
  #refused = null;

  /** Rises when markers of others may have moved. */
  revision = 0;

  /** Whether the user has a marker. */
  get isOn() {
    return this.#mode !== null && this.#user !== null;
  }

  /** Up to this seq the user has read, here or elsewhere; null: not known. */
  get marker() {
    if (!this.isOn || (this.#told === null && this.#wanted === null)) return null;
    return Math.max(this.#told ?? 0, this.#wanted ?? 0);
  }

  // What the server tells

  /** A connection has begun, or begun again: `state` is the channel's `readState`. */
  enter(state, user) {
    this.#mode = state?.markers ?? null;
    this.#user = user;
    this.#told = state?.through ?? null;
    this.#unread = { count: state?.unread ?? 0, through: this.#told };
    this.#readers = new Map((state?.readers ?? []).map((each) => [each.user, each.through]));
    this.#sending = null;
    this.#sentAt = -Infinity;
    this.#refused = null;
    this.revision += 1;
  }

  /** Another order begins: its seqs are others'. */
  forget() {
    this.#wanted = null;
  }

  /** A user has read up to this seq. */
  moved({ user, through }) {
    this.revision += 1;
    if (user === this.#user) this.#told = Math.max(this.#told ?? 0, through);
    else if (this.#mode !== null) this.#readers.set(user, Math.max(this.#readers.get(user) ?? 0, through));
  }

  /** The messages of a user were erased, and the user's marker with them. */
  erased(user) {
    this.revision += 1;
    this.#readers.delete(user);
    if (user === this.#user) this.#told = this.#wanted = null;
  }

  // What the chat tells

  /** The user has read up to this seq. */
  read(seq) {
    this.#wanted = Math.max(this.#wanted ?? 0, seq);
  }

  /** The marker to send now, `{through}`; null: none. `settle` has to follow. */
  next(now) {
    if (!this.#isDue || now < this.#sentAt + SENDING_INTERVAL) return null;
    this.#sentAt = now;
    this.#sending = { through: this.#wanted };
    return this.#sending;
  }

  /** When `next` has something; null: not before something else happens. */
  get deadline() {
    return this.#isDue ? this.#sentAt + SENDING_INTERVAL : null;
  }

  get #isDue() {
    const known = Math.max(this.#told ?? -1, this.#refused ?? -1);
    return this.isOn && this.#sending === null && this.#wanted !== null && this.#wanted > known;
  }

  /** The server has the marker, or has refused it. That of a former connection counts no more. */
  settle(sent, isAccepted) {
    if (sent !== this.#sending) return;
    this.#sending = null;
    if (isAccepted) this.#told = Math.max(this.#told ?? 0, sent.through);
    else this.#refused = sent.through;
  }

  // What the chat shows

  /** How many messages are unread at least, if those that are loaded do not reach back to the marker. */
  unreadAtLeast({ floor, hasBeginning }) {
    const { count, through } = this.#unread;
    const isWhole = through === null || hasBeginning || (floor !== null && floor <= through + 1);
    return this.isOn && !isWhole && this.marker === through ? count : 0;
  }

  /** The greatest marker of another user; null: none is known. */
  get greatest() {
    return this.#readers.size === 0 ? null : Math.max(...this.#readers.values());
  }

  /** The other users who have read this seq: those who have read most first, then by user. */
  readersOf(seq) {
    const readers = [...this.#readers].filter(([, through]) => through >= seq);
    readers.sort(([user, through], [other, its]) => its - through || (user < other ? -1 : 1));
    return readers.map(([user]) => user);
  }
}
