import { typingPhraseLadder, typingText } from '../text-chat/typing/typing-phrase.js';

/** The line that says who is writing. It has its place always: nothing moves when somebody begins. */
export class TypingView {
  #line;
  #text;
  #nameOf;

  /** `nameOf(connectionId)`. */
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
    // The longest sentence that fits.
    for (const step of steps) {
      this.#say(isTyping ? typingText(step) : pausedText(step));
      if (this.#text.scrollWidth <= this.#text.clientWidth) return;
    }
  }

  #say(text) {
    if (this.#text.textContent !== text) this.#text.textContent = text;
  }
}

function pausedText(step) {
  return typingText(step).replace(/(is|are) typing…$/, (_, verb) => `${verb === 'is' ? 'has' : 'have'} paused`);
}
