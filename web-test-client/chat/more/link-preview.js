import { httpsAddress } from '../text/https-address.js';
import { make } from '../views/dom.js';
import { cardOf } from './file-data.js';

/** So long the user pauses before the page is asked for a preview. */
const PAUSE = 300;

/** The first address of `https:` in a text. */
const LINK = /https:\/\/[^\s<>"]+[^\s<>".,;:!?)\]}'*_]/iu;

/**
 * The card of the first link in the draft, by the page's `preview(url)`. The user sees it above the field, and can remove
 * it. The message carries it, so that receivers ask nobody.
 */
export class LinkPreview {
  #strip;
  #words;
  #preview;
  #timer = null;
  #url = null;
  #card = null;
  #removed = new Set();
  #attempt = null;

  constructor(strip, { words, preview }) {
    this.#strip = strip;
    this.#words = words;
    this.#preview = preview;
  }

  /** The draft is this text now. */
  read(text) {
    const url = LINK.exec(text)?.[0] ?? null;
    if (url === this.#url) return;
    this.#end();
    this.#url = url;
    if (url === null || httpsAddress(url) === null || this.#removed.has(url)) return;
    this.#timer = setTimeout(() => this.#ask(url), PAUSE);
  }

  /** The data for a message with this text, with the card in it if there is one. */
  dataFor(text, data) {
    return this.#card !== null && text.includes(this.#card.url) ? { ...data, card: this.#card } : data;
  }

  async #ask(url) {
    this.#attempt = new AbortController();
    const { signal } = this.#attempt;
    const found = await Promise.resolve(this.#preview()?.(url, { signal })).catch(() => null);
    if (signal.aborted || !found) return;
    const card = cardOf({ card: { ...found, url } }, url);
    if (card === null) return;
    // The address as the text has it, and only what there is.
    this.#card = Object.fromEntries(Object.entries({ ...card, url }).filter(([, value]) => value !== null && value !== ''));
    const remove = make('button', { type: 'button', class: 'link', 'aria-label': this.#words().text('removePreview') }, '✕');
    remove.addEventListener('click', () => {
      this.#removed.add(url);
      this.#end();
    });
    this.#strip.replaceChildren(make('div', { class: 'outgoing', part: 'outgoing' }, make('span', { class: 'outgoing-text', dir: 'auto' }, card.title), remove));
  }

  #end() {
    clearTimeout(this.#timer);
    this.#attempt?.abort();
    this.#card = null;
    this.#strip.replaceChildren();
  }
}
