import { typingPhraseLadder, typingText } from '../text-chat/index.js';

/** The line that lists typing users. It keeps its height when it is empty, so that the layout does not move. */
export class TypingView {
  #line;
  #text;
  #nameOf;

  /** `nameOf(connectionId)` is the name to show. */
  constructor(part, nameOf) {
    this.#line = part('typing');
    this.#text = part('typing-text');
    this.#nameOf = nameOf;
  }

  show({ typing, paused, typingCount, pausedCount }) {
    const isTyping = typingCount > 0;
    this.#line.dataset.state = isTyping ? 'typing' : pausedCount > 0 ? 'paused' : 'nobody';
    const names = (isTyping ? typing : paused).map(({ connectionId }) => this.#nameOf(connectionId));
    const steps = typingPhraseLadder(names, { count: isTyping ? typingCount : pausedCount });
    // Show the longest sentence that fits.
    for (const step of steps) {
      this.#setText(isTyping ? typingText(step) : pausedText(step));
      if (this.#text.scrollWidth <= this.#text.clientWidth) return;
    }
  }

  #setText(text) {
    if (this.#text.textContent !== text) this.#text.textContent = text;
  }
}

function pausedText(step) {
  return typingText(step).replace(/(is|are) typing…$/, (_, verb) => `${verb === 'is' ? 'has' : 'have'} paused`);
}
