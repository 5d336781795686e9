/** Attribute with the key of a text → the attribute that gets the text; null: the content. */
const TARGETS = {
  'data-word': null,
  'data-word-label': 'aria-label',
  'data-word-description': 'aria-description',
  'data-word-placeholder': 'placeholder',
  'data-word-title': 'title',
};
const SELECTOR = Object.keys(TARGETS).map((name) => `[${name}]`).join(', ');

/** Writes the texts of a language into the elements of a template that name a key. */
export function writeWords(root, words) {
  for (const element of root.querySelectorAll(SELECTOR)) {
    for (const [name, target] of Object.entries(TARGETS)) {
      const key = element.getAttribute(name);
      if (key === null) continue;
      const text = words.text(key);
      if (target === null) element.textContent = text;
      else element.setAttribute(target, text);
    }
  }
}
