import { windowOf } from './dom.js';

/** Pixels between a button and what opens at it. */
const GAP = 4;

/** Puts a popover below its button, or above it where there is no space. */
export function placeAt(popover, button) {
  const { innerWidth, innerHeight } = windowOf(popover);
  const { top, bottom, right } = button.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const below = bottom + GAP + height <= innerHeight ? bottom + GAP : top - GAP - height;
  popover.style.left = `${Math.max(GAP, Math.min(right - width, innerWidth - width - GAP))}px`;
  popover.style.top = `${Math.max(GAP, Math.min(below, innerHeight - height - GAP))}px`;
}
