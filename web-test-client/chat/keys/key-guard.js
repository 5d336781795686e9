import { isKeptKey } from './kept-keys.js';

const KEY_EVENTS = ['keydown', 'keypress', 'keyup'];

/** What the field itself acts upon. */
const ACTIONS = ['keydown', 'paste'];

/** The page would handle them as its own, as it sees no text field in their target. */
const CLIPBOARD_EVENTS = ['copy', 'cut', 'paste'];

/** What happens inside of the text field. To the page, these events would be of an element without a value. */
const INNER_EVENTS = ['beforeinput', 'input', 'compositionstart', 'compositionupdate', 'compositionend'];

/** Text field → what its keys and pasted content do. */
const actions = new WeakMap();

/**
 * Keeps the keys of a text field in a shadow tree from the page, see `isKeptKey`, with what they copy, paste and type.
 * `act(event)` gets each `keydown` and `paste`.
 */
export function keepKeys(field, act) {
  actions.set(field, act);
  for (const name of ACTIONS) field.addEventListener(name, act);
  const guard = (event) => {
    if (isKept(event)) event.stopPropagation();
  };
  for (const name of [...KEY_EVENTS, ...CLIPBOARD_EVENTS, ...INNER_EVENTS]) field.addEventListener(name, guard);
}

/**
 * Keeps them from listeners of this window that capture events, too. Only listeners that the window has had before stay
 * ahead of this one. In a closed shadow tree of the page, the window does not see the field: listeners that capture
 * hear of it there.
 */
export function guardWindow(window) {
  // The same listener is added once. `document.open` removes it.
  for (const name of [...KEY_EVENTS, ...CLIPBOARD_EVENTS]) window.addEventListener(name, stop, true);
}

function stop(event) {
  const act = actions.get(event.composedPath()[0]);
  if (act === undefined || !isKept(event)) return;
  event.stopImmediatePropagation();
  // The event does not reach the field any more. The browser types or pastes all the same.
  if (ACTIONS.includes(event.type)) act(event);
}

function isKept(event) {
  return !KEY_EVENTS.includes(event.type) || isKeptKey(event, hasOptionKey());
}

function hasOptionKey() {
  return /^(Mac|iP)/.test(globalThis.navigator?.platform ?? '');
}
