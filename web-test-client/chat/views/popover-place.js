import { windowOf } from './dom.js';

/** Pixels between a button and what opens at it. */
const GAP = 4;

/** Puts a popover below its button, or above it where there is no space; with `isAbove` the other way round. */
export function placeAt(popover, button, isAbove = false) {
  const { innerWidth, innerHeight } = windowOf(popover);
  const { top, bottom, right } = button.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const above = top - GAP - height;
  const below = bottom + GAP;
  const isBelow = isAbove ? above < GAP : below + height <= innerHeight;
  popover.style.left = `${Math.max(GAP, Math.min(right - width, innerWidth - width - GAP))}px`;
  popover.style.top = `${Math.max(GAP, Math.min(isBelow ? below : above, innerHeight - height - GAP))}px`;
}
