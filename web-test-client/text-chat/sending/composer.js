import { lengthOf } from './length-unit.js';

/**
 * The text that is being written, never longer than its limit through an edit, and what may be sent of it. Pure.
 *
 * `unit` is `graphemes`, `utf16` or `utf8`; `sendsBlankText` makes a message of white space alone, as OpenTok's chat does.
 */
export class Composer {
  #text = '';
  #maxLength;

  constructor({ maxLength = 1000, unit = 'graphemes', sendsBlankText = false } = {}) {
    this.#maxLength = Math.max(maxLength, 0);
    this.unit = unit;
    this.sendsBlankText = sendsBlankText;
  }

  get text() {
    return this.#text;
  }

  get maxLength() {
    return this.#maxLength;
  }

  /** Not below 0. Lowering it leaves the text as it is. */
  set maxLength(length) {
    this.#maxLength = Math.max(length, 0);
  }

  /** How much may still be written. Negative when the limit was lowered below the text's length. */
  get remaining() {
    return this.#maxLength - lengthOf(this.#text, this.unit);
  }

  /**
   * Replaces the text by what an edit would make of it. One that would be longer than the limit is refused whole, nothing
   * is cut off, and the text stays: `{isAccepted, remaining, excess}`, `excess` by how much it would be too long.
   */
  edit(newText) {
    const result = this.check(newText);
    if (result.isAccepted) this.#text = newText;
    return result;
  }

  /** What `edit` would say. */
  check(newText) {
    const excess = lengthOf(newText, this.unit) - this.#maxLength;
    return excess > 0
      ? { isAccepted: false, remaining: this.remaining, excess }
      : { isAccepted: true, remaining: 0 - excess, excess: 0 };
  }

  /** Why the text cannot be sent, as far as the text itself says: blank before too long. Null: it can. */
  get refusal() {
    const isBlank = this.sendsBlankText ? this.#text === '' : /^\p{White_Space}*$/u.test(this.#text);
    if (isBlank) return { reason: 'blank' };
    const { remaining } = this;
    return remaining < 0 ? { reason: 'tooLong', excess: -remaining } : null;
  }

  clear() {
    this.#text = '';
  }

  /** A text from an earlier run, whose limit may have been another one. */
  restore(text) {
    this.#text = text;
  }
}
