import { make } from '../views/dom.js';
import { httpsAddress } from '../text/https-address.js';
import { cardOf, fileOf, textOfFile } from './file-data.js';
import { blocksOf, spansOf } from './light-markup.js';

/** The largest side of a picture in the list, in pixels, and the sides of one that does not state its own. */
const PICTURE_SIDE = 320;
const UNKNOWN = { width: 240, height: 180 };

const TAGS = { code: 'code', bold: 'strong', italic: 'em' };

/**
 * The content of a bubble beyond a plain text: a picture or a file, light markup, and the card of a link. A picture loads
 * by itself only from where the page says; any other waits for a click. Everything is built as nodes.
 */
export class RichContent {
  #words;
  #resolve;
  #approves;
  #linkify;

  /**
   * `resolve(url, message)` is the page's, or null; `approves(url)` says whether a picture may load without it.
   * `linkify(text)` makes nodes of a plain text.
   */
  constructor({ words, resolve, approves, linkify }) {
    this.#words = words;
    this.#resolve = resolve;
    this.#approves = approves;
    this.#linkify = linkify;
  }

  /** The nodes for a message; null: it is a plain text. */
  nodesFor(message, { hasMarkup }) {
    const file = fileOf(message.data);
    const text = file === null ? message.text : withoutFile(message.text, file);
    const card = file === null ? cardOf(message.data, message.text) : null;
    if (file === null && card === null && !hasMarkup) return null;
    const nodes = [];
    if (file !== null) nodes.push(file.isPicture ? this.#picture(file, message) : this.#fileRow(file, message));
    if (text !== '') nodes.push(...(hasMarkup ? this.#marked(text) : this.#linkify(text)));
    if (card !== null) nodes.push(this.#card(card, message));
    return nodes;
  }

  // Files

  #picture(file, message) {
    const { width, height } = file.width === null ? UNKNOWN : file;
    const scale = Math.min(1, PICTURE_SIDE / width, PICTURE_SIDE / height);
    const frame = make('span', { class: 'picture' });
    frame.style.width = `${Math.max(24, Math.round(width * scale))}px`;
    frame.style.aspectRatio = `${width} / ${height}`;
    const show = (address) => this.#load(frame, address, file, message);
    const failed = () => frame.replaceWith(this.#fileRow(file, message));
    if (this.#resolve !== null) this.#resolved(file.url, message).then(show, failed);
    else if (this.#approves(file.url)) show(file.url);
    else frame.append(this.#showButton(file, () => show(file.url)));
    return frame;
  }

  #load(frame, address, file, message) {
    const attributes = { src: address, alt: file.name, referrerpolicy: 'no-referrer', decoding: 'async', loading: 'lazy' };
    const picture = make('img', attributes);
    picture.addEventListener('error', () => {
      const note = make('span', { class: 'file-note' }, this.#words.text('noPicture'));
      frame.replaceWith(this.#fileRow(file, message), note);
    });
    frame.replaceChildren(make('a', linkTo(address), picture));
  }

  #showButton({ name }, act) {
    const button = make('button', { type: 'button', class: 'picture-show' }, this.#words.text('showPicture', { name }));
    button.addEventListener('click', act);
    return button;
  }

  #fileRow(file, message) {
    const size = file.size === null ? null : make('span', { class: 'file-size' }, sizeText(file.size, this.#words.language));
    const name = make('bdi', { class: 'file-name' }, file.name);
    const row = make('a', { class: 'file', part: 'file', ...linkTo(file.url) }, make('span', { class: 'file-icon' }), name, size);
    if (this.#resolve !== null) {
      // Nothing to open until the page has named the address.
      row.removeAttribute('href');
      this.#resolved(file.url, message).then((address) => row.setAttribute('href', address), () => row.classList.add('gone'));
    }
    return row;
  }

  async #resolved(url, message) {
    const address = httpsAddress(await this.#resolve(url, message));
    if (address === null) throw new Error('The page has no address for this file.');
    return address;
  }

  // Cards

  #card({ url, title, text, image }, message) {
    const host = make('bdi', { class: 'card-host', dir: 'ltr' }, new URL(url).host);
    const words = make('span', { class: 'card-text', dir: 'auto' }, text);
    const card = make('a', { class: 'card', part: 'card', ...linkTo(url) }, make('strong', { dir: 'auto' }, title), text === '' ? null : words, host);
    if (image === null || this.#resolve === null) return card;
    this.#resolved(image, message).then((address) => {
      const picture = make('img', { src: address, alt: '', referrerpolicy: 'no-referrer', decoding: 'async', loading: 'lazy' });
      picture.addEventListener('error', () => picture.remove());
      card.prepend(picture);
    }, () => {});
    return card;
  }

  // Markup

  #marked(text) {
    return blocksOf(text).flatMap((block) => {
      if (block.kind === 'text') return this.#spans(block.text);
      if (block.kind === 'code') return [make('pre', {}, make('code', {}, block.text))];
      const start = block.isOrdered && block.start !== 1 ? block.start : null;
      const items = block.items.map((item) => make('li', { dir: 'auto' }, ...this.#spans(item)));
      return [make(block.isOrdered ? 'ol' : 'ul', { start }, ...items)];
    });
  }

  /** Links come first: their addresses may have marks in them. Those in code are text. */
  #spans(text) {
    return text.split(/(`[^`\n]+`)/).flatMap((part) => (/^`[^`\n]+`$/.test(part) ? this.#inline(part) : this.#linkify(part)))
      .flatMap((node) => (typeof node === 'string' ? this.#inline(node) : [node]));
  }

  #inline(text) {
    return spansOf(text).map(({ kind, text: content }) => (kind === 'text' ? content : make(TAGS[kind], {}, content)));
  }
}

function linkTo(address) {
  return { href: address, target: '_blank', rel: 'noopener noreferrer' };
}

/** The line for programs that know no files is not shown beside the file. */
function withoutFile(text, file) {
  const line = textOfFile(file);
  if (text === line) return '';
  return text.endsWith(`\n${line}`) ? text.slice(0, -line.length - 1) : text;
}

function sizeText(size, language) {
  const [unit, count] = size < 1_000_000 ? ['kilobyte', size / 1000] : ['megabyte', size / 1_000_000];
  const options = { style: 'unit', unit, maximumFractionDigits: count < 10 ? 1 : 0 };
  return new Intl.NumberFormat(language, options).format(count);
}
