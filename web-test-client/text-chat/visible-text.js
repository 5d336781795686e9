/**
 * Characters that show nothing: white space, controls, the characters that Unicode lets a font leave out, the marks of
 * an annotation, the empty pattern of Braille and the empty note head. A joiner inside of an emoji is one, the emoji is
 * not.
 */
const SHOWS_NOTHING = /^[\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}\u{2800}\u{1D159}]*$/u;

/** Characters that show nothing and shape what is beside them: joiners, variation selectors, and the tags of flags. */
const SHAPING = '\\u{200C}\\u{200D}\\u{FE00}-\\u{FE0F}\\u{E0020}-\\u{E007F}\\u{E0100}-\\u{E01EF}';
const HIDDEN = new RegExp(
  `(?![${SHAPING}])[\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\u{FFF9}-\\u{FFFB}]`, 'gu',
);
const SPACES = /[\p{White_Space}\p{Cc}]+/gu;

/** Whether a reader of the text sees nothing. */
export function isBlank(text) {
  return SHOWS_NOTHING.test(text);
}

/**
 * A text in one line, without characters that are hidden or that reverse the direction of what follows: two names that
 * differ only in these look like one.
 */
export function plainLine(text) {
  return text.replace(HIDDEN, '').replace(SPACES, ' ').replace(/^ | $/g, '');
}
