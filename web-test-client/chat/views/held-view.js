import { heldText } from '../words/restriction-words.js';
import { make } from './dom.js';

/** The line of moderators above the messages: what holds in the session, each with “Undo”, and the freeze of the chat. */
export class HeldView {
  #line;
  #toggle;
  #panel;
  #list;
  #freeze;
  #words;
  #nameOf;
  #now;
  #undo;
  #held = [];

  /**
   * `nameOf(restriction)` is the name of whom it concerns. `undo(restriction, button)` lifts one, and
   * `freeze(button, isFrozen)` offers to freeze the chat, or lifts the freeze.
   */
  constructor(part, { words, now, nameOf, undo, freeze }) {
    this.#line = part('moderation');
    this.#toggle = part('moderation-toggle');
    this.#panel = part('moderation-panel');
    this.#list = part('held');
    this.#freeze = part('freeze');
    this.#words = words;
    this.#nameOf = nameOf;
    this.#now = now;
    this.#undo = undo;
    this.#toggle.addEventListener('click', () => this.#setOpen(this.#panel.hidden));
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.#setOpen(false);
      this.#toggle.focus();
    });
    this.#freeze.addEventListener('click', () => freeze(this.#freeze, this.#isFrozen));
  }

  set words(words) {
    this.#words = words;
    this.#write();
  }

  /** Whether the user is a moderator in a session that can be moderated. */
  set isShown(isShown) {
    this.#line.hidden = !isShown;
    if (!isShown) this.#setOpen(false);
  }

  /** What holds now. */
  show(held) {
    this.#held = held;
    this.#write();
  }

  get #isFrozen() {
    return this.#held.some(({ kind }) => kind === 'freeze');
  }

  #setOpen(isOpen) {
    this.#panel.hidden = !isOpen;
    this.#toggle.setAttribute('aria-expanded', String(isOpen));
  }

  #write() {
    const words = this.#words;
    const count = this.#held.length;
    this.#panel.setAttribute('aria-label', words.text('moderation'));
    this.#toggle.textContent = count === 0 ? words.text('moderation') : words.text('moderationCount', { count });
    this.#writeFreeze();
    const { activeElement } = this.#list.getRootNode();
    const hadFocus = this.#list.contains(activeElement);
    const none = make('li', { class: 'held-none' }, words.text('nothingHeld'));
    this.#list.replaceChildren(...(count === 0 ? [none] : this.#held.map((each) => this.#makeLine(each))));
    if (hadFocus) this.#toggle.focus();
  }

  /** The button has a menu with the times of a freeze, unless it lifts one. */
  #writeFreeze() {
    this.#freeze.textContent = this.#words.text(this.#isFrozen ? 'unfreeze' : 'freeze');
    if (this.#isFrozen) {
      for (const name of ['aria-haspopup', 'aria-expanded']) this.#freeze.removeAttribute(name);
    } else {
      this.#freeze.setAttribute('aria-haspopup', 'menu');
    }
  }

  #makeLine(restriction) {
    const sentence = heldText(this.#words, restriction, this.#nameOf(restriction), this.#now());
    const undo = this.#words.text('undo');
    const button = make('button', { type: 'button', class: 'link', 'aria-label': `${undo}: ${sentence}` }, undo);
    button.addEventListener('click', () => this.#undo(restriction, button));
    const { reason } = restriction;
    const more = reason ? make('span', { class: 'held-reason', dir: 'auto' }, reason) : null;
    return make('li', { part: 'held' }, make('span', { class: 'held-text' }, sentence), more, button);
  }
}
