import { typingPhraseLadder, typingText } from '../text-chat/index.js';

/** In a chat of two, Chinese programs name the other one so. */
const CHINESE_PAIR = '对方';

/** The line that lists typing users. It keeps its height when it is empty, so that the layout does not move. */
export class TypingView {
  #line;
  #text;
  #nameOf;
  #isPair;
  #language;

  /**
   * `nameOf(connectionId)` is the name to show, `isPair()` whether the room has two users. `language` is the reader's:
   * the sentences are Chinese or English.
   */
  constructor(part, { nameOf, isPair, language = navigator.language }) {
    this.#line = part('typing');
    this.#text = part('typing-text');
    this.#nameOf = nameOf;
    this.#isPair = isPair;
    this.#language = language;
    this.#text.lang = isChinese(language) ? 'zh' : 'en';
  }

  show({ typing, paused, typingCount, pausedCount }) {
    const isTyping = typingCount > 0;
    this.#line.dataset.state = isTyping ? 'typing' : pausedCount > 0 ? 'paused' : 'nobody';
    const names = (isTyping ? typing : paused).map(({ connectionId }) => this.#shownName(connectionId));
    const steps = typingPhraseLadder(names, { count: isTyping ? typingCount : pausedCount });
    // Show the longest sentence that fits.
    for (const step of steps) {
      const text = typingText(step, this.#language);
      this.#setText(isTyping ? text : pausedText(text, this.#language));
      if (this.#text.scrollWidth <= this.#text.clientWidth) return;
    }
  }

  #shownName(connectionId) {
    return isChinese(this.#language) && this.#isPair() ? CHINESE_PAIR : this.#nameOf(connectionId);
  }

  #setText(text) {
    if (this.#text.textContent !== text) this.#text.textContent = text;
  }
}

function isChinese(language) {
  return /^zh($|[-_])/i.test(language);
}

function pausedText(text, language) {
  if (isChinese(language)) return text.replace(/正在输入…$/, '暂停了输入');
  return text.replace(/(is|are) typing…$/, (_, verb) => `${verb === 'is' ? 'has' : 'have'} paused`);
}
