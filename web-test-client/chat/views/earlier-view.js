/** The button above the messages, which loads earlier ones. It also tells that they are being loaded, or could not be. */
export class EarlierView {
  #button;
  #scroll;
  #words;
  #shown = null;

  /** `load()` loads earlier messages. */
  constructor(part, words, load) {
    this.#words = words;
    this.#button = part('earlier');
    this.#scroll = part('messages-scroll');
    this.#button.addEventListener('click', () => {
      if (!this.#isLoading) load();
    });
  }

  set words(words) {
    this.#words = words;
    if (this.#shown !== null) this.show(this.#shown);
  }

  /** `hasEarlier` is null where it is not known. `hasFailed`: the history could not be read. */
  show(shown) {
    this.#shown = shown;
    const { hasEarlier, isLoading, hasFailed } = shown;
    const hadFocus = this.#button.getRootNode().activeElement === this.#button;
    this.#button.hidden = !isLoading && !hasFailed && hasEarlier !== true;
    // A button that is disabled would lose the focus.
    this.#button.setAttribute('aria-disabled', String(isLoading));
    const key = isLoading ? 'loadingEarlier' : hasFailed ? 'earlierFailed' : 'showEarlier';
    this.#button.textContent = this.#words.text(key);
    if (hadFocus && this.#button.hidden) this.#scroll.focus({ preventScroll: true });
  }

  get #isLoading() {
    return this.#button.getAttribute('aria-disabled') === 'true';
  }
}
