import { make } from './dom.js';
import { placeAt } from './popover-place.js';

/**
 * A menu at a button, with a command in each line. The arrow keys, Home and End choose a command, Escape and a click
 * elsewhere close the menu, and the focus goes back to its button.
 */
export class ActionMenu {
  #menu;
  #button = null;

  constructor(part) {
    this.#menu = part('action-menu');
    this.#menu.addEventListener('keydown', (event) => this.#pressed(event));
    this.#menu.addEventListener('toggle', ({ newState }) => {
      if (newState === 'closed') this.#closed();
    });
  }

  /** Opens the menu, or closes it if it is open at this button. `items` are `{text, act, isDanger}`;
   * `act(button, event)` gets the click. */
  open(button, label, items) {
    const wasOpenHere = this.#button === button;
    this.close();
    if (wasOpenHere) return;
    this.#button = button;
    button.setAttribute('aria-expanded', 'true');
    this.#menu.setAttribute('aria-label', label);
    this.#menu.replaceChildren(...items.map((item) => this.#makeItem(item)));
    this.#menu.showPopover?.();
    placeAt(this.#menu, button);
    this.#menu.firstElementChild.focus();
  }

  close() {
    this.#menu.hidePopover?.();
    this.#closed();
  }

  #closed() {
    const button = this.#button;
    if (button === null) return;
    this.#button = null;
    button.setAttribute('aria-expanded', 'false');
    // A click elsewhere has moved the focus already.
    const { activeElement } = this.#menu.getRootNode();
    if (activeElement === null || this.#menu.contains(activeElement)) button.focus({ preventScroll: true });
  }

  #makeItem({ text, act, isDanger = false }) {
    const look = isDanger ? 'danger' : null;
    const item = make('button', { type: 'button', role: 'menuitem', tabindex: '-1', class: look }, text);
    item.addEventListener('click', (event) => {
      const button = this.#button;
      this.close();
      act(button, event);
    });
    return item;
  }

  #pressed(event) {
    const items = [...this.#menu.children];
    const at = items.indexOf(event.target);
    const targets = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (Object.hasOwn(targets, event.key)) items.at(targets[event.key] % items.length).focus();
    else if (event.key === 'Escape' || event.key === 'Tab') this.close();
    else return;
    event.preventDefault();
    // A page that closes its dialog on Escape does not take this key for its own.
    event.stopPropagation();
  }
}
