import { httpsAddress } from '../text/https-address.js';

/** The longest name of a file and texts of a card that are sent or shown, in characters. */
const NAME_LENGTH = 200;
const TEXT_LENGTH = 300;
const LARGEST_SIDE = 20_000;

/** Pictures that each browser shows. An SVG is a document, and a file here. */
const PICTURE_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;

/** Marks that reorder a text or hide in it, and controls: `photo\u202Egnp.exe` must not look like a picture. */
const HIDDEN = /[\p{Cc}\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/gu;

/** `{url, name, type, size, width, height, isPicture}` of a file in the data of a message; null: there is none. */
export function fileOf(data) {
  const { url, name, type, size, width, height } = data?.file ?? {};
  const address = httpsAddress(url);
  if (address === null) return null;
  const mediaType = typeof type === 'string' ? type.slice(0, 100) : '';
  const hasSides = [width, height].every((side) => Number.isInteger(side) && side > 0 && side <= LARGEST_SIDE);
  return {
    url: address,
    name: shortText(name, NAME_LENGTH) || new URL(address).host,
    type: mediaType,
    size: Number.isFinite(size) && size >= 0 ? size : null,
    width: hasSides ? width : null,
    height: hasSides ? height : null,
    isPicture: PICTURE_TYPES.test(mediaType),
  };
}

/** The text of a message with this file, for programs that know no files. */
export function textOfFile({ name, url }) {
  return `${name} ${url}`;
}

/** `{url, title, text, image}` of a card; null: there is none. Its `url` is in the text of the message. */
export function cardOf(data, message) {
  const { url, title, text, image } = data?.card ?? {};
  const address = httpsAddress(url);
  const name = shortText(title, NAME_LENGTH);
  if (address === null || name === '' || !message.includes(url)) return null;
  return { url: address, title: name, text: shortText(text, TEXT_LENGTH), image: httpsAddress(image) };
}

export function shortText(value, length) {
  if (typeof value !== 'string') return '';
  const text = value.slice(0, 4 * length).replace(HIDDEN, ' ').trim();
  return [...text].length > length ? `${[...text].slice(0, length - 1).join('')}…` : text;
}
