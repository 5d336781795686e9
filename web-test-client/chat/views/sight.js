import { windowOf } from './dom.js';

/** As much of the target must be in the view. */
const SHARE = 0.5;

/**
 * Whether the user can see an element: it is in the view of its page and of the pages around it, nothing has clipped it
 * or made it flat, and neither it nor what it is in is transparent or hidden.
 *
 * The browser tells of what moves, shrinks and clips. Of `opacity` and `visibility` it tells nothing: ask for `isSeen` when
 * it matters.
 */
export class Sight {
  #target;
  #changed;
  #observer = null;
  #isInView = false;

  /** `changed()` is called when the target comes into the view or leaves it. */
  constructor(target, changed) {
    this.#target = target;
    this.#changed = changed;
  }

  /** The target is in this window now. */
  watch() {
    this.#observer?.disconnect();
    this.#observer = new (windowOf(this.#target).IntersectionObserver)((entries) => {
      const { intersectionRatio, isIntersecting } = entries.at(-1);
      this.#isInView = isIntersecting && intersectionRatio >= SHARE;
      this.#changed();
    }, { threshold: SHARE });
    this.#observer.observe(this.#target);
  }

  get isInView() {
    return this.#isInView && !this.#target.ownerDocument.hidden;
  }

  get isSeen() {
    if (!this.isInView) return false;
    // A flat one, such as with `transform: scale(0)`, is in the view as a whole.
    const { width, height } = this.#target.getBoundingClientRect();
    return width * height > 0 && isShown(this.#target);
  }
}

/** Whether the page shows an element. One in a frame may be hidden by the page around it. */
export function isShown(element) {
  // jsdom shows nothing, and has no such method.
  if (element.checkVisibility?.({ checkOpacity: true, checkVisibilityCSS: true }) === false) return false;
  const { frameElement } = windowOf(element);
  return !frameElement || isShown(frameElement);
}
