// Functions that build the page.
import { writeWords } from '../chat/words/write-words.js';

export function find(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element with the id "${id}".`);
  return found;
}

/** Attributes that refer to elements by id. */
const REFERENCES = ['id', 'for', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'list'];

/**
 * Copies a template, with its texts in the language of `words`. `suffix` is appended to its ids, so that a page may hold two copies. In the result `{element,
 * part}`, `part(id)` finds an element by its id in the template.
 */
export function instantiate(template, suffix, words) {
  // Imported, and not only cloned, so that elements of a kind of their own work before they are on the page.
  const element = document.importNode(find(template).content, true).firstElementChild;
  for (const each of [element, ...element.querySelectorAll('*')]) {
    for (const name of REFERENCES) {
      const value = each.getAttribute(name);
      if (value !== null) each.setAttribute(name, value.split(' ').map((id) => id + suffix).join(' '));
    }
  }
  writeWords(element, words);
  return {
    element,
    part(id) {
      const found = element.id === id + suffix ? element : element.querySelector(`#${id}${suffix}`);
      if (!found) throw new Error(`The template has no element with the id "${id}".`);
      return found;
    },
  };
}
