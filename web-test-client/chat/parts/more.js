// The part of `<signalbox-chat>` with files, cards and light markup: it loads when the page or a message needs it.
import { LinkPreview } from '../more/link-preview.js';
import { MORE_STRINGS } from '../more/more-strings.js';
import { MORE_STYLE } from '../more/more-style.js';
import { OutgoingFiles } from '../more/outgoing-files.js';
import { RichContent } from '../more/rich-content.js';
import { httpsAddress } from '../text/https-address.js';
import { make } from '../views/dom.js';
import { partWords } from '../words/part-words.js';

export class More {
  #customs;
  #hasMarkup;
  #ownStrings;
  #linkify;
  #words;
  /** Where the page has put files of this user: their pictures may load without `resolve`. */
  #origins = new Set([globalThis.location?.origin]);
  #files;
  #preview;
  #input;

  /**
   * `customs()` are the page's functions, `hasMarkup()` says whether texts have light markup, and `strings()` are the
   * page's texts. `linkify(text)` makes nodes of a plain text, `send(content)` promises the outcome, and `tell(text)` shows
   * a sentence below the field.
   */
  constructor(part, { words, customs, hasMarkup, strings, linkify, send, tell, addStyle }) {
    this.#customs = customs;
    this.#hasMarkup = hasMarkup;
    this.#ownStrings = strings;
    this.#linkify = linkify;
    this.words = words;
    const form = part('composer');
    addStyle(form.getRootNode(), MORE_STYLE);
    const [files, cards] = [make('div', { class: 'composer-strip' }), make('div', { class: 'composer-strip' })];
    form.prepend(files, cards);
    const ownWords = () => this.#words;
    this.#files = new OutgoingFiles(files, { words: ownWords, upload: () => this.#noting(customs().upload), send, tell });
    this.#preview = new LinkPreview(cards, { words: ownWords, preview: () => customs().preview });
    this.#input = make('input', { type: 'file', multiple: '', hidden: '', tabindex: '-1' });
    form.append(this.#input);
    this.#input.addEventListener('change', () => {
      this.#files.take([...this.#input.files]);
      this.#input.value = '';
    });
  }

  /** With the texts of this part, which are no part of the element's first load. */
  set words(words) {
    this.#words = partWords(words, MORE_STRINGS, this.#ownStrings());
  }

  /** The nodes for a message; null: it is a plain text. */
  nodesFor(message) {
    const { resolve = null } = this.#customs();
    const approves = (url) => this.#origins.has(new URL(url).origin);
    const content = new RichContent({ words: this.#words, resolve, approves, linkify: this.#linkify });
    return content.nodesFor(message, { hasMarkup: this.#hasMarkup() });
  }

  choose() {
    this.#input.click();
  }

  take(files) {
    this.#files.take(files);
  }

  /** The user has changed the draft. */
  edited(text) {
    this.#preview.read(text);
  }

  /** What a message with this text carries. */
  dataFor(text, data) {
    return this.#preview.dataFor(text, data);
  }

  #noting(upload) {
    return async (file, options) => {
      const given = await upload(file, options);
      const address = httpsAddress(given?.url);
      if (address !== null) this.#origins.add(new URL(address).origin);
      return given;
    };
  }
}
