import { rowsOf } from './grouping.js';

/** Messages kept; older ones go first. A page that stays open for weeks must not grow without bound. */
export const TIMELINE_LENGTH = 2000;

/**
 * The messages of one chat, in the order in which the session had them. Those that the session has not confirmed yet
 * wait at the end. Pure: it knows neither a clock nor a session.
 *
 * A message is `{key, kind, state, text, senderId, alias, sentAt, localId}`; `key` never changes, so a view can hold on
 * to its row. `state` is `pending`, `sent` or `failed` for own ones, `received` for others'.
 */
export class Timeline {
  #messages = [];
  #lastKey = 0;

  get messages() {
    return this.#messages;
  }

  get rows() {
    return rowsOf(this.#messages);
  }

  /** An own message, shown at once. */
  send(message) {
    const entry = this.#entry(message, 'sent', 'pending');
    this.#messages.push(entry);
    this.#trim();
    return entry;
  }

  /** The session has this own message: it takes its place behind all that the session had before it. */
  confirm(localId) {
    const entry = this.#own(localId);
    if (!entry || entry.state === 'sent') return null;
    // A failed one that turns out to have arrived keeps the place where it is shown.
    if (entry.state === 'pending') this.#move(entry);
    entry.state = 'sent';
    return entry;
  }

  /** It will not arrive, unless it is tried again. */
  fail(localId) {
    const entry = this.#own(localId);
    if (!entry || entry.state !== 'pending') return null;
    entry.state = 'failed';
    return entry;
  }

  retry(localId) {
    const entry = this.#own(localId);
    if (!entry || entry.state !== 'failed') return null;
    entry.state = 'pending';
    return entry;
  }

  /**
   * A message that came by signal. One's own (`isOwn`) completes what is shown already; a repeated one is not shown
   * twice. Texts are never compared: saying the same thing twice is a thing to say. Returns the new entry, or null.
   */
  receive(message, isOwn) {
    if (message.localId !== null) {
      if (isOwn && this.#own(message.localId)) {
        this.confirm(message.localId);
        return null;
      }
      const isRepeated = this.#messages.some(
        (known) => known.localId === message.localId && known.senderId === message.senderId,
      );
      if (isRepeated) return null;
    }
    // An own message that is not shown here was sent some other way, with the signal panel for instance.
    const entry = this.#entry(message, isOwn ? 'sent' : 'received', isOwn ? 'sent' : 'received');
    this.#messages.splice(this.#firstPending(), 0, entry);
    this.#trim();
    return entry;
  }

  #entry({ text, senderId, alias, sentAt, localId }, kind, state) {
    this.#lastKey += 1;
    return { key: this.#lastKey, kind, state, text, senderId, alias, sentAt, localId };
  }

  #own(localId) {
    return this.#messages.find((message) => message.kind === 'sent' && message.localId === localId);
  }

  /** Where the waiting tail begins. */
  #firstPending() {
    let place = this.#messages.length;
    while (place > 0 && this.#messages[place - 1].state === 'pending') place -= 1;
    return place;
  }

  #move(entry) {
    const start = this.#firstPending();
    const place = this.#messages.indexOf(entry);
    if (place <= start) return;
    this.#messages.splice(place, 1);
    this.#messages.splice(start, 0, entry);
  }

  #trim() {
    const surplus = this.#messages.length - TIMELINE_LENGTH;
    if (surplus > 0) this.#messages.splice(0, surplus);
  }
}
