import { isBlank } from '../../text-chat/visible-text.js';
import { splitLinks } from './links.js';

/** The most blank lines in a row that are shown. */
const MOST_BLANK = 3;

/** A longer text is folded: after so many lines of so many columns, or so many links. */
const LINES = 30;
const COLUMNS = 60;
const LINKS = 50;

/** A text that is longer than that by so few lines is shown whole. */
const SLACK = 5;

const LINE_END = /\r\n|[\n\v\f\r\x85\u2028\u2029]/;

/** Characters as wide as two letters: those of East Asia, and emoji. */
const WIDE = /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

/**
 * The parts of a message's text, as of `splitLinks`: without blank lines at its ends, and without many in a row. A long
 * text is cut, so that neither its height nor its cost grows with it: `isFolded` says so. With `isOpen` it is whole.
 */
export function messageParts(text, isOpen = false) {
  const lines = withoutBlanks(text.split(LINE_END));
  const shown = lines.join('\n');
  const end = isOpen ? shown.length : endOf(lines);
  const parts = splitLinks(shown, isOpen ? Infinity : LINKS);
  const rest = parts.findIndex(({ isRest }) => isRest);
  const kept = rest < 0 ? parts : parts.slice(0, rest);
  const { parts: cut, isCut } = cutAt(kept, end);
  return { parts: cut, isFolded: isCut || rest >= 0 };
}

function withoutBlanks(lines) {
  const isShown = lines.map((line) => !isBlank(line));
  const first = isShown.indexOf(true);
  const last = isShown.lastIndexOf(true);
  let blanks = 0;
  return lines.slice(Math.max(first, 0), last + 1).filter((line, index) => {
    blanks = isShown[first + index] ? 0 : blanks + 1;
    return blanks <= MOST_BLANK;
  });
}

/** Where the text is cut: behind this many characters. */
function endOf(lines) {
  let count = 0;
  let position = 0;
  let end = null;
  for (const line of lines) {
    let column = 0;
    let at = position;
    for (const character of line) {
      column += character === '\t' ? 8 : WIDE.test(character) ? 2 : 1;
      at += character.length;
      if (column < COLUMNS) continue;
      column = 0;
      count += 1;
      if (count === LINES) end ??= at;
    }
    position += line.length + 1;
    if (column > 0 || line === '') count += 1;
    if (count >= LINES) end ??= position - 1;
    if (count > LINES + SLACK) return end;
  }
  return Infinity;
}

/** No link is cut, because its address would be another one. Words are, if they are very long. */
function cutAt(parts, end) {
  let position = 0;
  for (const [index, { text, address }] of parts.entries()) {
    const next = position + text.length;
    if (next > end) {
      const head = text.slice(0, end - position).replace(/[\uD800-\uDBFF]$/, '');
      const last = address === undefined ? [{ text: head.replace(/\s+\S{0,40}$/, '') }] : index > 0 ? [] : [{ text: head }];
      return { parts: [...parts.slice(0, index), ...last], isCut: true };
    }
    position = next;
  }
  return { parts, isCut: false };
}
