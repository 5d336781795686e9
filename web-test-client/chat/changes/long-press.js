/** How long a finger rests on a message, in milliseconds, before its menu opens. */
const PRESS_MILLISECONDS = 500;

/** So far a resting finger may move, in pixels. */
const SLACK = 10;

/** What a long press on it does, the browser knows. */
const OF_BROWSER = 'a, button, textarea, .bubble.custom';

/**
 * Opens the menu of a message for a finger that rests on it: the message is chosen at once, and the menu opens when the
 * finger leaves, because a release closes what opened before it. A list that scrolls ends the press.
 */
export class LongPress {
  #scroll;
  #choose;
  #timer = null;
  /** Where the finger has come down, and on which row. */
  #start = null;
  #row = null;

  /** `choose(row)` chooses the message of the element of a row. */
  constructor(scroll, choose) {
    this.#scroll = scroll;
    this.#choose = choose;
    scroll.addEventListener('pointerdown', (event) => this.#began(event));
    scroll.addEventListener('pointermove', (event) => this.#moved(event));
    scroll.addEventListener('pointerup', () => this.#released());
    for (const name of ['pointercancel', 'scroll']) scroll.addEventListener(name, () => this.#end(), { passive: true });
    // The browser's own menu of a text.
    scroll.addEventListener('contextmenu', (event) => {
      if (this.#row !== null) event.preventDefault();
    });
  }

  #began({ target, pointerType, isPrimary, clientX, clientY }) {
    this.#end();
    const row = target.closest('[data-kind="message"]');
    if (pointerType === 'mouse' || !isPrimary || !row?.querySelector('.row-menu') || target.closest(OF_BROWSER)) return;
    this.#start = { x: clientX, y: clientY };
    this.#timer = setTimeout(() => {
      this.#row = row;
      this.#choose(row);
    }, PRESS_MILLISECONDS);
  }

  #moved({ clientX, clientY }) {
    if (this.#start === null || this.#row !== null) return;
    if (Math.hypot(clientX - this.#start.x, clientY - this.#start.y) > SLACK) this.#end();
  }

  #released() {
    const row = this.#row;
    this.#end();
    if (row === null) return;
    // Behind the click of this release, which would choose the message no longer.
    const stop = (event) => event.stopPropagation();
    this.#scroll.addEventListener('click', stop, true);
    setTimeout(() => {
      this.#scroll.removeEventListener('click', stop, true);
      row.querySelector('.row-menu')?.click();
    }, 0);
  }

  #end() {
    clearTimeout(this.#timer);
    this.#start = null;
    this.#row = null;
  }
}
