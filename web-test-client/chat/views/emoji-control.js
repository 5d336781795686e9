import { keepKeys } from '../keys/key-guard.js';
import { loadPart } from '../parts/load-part.js';
import { CHAT_STRINGS } from '../strings/index.js';
import { addStyle } from '../style/shared-style.js';
import { tableName } from '../words/words.js';

/** The beginning of a shortcode before the caret, as `:smi`; in the middle of a word there is none. */
const SHORTCODE = /(?<![\p{L}\p{N}:]):([\p{L}\p{N}_+-]{2,}):?$/u;

/**
 * The button that opens the emoji, and the completion of `:shortcodes:`. Emoji and their names are parts that load when
 * the user wants the first.
 */
export class EmojiControl {
  #button;
  #field;
  #words;
  #failed;
  #panel = null;
  #language = null;
  #isOn = true;

  /** `failed()` is called if the emoji cannot be loaded. */
  constructor(part, { words, failed }) {
    this.#words = words;
    this.#failed = failed;
    this.#button = part('emoji');
    this.#field = part('composer-text');
    this.#button.addEventListener('click', () => this.#ask((panel) => panel.toggle()));
    this.#field.addEventListener('input', ({ isComposing }) => {
      if (!isComposing) this.#typed();
    });
    this.#field.addEventListener('blur', () => this.#panel?.suggest(null));
  }

  set words(words) {
    this.#words = words;
    if (this.#panel !== null) this.#ask(() => {});
  }

  set isOn(isOn) {
    this.#isOn = isOn;
    this.#button.hidden = !isOn;
    if (!isOn) this.#panel?.suggest(null);
  }

  /** Whether a key in the field has chosen an emoji. */
  takes(event) {
    return this.#panel?.takes(event) ?? false;
  }

  #typed() {
    if (!this.#isOn) return;
    const { value, selectionStart: caret } = this.#field;
    const found = SHORTCODE.exec(value.slice(Math.max(0, caret - 40), caret));
    if (found === null) this.#panel?.suggest(null);
    else this.#ask((panel) => panel.suggest(found[0]), { isQuiet: true });
  }

  /** The part loads once, and the names again in another language. */
  async #ask(act, { isQuiet = false } = {}) {
    const language = tableName(CHAT_STRINGS, this.#words.language) ?? 'en';
    try {
      const [{ EmojiPanel }, names] = await Promise.all([loadPart('emoji'), loadPart(`emoji-${language}`)]);
      this.#panel ??= new EmojiPanel(this.#button, this.#field, { keepKeys, addStyle });
      if (this.#language !== language) this.#panel.names = names;
      this.#language = language;
    } catch (error) {
      if (!isQuiet) this.#failed(error);
      return;
    }
    act(this.#panel);
  }
}
