import { make, windowOf } from '../views/dom.js';
import { lineOf } from './reply-bar.js';

/** How long a message is marked to which a quote has led, in milliseconds. */
const MARK_MILLISECONDS = 2000;

/** What rows show of changes: the quote of the message that they answer, and that they were edited. */
export class RowMarks {
  #room;
  /** The rows that quote another message and have an element. */
  #quoting = new Set();
  #isAwaited = false;
  #count = 0;

  /**
   * `text(key)` are texts of the part, `about(message)` is “Reply to Ada”, and `missing()` is called if a quoted message
   * cannot be shown.
   */
  constructor(room) {
    this.#room = room;
  }

  decorate(shown) {
    const { element, row: { message } } = shown;
    // Most rows.
    if (!message.editedAt && !message.replyTo && !element.dataset.marks) return;
    this.#showQuote(shown);
    this.#showEdited(shown);
    this.#describe(shown);
  }

  removed(shown) {
    this.#quoting.delete(shown);
  }

  clear() {
    this.#quoting.clear();
  }

  /** Rows have changed: a quoted message may be another one now. Once for each frame. */
  changed() {
    if (this.#quoting.size === 0 || this.#isAwaited) return;
    this.#isAwaited = true;
    windowOf(this.#room.part('messages')).requestAnimationFrame(() => {
      this.#isAwaited = false;
      for (const shown of [...this.#quoting]) {
        if (shown.element === null) this.#quoting.delete(shown);
        else this.decorate(shown);
      }
    });
  }

  /** What appears at a message that is there is no new message: a screen reader does not read it out. */
  hush(element) {
    if (element.isConnected) element.setAttribute('aria-live', 'off');
  }

  #showEdited({ element, row: { message } }) {
    const { text, words } = this.#room;
    const isEdited = Boolean(message.editedAt) && !message.isErased;
    let mark = element.querySelector('.edited');
    if (!isEdited) {
      mark?.remove();
      return;
    }
    if (mark === null) {
      this.hush(element);
      mark = make('span', { class: 'edited', part: 'edited' });
      const bubble = element.querySelector('.bubble');
      (bubble.closest('.bubble-line') ?? bubble).after(mark);
    }
    mark.textContent = text('edited');
    mark.title = text('editedAt', { time: { text: words().dayAndTime(message.editedAt) } });
  }

  #showQuote(shown) {
    const { element, row: { message } } = shown;
    const quote = message.isErased || !message.replyTo ? null : this.#room.chat().quoteOf(message);
    const before = element.querySelector('.quote');
    if (quote === null) {
      before?.remove();
      this.#quoting.delete(shown);
      return;
    }
    this.#quoting.add(shown);
    const made = this.#makeQuote(quote, shown);
    if (before?.id) made.id = before.id;
    // An unchanged one keeps the focus.
    if (before?.outerHTML !== undefined && before.outerHTML === made.outerHTML) return;
    this.hush(element);
    (before ?? element.querySelector('.row-header')).after(made);
    before?.remove();
  }

  #makeQuote({ state, message }, shown) {
    const { text, about, nameOf } = this.#room;
    const isShown = state === 'shown';
    const line = isShown ? lineOf(message.text) : text(state === 'deleted' ? 'erased' : 'earlierMessage');
    const name = isShown && (message.direction === 'sent' ? text('you') : nameOf(message));
    const content = [
      make('span', { class: 'visually-hidden' }, `${isShown ? about(message) : text('reply')}: `),
      isShown ? make('bdi', { class: 'quote-name', 'aria-hidden': 'true' }, name) : null,
      make('bdi', { class: 'quote-line' }, line),
    ];
    if (state === 'deleted') return make('p', { class: 'quote', part: 'quote', 'data-state': state }, ...content);
    // The keyboard reaches that of the chosen message.
    const tabindex = shown.element.classList.contains('chosen') ? '0' : '-1';
    const attributes = { type: 'button', class: 'quote', part: 'quote', 'data-state': state, tabindex };
    const button = make('button', attributes, ...content);
    button.addEventListener('click', () => this.#follow(shown, button));
    return button;
  }

  /** A screen reader reads the marks with the chosen message. */
  #describe({ element }) {
    const marks = ['.quote', '.edited'].map((selector) => element.querySelector(selector)).filter((each) => each !== null);
    for (const each of marks) if (!each.id) each.id = `mark-${(this.#count += 1)}`;
    if (marks.length > 0) element.dataset.marks = marks.map(({ id }) => id).join(' ');
    else element.removeAttribute('data-marks');
  }

  /** Shows the quoted message, which is loaded first if the list does not reach back so far. */
  async #follow({ row: { message } }, button) {
    const { chat, messages, missing, text } = this.#room;
    const isByKey = button.matches(':focus-visible');
    const line = button.querySelector('.quote-line');
    const before = line.textContent;
    if (button.dataset.state === 'earlier') line.textContent = text('loadingEarlier');
    const id = await chat().loadQuoted(message).catch(() => null);
    line.textContent = before;
    const found = id === null ? null : messages().finder.rowOf(id);
    if (found === null) {
      missing();
      return;
    }
    const element = messages().finder.reveal(found);
    if (isByKey) messages().finder.choose(found);
    element.classList.add('found');
    setTimeout(() => element.classList.remove('found'), MARK_MILLISECONDS);
  }
}
