// Functions that build the chat. Text is always inserted as text, never as markup.
import { HUES } from '../style/palette.js';

/**
 * Makes an element: `make('li', { class: 'row', title: '…' }, 'text', child, …)`. Attributes and children may be null.
 */
export function make(tag, attributes = {}, ...children) {
  // In a document that is not HTML, `createElement` makes no HTML.
  const made = document.createElementNS('http://www.w3.org/1999/xhtml', tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** The window that shows this node. A page may move the element into another one. */
export function windowOf(node) {
  return node.ownerDocument.defaultView ?? globalThis;
}

const exact = new Intl.DateTimeFormat([], {
  hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23',
});

/** With milliseconds, for measuring. */
export function exactTime(milliseconds) {
  return exact.format(milliseconds);
}

/** The index of a colour of the palette, the same for the same text on every page. */
export function hueOf(text) {
  let sum = 0;
  for (const character of String(text)) sum = (sum * 31 + character.codePointAt(0)) % 65_521;
  return sum % HUES.length;
}

/** Whether the user has selected text in this element of a shadow tree. */
export function isSelectedIn(element) {
  const root = element.getRootNode();
  const selection = root.getSelection?.() ?? windowOf(element).getSelection();
  const range = selection?.getComposedRanges?.({ shadowRoots: [root] })[0]
    ?? (selection?.rangeCount > 0 ? selection.getRangeAt(0) : null);
  return range !== null && !range.collapsed && element.contains(range.startContainer);
}

/** `keyCode` of a key that an input method handles. */
const COMPOSING_KEY_CODE = 229;

/** Whether an input method composes: there Enter picks a candidate. Some browsers show that only by the key code. */
export function isComposing(event) {
  return event.isComposing || event.keyCode === COMPOSING_KEY_CODE;
}

let graphemes = null;

/** The letter and the colour of a person: the colour of a user comes from their id, and stays over connections. */
export function avatar(name, id) {
  return make('span', { class: `avatar hue-${hueOf(id)}`, part: 'avatar', 'aria-hidden': 'true' }, initialOf(name));
}

export function initialOf(name) {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const [first] = graphemes.segment(name.trim() || '?');
  return first.segment.toUpperCase();
}
