import { lengthOf } from './length-unit.js';
import { isBlank } from '../visible-text.js';

/**
 * The draft with its limits: an edit never makes it too long, and it states whether the draft can be sent. Pure.
 *
 * `unit` is `graphemes`, `utf16` or `utf8`. `sendsBlankText`: text that shows nothing can be sent, as in OpenTok's chat.
 */
export class Composer {
  #text = '';
  #maxLength;

  /** @param {ComposerOptions} [options] */
  constructor({ maxLength = 1000, unit = 'graphemes', sendsBlankText = false } = {}) {
    this.#maxLength = Math.max(maxLength, 0);
    /** @type {'graphemes' | 'utf16' | 'utf8'} */
    this.unit = unit;
    /** @type {boolean} */
    this.sendsBlankText = sendsBlankText;
  }

  /** @type {string} */
  get text() {
    return this.#text;
  }

  /** @type {number} */
  get maxLength() {
    return this.#maxLength;
  }

  /** The longest text after an edit; not below 0. Lowering it leaves the text as it is. */
  set maxLength(length) {
    this.#maxLength = Math.max(length, 0);
  }

  /** @type {number} How much more text fits. Negative if the limit was lowered below the text's length. */
  get remaining() {
    return this.#maxLength - lengthOf(this.#text, this.unit);
  }

  /**
   * Replaces the text. A text that is too long is refused whole: nothing is cut off, and the old text stays. Returns
   * `{isAccepted, remaining, excess}`; `excess` is how much the new text is too long.
   * @type {(newText: string) => EditResult}
   */
  edit(newText) {
    const result = this.check(newText);
    if (result.isAccepted) this.#text = newText;
    return result;
  }

  /** @type {(newText: string) => EditResult} The result that `edit` would return. */
  check(newText) {
    const excess = lengthOf(newText, this.unit) - this.#maxLength;
    return excess > 0
      ? { isAccepted: false, remaining: this.remaining, excess }
      : { isAccepted: true, remaining: 0 - excess, excess: 0 };
  }

  /** @type {DraftRefusal | null} Why the text itself cannot be sent, or null. Blank is checked before too long. */
  get refusal() {
    return this.refusalOf(this.#text);
  }

  /** @type {(text: string) => DraftRefusal | null} Why this text cannot be sent, or null. */
  refusalOf(text) {
    const isNothing = this.sendsBlankText ? text === '' : isBlank(text);
    if (isNothing) return { reason: 'blank' };
    const excess = lengthOf(text, this.unit) - this.#maxLength;
    return excess > 0 ? { reason: 'tooLong', excess } : null;
  }

  clear() {
    this.#text = '';
  }

  /** @type {(text: string) => void} Restores a text of an earlier run, which may have had another limit. */
  restore(text) {
    this.#text = text;
  }
}
