import { RANK, compareKeys, keyOf } from './timeline-lines.js';

/** In so many former orders a page's messages may be, too. */
const REPEATED_ERAS = 4;

/** The keys of messages in the session's order, and where they are. An era begins where seq starts anew. */
export class SessionOrder {
  era = 0;
  #lastSeq = 0;
  #layout;

  constructor(layout) {
    this.#layout = layout;
  }

  startEra() {
    this.era += 1;
    this.#lastSeq = 0;
  }

  /** Null if there is no seq, or another message has it. */
  freeKey(seq) {
    if (seq === null || this.#indexIn(this.era, seq) !== null) return null;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    return keyOf(this.era, seq, 0);
  }

  /** Behind all messages that have arrived. */
  arrivalKey() {
    return keyOf(this.era, this.#lastSeq, this.#layout.nextNumber());
  }

  /** Where the message with this seq is; null: nowhere. One of a former order counts if `isThis(message)`. */
  find(seq, isThis) {
    for (let { era } = this; era >= Math.max(this.era - REPEATED_ERAS, 0); era -= 1) {
      const index = this.#indexIn(era, seq);
      if (index !== null && (era === this.era || isThis(this.#layout.lines.at(index).message))) return index;
    }
    return null;
  }

  /** Whether a message of the present order with at most this seq is here. */
  knows(seq) {
    const { lines } = this.#layout;
    const last = keyOf(this.era, seq, 0);
    let index = lines.firstIndex(keyOf(this.era, 0, 0), RANK.gap);
    for (; index < lines.count && compareKeys(lines.at(index).key, last) <= 0; index += 1) {
      // One without a seq is an own message that has not come back yet.
      if ((lines.at(index).message?.seq ?? null) !== null) return true;
    }
    return false;
  }

  /** The least seq of all; null: there is none. */
  get oldestSeq() {
    const { lines } = this.#layout;
    let oldest = Infinity;
    for (let index = 0; index < lines.count; index += 1) {
      const { key, message } = lines.at(index);
      const seq = message?.seq ?? Infinity;
      oldest = Math.min(oldest, seq);
      // The others of this order have greater ones.
      if (seq < Infinity && key.era === this.era) break;
    }
    return oldest < Infinity ? oldest : null;
  }

  /** Where the row with this id is; null: nowhere. */
  indexOfRow(id) {
    const key = this.#layout.keyOf(id);
    return key === undefined ? null : this.#layout.indexOf(key);
  }

  #indexIn(era, seq) {
    const { lines } = this.#layout;
    const key = keyOf(era, seq, 0);
    const index = this.#layout.indexOf(key);
    return index < lines.count && compareKeys(lines.at(index).key, key) === 0 ? index : null;
  }
}
