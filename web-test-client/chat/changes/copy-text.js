import { make } from '../views/dom.js';

/** Puts a text into the clipboard. Promises whether the browser has done so. `near` is an element of the chat. */
export async function copyText(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, near);
  }
}

/** A page without TLS has no clipboard, and a frame needs a permission for it: there the browser copies what is selected. */
function copySelected(text, near) {
  const { activeElement } = near.getRootNode();
  const field = make('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
  field.value = text;
  near.append(field);
  field.select();
  // The page must not get, or change, what is copied.
  field.addEventListener('copy', (event) => event.stopPropagation());
  const isCopied = near.ownerDocument.execCommand('copy');
  field.remove();
  activeElement?.focus({ preventScroll: true });
  return isCopied;
}
