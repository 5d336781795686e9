/**
 * The button above the messages, which loads earlier ones. It also tells that they are being loaded, or could not be, and
 * what it means that there are none.
 */
export class EarlierView {
  #empty;
  #button;
  #scroll;
  #words;
  #shown = null;

  /** `load()` loads earlier messages. */
  constructor(part, words, load) {
    this.#words = words;
    this.#button = part('earlier');
    this.#scroll = part('messages-scroll');
    this.#empty = part('empty-text');
    this.#button.addEventListener('click', () => {
      if (!this.#isLoading) load();
    });
  }

  set words(words) {
    this.#words = words;
    if (this.#shown !== null) this.show(this.#shown);
  }

  /** Shows what this chat knows of its history. `mayWrite`: the user can write the first message. */
  show(shown) {
    this.#shown = shown;
    const { chat, mayWrite } = shown;
    const { hasEarlier, isLoadingEarlier: isLoading, historyError, channel } = chat;
    const hasFailed = historyError !== null;
    const isNothingKept = (channel?.connectionId ?? null) !== null && !(channel.hasHistory ?? false);
    const emptyKey = hasEarlier === false ? (mayWrite ? 'noMessages' : 'noMessagesToRead')
      : isNothingKept ? 'fromNowOn' : null;
    this.#empty.textContent = emptyKey === null ? '' : this.#words.text(emptyKey);
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
