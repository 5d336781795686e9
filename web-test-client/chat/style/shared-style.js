import { CHAT_STYLE } from './chat-style.js';

/** Document → style → its sheet, which all elements in it share. A sheet of one document has no effect in another. */
const sheets = new WeakMap();

/** Shadow tree → its styles: the element's, and those of parts that it has loaded. */
const styles = new WeakMap();

/**
 * Gives the shadow tree its style. A document without a window shows nothing, and gets no sheet. Neither does one of a
 * program that tests pages without a browser, such as jsdom.
 */
export function useStyle(root) {
  if (root.ownerDocument.defaultView?.CSSStyleSheet.prototype.replaceSync === undefined) return;
  root.adoptedStyleSheets = (styles.get(root) ?? [CHAT_STYLE]).map((style) => sheetOf(root.ownerDocument, style));
}

/** Adds the style of a part to the shadow tree. */
export function addStyle(root, style) {
  const before = styles.get(root) ?? [CHAT_STYLE];
  if (before.includes(style)) return;
  styles.set(root, [...before, style]);
  useStyle(root);
}

function sheetOf(document, style) {
  if (!sheets.has(document)) sheets.set(document, new Map());
  const known = sheets.get(document);
  if (!known.has(style)) {
    const sheet = new document.defaultView.CSSStyleSheet();
    sheet.replaceSync(style);
    known.set(style, sheet);
  }
  return known.get(style);
}
