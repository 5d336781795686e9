import { typingPhraseLadder } from '../../text-chat/index.js';
import { typingSentence } from '../words/typing-sentence.js';

/** The line that lists typing users. It keeps its height when it is empty, so that the layout does not move. */
export class TypingView {
  #line;
  #text;
  #nameOf;
  #isPair;
  #words;
  #snapshot = null;

  /** `nameOf(connectionId)` is the name to show, `isPair()` whether the room has two users. */
  constructor(part, { nameOf, isPair, words }) {
    this.#line = part('typing');
    this.#text = part('typing-text');
    this.#nameOf = nameOf;
    this.#isPair = isPair;
    this.#words = words;
  }

  set words(words) {
    this.#words = words;
    if (this.#snapshot !== null) this.show(this.#snapshot);
  }

  show(snapshot) {
    this.#snapshot = snapshot;
    const { typing, paused, typingCount, pausedCount } = snapshot;
    const isTyping = typingCount > 0;
    this.#line.dataset.state = isTyping ? 'typing' : pausedCount > 0 ? 'paused' : 'nobody';
    const names = (isTyping ? typing : paused).map(({ connectionId }) => this.#shownName(connectionId));
    const steps = typingPhraseLadder(names, { count: isTyping ? typingCount : pausedCount });
    // Show the longest sentence that fits.
    for (const step of steps) {
      this.#setText(typingSentence(this.#words, step, !isTyping));
      if (this.#text.scrollWidth <= this.#text.clientWidth) return;
    }
  }

  /** In a chat of two, Chinese programs do not name the other one. */
  #shownName(connectionId) {
    const name = this.#nameOf(connectionId);
    return this.#isPair() ? this.#words.text('partner', { name: { text: name } }) : name;
  }

  #setText(text) {
    if (this.#text.textContent !== text) this.#text.textContent = text;
  }
}
