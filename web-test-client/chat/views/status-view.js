import { LONGEST_WAIT } from '../room/moderation.js';

/** The line above the messages: what is wrong with the connection, and “Try again”. */
export class StatusView {
  #line;
  #text;
  #retry;
  #textOf;
  #textOfRestriction;
  /** The key of a text, or null, and whether the user may try again, or the chat does by itself. */
  #status = { key: null, mayRetry: false, comesBack: false, values: {}, restriction: null };
  #state = 'disconnected';
  #timer = null;

  /**
   * `textOf(key, values)` and `textOfRestriction(restriction)` are texts in the language of now; `retry()` is called when
   * the user asks for it.
   */
  constructor(part, { textOf, textOfRestriction, retry }) {
    this.#line = part('chat-status');
    this.#text = part('chat-status-text');
    this.#retry = part('chat-retry');
    this.#textOf = textOf;
    this.#textOfRestriction = textOfRestriction;
    this.#retry.addEventListener('click', retry);
  }

  /** “Try again”; null if it is not offered. */
  get retryButton() {
    return this.#retry.hidden ? null : this.#retry;
  }

  /** The state of the element, which chooses the colours. */
  set state(state) {
    this.#state = state;
  }

  /**
   * Shows the text with this key, or that of the `restriction` if there is one; null: none. `comesBack`: the chat tries
   * again by itself. `retryIn`: after so many milliseconds the user may try again, if not at once.
   */
  show(key, { mayRetry = false, retryIn, comesBack = false, values = {}, restriction = null } = {}) {
    this.#status = { key, mayRetry, comesBack, values, restriction };
    this.write();
    clearTimeout(this.#timer);
    if (!(retryIn <= LONGEST_WAIT)) return;
    this.#timer = setTimeout(() => {
      this.#status.mayRetry = true;
      this.write();
    }, retryIn);
  }

  /** Writes the text anew, in the language of now. */
  write() {
    const { key, mayRetry, comesBack, values, restriction } = this.#status;
    const known = key === null ? '' : this.#textOf(key, values);
    const sentence = restriction === null ? known : this.#textOfRestriction(restriction);
    this.#line.hidden = key === null;
    this.#line.dataset.state = this.#state;
    this.#text.textContent = comesBack ? this.#textOf('comesBack', { sentence: { text: sentence } }) : sentence;
    this.#retry.hidden = !mayRetry;
  }
}
