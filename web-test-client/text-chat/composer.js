// The rules of the text field: how long a message may be, and what is left. Lengths are UTF-16 units, which is what
// JavaScript's `length` counts.

export const MAX_LENGTH = 1000;

/** From here on the remaining count is a warning. */
export const FEW_LEFT = 10;

/** May be negative: a lowered maximum does not cut what is written already. */
export function remaining(text, maxLength = MAX_LENGTH) {
  return maxLength - text.length;
}

/** An edit is taken whole or not at all; one that makes the text shorter is always taken. */
export function acceptsEdit(text, replacedLength, inserted, maxLength = MAX_LENGTH) {
  return inserted.length <= replacedLength || text.length - replacedLength + inserted.length <= maxLength;
}

/** Nothing typed is nothing to send; blanks are something. */
export function canSend(text, maxLength = MAX_LENGTH) {
  return text.length > 0 && text.length <= maxLength;
}
