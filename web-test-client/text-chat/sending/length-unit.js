// The unit of a text's length. Graphemes are characters as a reader sees them. They depend on the Unicode version, so
// they are never a limit of the wire. OpenTok counts UTF-16 units.

/** Longest signal data, in UTF-16 units (SIG-3). */
export const SIGNAL_DATA_LENGTH = 8192;

let segmenter = null;

/** The length of a text; `unit` is `graphemes`, `utf16` or `utf8`. */
export function lengthOf(text, unit) {
  switch (unit) {
    case 'utf16':
      return text.length;
    case 'utf8':
      return new TextEncoder().encode(text).length;
    case 'graphemes': {
      segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
      let count = 0;
      for (const _ of segmenter.segment(text)) count += 1;
      return count;
    }
    default:
      throw new TypeError(`Cannot count in ${unit}: use graphemes, utf16 or utf8.`);
  }
}
