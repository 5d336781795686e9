/** Keys that edit a text, or move in it, also together with Ctrl, Alt, Shift or Command. */
const EDITING_KEYS = new Set([
  'Enter', 'Backspace', 'Delete', 'Insert', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp',
  'PageDown', 'Clear', 'Copy', 'Cut', 'Paste', 'Undo', 'Redo',
]);

/** Names of keys that are part of a text that is being composed. */
const COMPOSING_KEYS = new Set(['Dead', 'Process', 'Compose', 'Unidentified']);

/** With Ctrl or Command: select all, copy, cut, paste, undo, redo. */
const EDITING_LETTERS = new Set(['a', 'c', 'x', 'v', 'z', 'y']);

/**
 * Whether a key belongs to the text field that it is pressed in, and the page must not hear of it. The page sees the
 * whole chat as the target, no text field, so its shortcuts of one key would answer to typed letters, and its Ctrl+Z
 * would undo something of the page.
 *
 * The page keeps what users press to leave the field or to command the page: Escape, Tab, function keys, the modifiers
 * alone, and all other combinations with Ctrl, Alt or Command. `hasOptionKey`: the Alt key of an Apple keyboard types
 * characters.
 */
export function isKeptKey(event, hasOptionKey) {
  // Escape ends a composition, not a dialog of the page.
  if (event.isComposing || COMPOSING_KEYS.has(event.key) || EDITING_KEYS.has(event.key)) return true;
  const isCharacter = [...(event.key ?? '')].length === 1;
  if (!isCharacter) return false;
  // The third level of a keyboard, which Windows reports as Ctrl+Alt: @ on a German one.
  if (event.getModifierState?.('AltGraph')) return true;
  if (event.ctrlKey || event.metaKey) return !event.altKey && EDITING_LETTERS.has(event.key.toLowerCase());
  return hasOptionKey || !event.altKey;
}
