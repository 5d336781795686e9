// What the length of a text is counted in. Graphemes are what a reader takes for one character; they depend on the
// Unicode version, so they are never a limit of the wire. UTF-16 units are what OpenTok counts.

/** Longest signal data, in UTF-16 units (SIG-3). */
export const SIGNAL_DATA_LENGTH = 8192;

let segmenter = null;

/** `unit` is `graphemes`, `utf16` or `utf8`. */
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
      throw new TypeError(`no such unit of length: ${unit}`);
  }
}
