// Small words for building the page. Text goes in as text, always: nothing here can make markup out of it.

export function find(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}

/** `make('li', { class: 'row', title: '…' }, 'text', child, …)`. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Attributes that name elements by their ids. */
const REFERENCES = ['id', 'for', 'aria-labelledby', 'aria-describedby', 'aria-controls'];

/**
 * A copy of a template, its ids ending in `suffix`, so that a page may hold it twice: `{element, part}`, where `part(id)` finds
 * by the template's own ids.
 */
export function instantiate(template, suffix) {
  const element = find(template).content.firstElementChild.cloneNode(true);
  for (const each of [element, ...element.querySelectorAll('*')]) {
    for (const name of REFERENCES) {
      const value = each.getAttribute(name);
      if (value !== null) each.setAttribute(name, value.split(' ').map((id) => id + suffix).join(' '));
    }
  }
  return {
    element,
    part(id) {
      const found = element.id === id + suffix ? element : element.querySelector(`#${id}${suffix}`);
      if (!found) throw new Error(`the template has no element "${id}"`);
      return found;
    },
  };
}

const shortTime = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });
const longTime = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export function timeOfDay(milliseconds, withSeconds = false) {
  return (withSeconds ? longTime : shortTime).format(milliseconds);
}

const HUES = 8;

/** One of the palette's colours, the same for the same text on every page. */
export function hueOf(text) {
  let sum = 0;
  for (const character of String(text)) sum = (sum * 31 + character.codePointAt(0)) % 65_521;
  return `hue-${sum % HUES}`;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

export function avatar(name, id) {
  const [first] = graphemes.segment(name.trim() || '?');
  return make('span', { class: `avatar ${hueOf(id)}`, 'aria-hidden': 'true' }, first.segment.toUpperCase());
}
