import { compareKeys, keyOf } from './timeline-lines.js';

/** Which messages of a timeline an erasure concerns (HIS-9). Those that are not sent yet stay. */
export class Erasing {
  #layout;
  #order;
  #contents;

  constructor({ layout, order, contents }) {
    this.#layout = layout;
    this.#order = order;
    this.#contents = contents;
  }

  /** Removes the content of one message. */
  message(index) {
    if (index !== null) this.#contents.erase(index);
  }

  /** Removes the content of the messages of a user that are before this seq. */
  user(user, before) {
    const { lines } = this.#layout;
    for (let index = lines.messageFrom(0); index < lines.count; index = lines.messageFrom(index + 1)) {
      const { key, message } = lines.at(index);
      // The messages of former orders are before all of this one.
      const isOfNow = key.era === this.#order.era;
      const isBefore = key.era < this.#order.era || (isOfNow && (message.seq ?? key.seq) < before);
      if (isBefore && message.user === user) this.#contents.erase(index);
    }
  }

  /** Removes all messages up to this seq: `dropOldest(index)` removes the first one. */
  through(seq, dropOldest) {
    const { lines } = this.#layout;
    const last = keyOf(this.#order.era, seq, 0);
    for (let first = lines.messageFrom(0); first < lines.count; first = lines.messageFrom(0)) {
      if (compareKeys(lines.at(first).key, last) > 0) return;
      dropOldest(first);
    }
  }
}
