import { CHAT_STYLE } from './chat-style.js';

/** Document → the style sheet that all elements in it share. A sheet of one document has no effect in another. */
const sheets = new WeakMap();

/**
 * Gives the shadow tree its style. A document without a window shows nothing, and gets no sheet. Neither does one of a
 * program that tests pages without a browser, such as jsdom.
 */
export function useStyle(root) {
  const { ownerDocument: document } = root;
  const window = document.defaultView;
  if (window?.CSSStyleSheet.prototype.replaceSync === undefined) return;
  let sheet = sheets.get(document);
  if (sheet === undefined) {
    sheet = new window.CSSStyleSheet();
    sheet.replaceSync(CHAT_STYLE);
    sheets.set(document, sheet);
  }
  root.adoptedStyleSheets = [sheet];
}
