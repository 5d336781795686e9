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

export function timeOfDay(milliseconds, withSeconds = false) {
  return new Date(milliseconds).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? { second: '2-digit' } : {}),
  });
}

const HUES = 8;

/** One of the palette's colours, the same for the same text on every page. */
export function hueOf(text) {
  let sum = 0;
  for (const character of String(text)) sum = (sum * 31 + character.codePointAt(0)) % 65_521;
  return `hue-${sum % HUES}`;
}

export function avatar(name, id) {
  const [initial = '?'] = name.trim();
  return make('span', { class: `avatar ${hueOf(id)}`, 'aria-hidden': 'true' }, initial.toUpperCase());
}
