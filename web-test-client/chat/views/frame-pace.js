/** Nobody can read more new rows than this in one frame. */
const READABLE_ROWS = 10;

/** How long a user does not notice that rows wait. */
const REST_MILLISECONDS = 120;

/**
 * Shows changes with the next frame, however many there are before it. After a frame with more new rows than a user can
 * read, it rests, so that the browser has time for the user's input: a user can type while thousands of messages arrive
 * in a second.
 */
export class FramePace {
  #show;
  #isWaiting = false;
  #newRowCount = 0;
  #isResting = false;
  #window;
  /** The window of the frame that it waits for. */
  #asked = null;

  /** `show()` is called in a frame of `window()`. */
  constructor(show, window = () => globalThis) {
    this.#show = show;
    this.#window = window;
  }

  /** There is something to show. `rowCount`: how many rows are new. */
  request(rowCount = 0) {
    this.#newRowCount += rowCount;
    if (this.#isWaiting && this.#asked === this.#window()) return;
    this.#isWaiting = true;
    if (!this.#isResting) this.#ask();
  }

  /** A window that is hidden or closed has no frames: the rows may have been moved to another one meanwhile. */
  #ask() {
    const asked = this.#window();
    this.#asked = asked;
    asked.requestAnimationFrame(() => {
      if (this.#isWaiting && this.#asked === asked) this.#frame();
    });
  }

  #frame() {
    this.#isWaiting = false;
    this.#asked = null;
    if (this.#newRowCount > READABLE_ROWS) this.#rest();
    this.#newRowCount = 0;
    this.#show();
  }

  #rest() {
    this.#isResting = true;
    setTimeout(() => {
      this.#isResting = false;
      if (this.#isWaiting) this.#ask();
    }, REST_MILLISECONDS);
  }
}
