import { make } from '../views/dom.js';

/** A line above the input field with a text that the user wrote for a message that is gone, to copy. */
export class SavedText {
  #room;
  #line = make('div', { class: 'saved-text', role: 'status', hidden: '' });

  /** `text(key)` are texts of the part, and `copy(text)` copies. */
  constructor(room) {
    this.#room = room;
    room.part('composer').prepend(this.#line);
  }

  show(written) {
    const { text, copy } = this.#room;
    const button = (key, act) => {
      const made = make('button', { type: 'button', class: 'link' }, text(key));
      made.addEventListener('click', act);
      return made;
    };
    this.#line.replaceChildren(
      make('p', {}, text('editLostAside')), make('p', { class: 'saved-content', dir: 'auto' }, written),
      button('copy', () => copy(written)), button('discard', () => this.#close()),
    );
    this.#line.hidden = false;
  }

  #close() {
    this.hide();
    this.#room.composer().focus();
  }

  hide() {
    this.#line.hidden = true;
  }
}
