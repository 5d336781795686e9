/** More emoji than this are a text. */
const MOST = 6;

const EMOJI =
  '(?:\\p{RI}{2}|[0-9#*]\\uFE0F?\\u20E3|(?:\\p{Emoji_Presentation}|\\p{ExtPict}(?:\\uFE0F|\\p{EMod})|[❤☺☹])' +
  '(?:\\uFE0F|\\p{EMod}|\\u200D\\p{ExtPict}|[\\u{E0020}-\\u{E007F}])*)';
const ONLY_EMOJI = new RegExp(`^\\s*(?:${EMOJI}\\s*){1,${MOST}}$`, 'u');

const ONE_EMOJI = new RegExp(`^${EMOJI}$`, 'u');

/** Whether a text is one emoji and nothing else. */
export function isOneEmoji(text) {
  return ONE_EMOJI.test(text);
}

/** Whether a text is a few emoji and nothing else, so that they are shown large. */
export function isOnlyEmoji(text) {
  return text.length < 200 && ONLY_EMOJI.test(text);
}
