/** Where the focus goes when the control that has it is disabled or hidden, and when the user can write again. */
export class FocusKeeper {
  #host;
  #next;
  /** The control that got the focus when the one that had it was disabled or hidden. */
  #movedTo = null;
  /** The element has `autofocus`, and the user could not write yet. */
  #awaitsField = false;

  /** `next()` is the control that gets the focus of one that goes. `host.focus()` focuses the field. */
  constructor(host, next) {
    this.#host = host;
    this.#next = next;
  }

  /**
   * Does something that may disable or hide the control with the focus. The browser would move the focus out of the
   * chat, and a user of the keyboard would start again at the beginning of the page.
   */
  keep(act) {
    const before = this.#host.shadowRoot.activeElement;
    act();
    if (before === null || (!before.disabled && !before.closest('[hidden]'))) return;
    const next = this.#next();
    next.focus({ preventScroll: true });
    this.#movedTo = next;
  }

  /** The element has come into a page. `autofocus` waits until the user can write. */
  arrived({ canWrite }) {
    this.#awaitsField = this.#host.autofocus && !canWrite;
  }

  /** The user can write now. A control that they have chosen meanwhile keeps the focus. */
  canWrite() {
    const holder = this.#movedTo;
    this.#movedTo = null;
    const wasMoved = holder !== null && this.#host.shadowRoot.activeElement === holder;
    if (wasMoved || (this.#awaitsField && this.#isPageFree())) this.#host.focus();
    this.#awaitsField = false;
  }

  /** As for a built-in field with `autofocus`: neither the user nor the address of the page has chosen another place. */
  #isPageFree() {
    const { activeElement, body } = this.#host.ownerDocument;
    const isFree = activeElement === null || activeElement === body;
    return isFree && this.#host.ownerDocument.querySelector(':target') === null;
  }
}
