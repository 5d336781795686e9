import { make } from '../views/dom.js';
import { placeAt } from '../views/popover-place.js';
import { shownKey } from './reaction-key.js';

/**
 * The few emoji with which a user reacts, in a line at a button. The arrow keys, Home and End choose one, Escape and a
 * click elsewhere close it, and the focus goes back to the button.
 */
export class ReactionPicker {
  #panel = make('div', { class: 'reaction-picker', part: 'reaction-picker', popover: '', role: 'menu' });
  #button = null;

  constructor(frame) {
    frame.append(this.#panel);
    this.#panel.addEventListener('keydown', (event) => this.#pressed(event));
    this.#panel.addEventListener('toggle', ({ newState }) => {
      if (newState === 'closed') this.#closed();
    });
  }

  /** `own` are the keys of the user on the message, and `act(key)` gets the chosen one. */
  open(button, { label, keys, own, act }) {
    const wasOpenHere = this.#button === button;
    this.close();
    if (wasOpenHere) return;
    this.#button = button;
    button.setAttribute('aria-expanded', 'true');
    this.#panel.setAttribute('aria-label', label);
    this.#panel.replaceChildren(...keys.map((key) => this.#makeItem(key, own.includes(key), act)));
    this.#panel.showPopover?.();
    // The message stays in sight.
    placeAt(this.#panel, button, true);
    this.#panel.firstElementChild?.focus();
  }

  close() {
    this.#panel.hidePopover?.();
    this.#closed();
  }

  #closed() {
    const button = this.#button;
    if (button === null) return;
    this.#button = null;
    button.setAttribute('aria-expanded', 'false');
    // A click elsewhere has moved the focus already.
    const { activeElement } = this.#panel.getRootNode();
    if (activeElement === null || this.#panel.contains(activeElement)) button.focus({ preventScroll: true });
  }

  #makeItem(key, isMine, act) {
    const attributes = { type: 'button', role: 'menuitemcheckbox', 'aria-checked': String(isMine), tabindex: '-1' };
    const item = make('button', attributes, make('bdi', {}, shownKey(key).text));
    item.addEventListener('click', () => {
      this.close();
      act(key);
    });
    return item;
  }

  #pressed(event) {
    const items = [...this.#panel.children];
    const at = items.indexOf(event.target);
    const step = getComputedStyle(this.#panel).direction === 'rtl' ? -1 : 1;
    const targets = { ArrowRight: at + step, ArrowLeft: at - step, ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (Object.hasOwn(targets, event.key)) items.at(targets[event.key] % items.length).focus();
    else if (event.key === 'Escape' || event.key === 'Tab') this.close();
    else return;
    event.preventDefault();
    // A page that closes its dialog on Escape does not take this key for its own.
    event.stopPropagation();
  }
}
