import { loadPart } from '../parts/load-part.js';
import { addStyle } from '../style/shared-style.js';

/**
 * Files, cards and light markup, which are a part of the element that loads when the page or a message needs it. Until
 * then such messages are shown as their texts.
 */
export class MoreControl {
  #part;
  #words;
  #options;
  #loaded;
  #more = null;
  #isLoading = false;

  /** `options` are those of `More`, and `loaded()` is called when messages can be shown with it. */
  constructor(part, { words, loaded, ...options }) {
    this.#part = part;
    this.#words = words;
    this.#options = options;
    this.#loaded = loaded;
    part('attach').addEventListener('click', () => this.#more?.choose());
  }

  set words(words) {
    this.#words = words;
    if (this.#more !== null) this.#more.words = words;
  }

  /** The page's functions are others now. */
  customized() {
    const { upload, preview } = this.#options.customs();
    if (upload || preview) this.#load();
    this.#part('attach').hidden = !upload || this.#more === null;
  }

  /** The nodes for a message; null: it is a plain text. */
  nodesFor(message) {
    if (message.isErased || !(this.#options.hasMarkup() || message.data?.file || message.data?.card)) return null;
    if (this.#more === null) this.#load();
    return this.#more?.nodesFor(message) ?? null;
  }

  /** Whether these files are taken, which the user has dropped or pasted. */
  take(files) {
    const isTaken = this.#more !== null && Boolean(this.#options.customs().upload);
    if (isTaken) this.#more.take(files);
    return isTaken;
  }

  edited(text) {
    this.#more?.edited(text);
  }

  dataFor(text, data) {
    return this.#more?.dataFor(text, data) ?? data;
  }

  async #load() {
    if (this.#isLoading || this.#more !== null) return;
    this.#isLoading = true;
    try {
      const { More } = await loadPart('more');
      this.#more = new More(this.#part, { words: this.#words, addStyle, ...this.#options });
    } catch (error) {
      console.error('<signalbox-chat>: its part with files and markup could not be loaded.', error);
      return;
    } finally {
      this.#isLoading = false;
    }
    this.customized();
    this.#loaded();
  }
}
