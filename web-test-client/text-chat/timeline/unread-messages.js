import { compareKeys } from './timeline-lines.js';

/** Which messages of a timeline are unread: how many, and the key of the first. */
export class UnreadMessages {
  count = 0;
  /** Null: there is none. */
  first = null;
  #layout;

  constructor(layout) {
    this.#layout = layout;
  }

  /** The id of the row of the first; null: there is none. */
  get firstId() {
    return this.first === null ? null : this.#layout.lines.at(this.#layout.indexOf(this.first)).id;
  }

  /** An unread message was added. */
  add(key) {
    this.count += 1;
    if (this.first === null || compareKeys(key, this.first) < 0) this.first = key;
  }

  /** Marks the message as read, if it is unread. */
  read(index) {
    if (!this.#layout.setRead(index)) return;
    this.count -= 1;
    if (compareKeys(this.#layout.lines.at(index).key, this.first) === 0) this.first = this.#next(index + 1);
  }

  /** Marks all messages up to this key as read. */
  readThrough(last) {
    while (this.first !== null && compareKeys(this.first, last) <= 0) this.read(this.#layout.indexOf(this.first));
  }

  #next(from) {
    if (this.count === 0) return null;
    const { lines } = this.#layout;
    let index = from;
    while (!lines.at(index).isUnread) index += 1;
    return lines.at(index).key;
  }
}
