/** The button above the messages, which loads earlier ones. It also tells that they are being loaded, or could not be. */
export class EarlierView {
  #button;
  #scroll;

  /** `load()` loads earlier messages. */
  constructor(part, load) {
    this.#button = part('earlier');
    this.#scroll = part('messages-scroll');
    this.#button.addEventListener('click', () => {
      if (!this.#isLoading) load();
    });
  }

  /** `hasEarlier` is null where it is not known. `hasFailed`: the history could not be read. */
  show({ hasEarlier, isLoading, hasFailed }) {
    const hadFocus = this.#button.getRootNode().activeElement === this.#button;
    this.#button.hidden = !isLoading && !hasFailed && hasEarlier !== true;
    // A button that is disabled would lose the focus.
    this.#button.setAttribute('aria-disabled', String(isLoading));
    this.#button.textContent = isLoading
      ? 'Loading earlier messages…'
      : hasFailed
        ? 'Earlier messages could not be loaded. Try again'
        : 'Show earlier messages';
    if (hadFocus && this.#button.hidden) this.#scroll.focus({ preventScroll: true });
  }

  get #isLoading() {
    return this.#button.getAttribute('aria-disabled') === 'true';
  }
}
