import { isOneEmoji } from '../text/emoji.js';

/** What is no emoji is shown as a text of at most so many characters. */
const MOST_CHARACTERS = 16;

const SELECTORS = /[\uFE0E\uFE0F]/g;
const NEEDS_SELECTOR = /(?!\p{EPres})\p{Emoji}(?!\p{EMod})/gu;

/**
 * The key of an emoji as all clients write it: servers compare keys by their bytes, and keyboards write the same emoji
 * with and without selectors of its look. Another text is a key as it is.
 */
export function reactionKey(text) {
  const given = text.trim();
  const emoji = given.replace(SELECTORS, '').replace(NEEDS_SELECTOR, '$&\uFE0F');
  return isOneEmoji(emoji) ? emoji : given;
}

/** What a reader sees of a key, which a stranger has chosen: `{text, isEmoji}`. */
export function shownKey(key) {
  if (isOneEmoji(key)) return { text: key, isEmoji: true };
  const characters = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(key)];
  const isLong = characters.length > MOST_CHARACTERS;
  const kept = isLong ? characters.slice(0, MOST_CHARACTERS - 1) : characters;
  return { text: kept.map(({ segment }) => segment).join('') + (isLong ? '…' : ''), isEmoji: false };
}
