import { colours, HUE_CLASSES } from '../chat/style/palette.js';

/** Gives the page the colours of the chat. The header waits for them, so that it never shows without. */
export function adoptColours() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
:root { ${colours('light')} }
@media (prefers-color-scheme: dark) { :root { ${colours('dark')} } }
${HUE_CLASSES}`);
  document.adoptedStyleSheets.push(sheet);
  document.querySelector('header').hidden = false;
}
