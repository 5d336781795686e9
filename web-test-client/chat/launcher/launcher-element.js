import { LAUNCHER_STYLE } from './launcher-style.js';
import { wordsIn } from './launcher-words.js';

/** Programs that render pages on a server load this module there, where there are no elements. */
const Base = typeof HTMLElement === 'function' ? HTMLElement : class {};

/** Attributes of the launcher itself; all others are those of the chat. */
const OWN = new Set('open load sound notice muted side id class style slot hidden dir lang'.split(' '));

/** Promises a module, `chat` or `signals`. */
let loadModule = null;

/** Tells where the modules are: the first copy of this script decides. */
export function useLoader(load) {
  loadModule ??= load;
}

const BUBBLE = 'M4 5h16v11H10l-5 4v-4H4z';
const CROSS = 'M6 6l12 12M18 6L6 18';

/**
 * `<signalbox-launcher session="…" api-key="…" token="…">`: a bubble in the corner of a page that opens a chat. The chat
 * loads at the first opening, and stays connected while it is closed. docs/chat-element.md describes it.
 */
export class SignalboxLauncher extends Base {
  #root;
  #button;
  #panel;
  #count = 0;
  #chat = null;
  #loading = null;
  #watch = null;
  #signals = null;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    this.#root = root;
    this.#panel = make('div', { id: 'panel', part: 'panel', role: 'dialog', hidden: '' }, make('slot', {}));
    this.#button = make('button', { id: 'bubble', part: 'bubble', type: 'button' });
    root.append(this.#panel, this.#button);
    this.#button.addEventListener('click', () => this.toggle());
    this.addEventListener('keydown', (event) => {
      const isInDialog = event.composedPath().some((each) => each.localName === 'dialog');
      if (event.key !== 'Escape' || event.defaultPrevented || isInDialog || !this.isOpen) return;
      event.stopPropagation();
      this.close();
    });
    this.addEventListener('signalbox-unread', ({ detail }) => this.#show(detail.count));
    this.addEventListener('signalbox-message', ({ detail }) => this.#signals?.received(detail.message));
  }

  connectedCallback() {
    const sheet = new this.ownerDocument.defaultView.CSSStyleSheet();
    sheet.replaceSync(LAUNCHER_STYLE);
    this.#root.adoptedStyleSheets = [sheet];
    this.#watch = new MutationObserver(() => this.#passOn());
    this.#watch.observe(this, { attributes: true });
    this.#show(this.#count);
    if (this.hasAttribute('open')) this.open();
    else if (this.getAttribute('load') === 'idle') setTimeout(() => this.load().catch(() => {}), 1000);
  }

  disconnectedCallback() {
    this.#watch.disconnect();
  }

  /** The chat; null before it is loaded. */
  get chat() {
    return this.#chat;
  }

  get isOpen() {
    return !this.#panel.hidden;
  }

  get unreadCount() {
    return this.#count;
  }

  /** Loads the chat without opening it, and promises it: from then on the bubble counts. */
  load() {
    return (this.#loading ??= this.#load().catch((error) => {
      this.#loading = null;
      throw error;
    }));
  }

  /** Opens the chat, and gives its field the focus. */
  async open() {
    this.#setOpen(true);
    try {
      const chat = await this.load();
      this.#signals?.ask();
      if (!this.isOpen) return;
      chat.noteReading();
      chat.focus({ preventScroll: true });
    } catch (error) {
      console.error('<signalbox-launcher>: the chat could not be loaded.', error);
      this.#setOpen(false);
    }
  }

  /** Closes the chat, which stays connected. The bubble gets the focus if it was inside. */
  close() {
    if (!this.isOpen) return;
    const hadFocus = this.contains(this.ownerDocument.activeElement);
    this.#setOpen(false);
    this.#chat?.noteReading();
    if (hadFocus) this.#button.focus();
  }

  toggle() {
    if (this.isOpen) this.close();
    else this.open();
  }

  #setOpen(isOpen) {
    if (isOpen === this.isOpen) return;
    this.#panel.hidden = !isOpen;
    this.toggleAttribute('open', isOpen);
    this.#show(this.#count);
    this.dispatchEvent(new CustomEvent('signalbox-launcher', { detail: { isOpen }, bubbles: true, composed: true }));
  }

  /** The chat is a child, so that the page can style it and listen to it. A page may put one there itself. */
  async #load() {
    await loadModule('chat');
    if (this.matches('[sound=on], [notice=on]')) {
      const { Signals } = await loadModule('signals');
      this.#signals = new Signals(this);
    }
    this.#chat = this.querySelector('signalbox-chat') ?? document.createElement('signalbox-chat');
    this.#passOn();
    // A field takes no focus before its chat is connected.
    const focus = ({ detail }) => {
      if (detail.state !== 'connected') return;
      this.removeEventListener('signalbox-state', focus);
      if (this.isOpen && this.matches(':focus-within')) this.#chat.focus();
    };
    this.addEventListener('signalbox-state', focus);
    if (this.#chat.parentNode === null) this.append(this.#chat);
    return this.#chat;
  }

  /** The attributes are those of the chat, also when they change. */
  #passOn() {
    if (this.hasAttribute('open') !== this.isOpen) this.toggle();
    if (this.#chat === null) return;
    for (const { name, value } of this.attributes) {
      if (!OWN.has(name) && this.#chat.getAttribute(name) !== value) this.#chat.setAttribute(name, value);
    }
  }

  #show(count) {
    this.#count = count;
    const words = wordsIn(this.closest('[lang]')?.lang || navigator.language);
    const { isOpen } = this;
    const label = isOpen ? words.close : words.open;
    this.#panel.setAttribute('aria-label', words.chat);
    this.#button.setAttribute('aria-label', count > 0 && !isOpen ? `${label} (${words.unread}: ${count})` : label);
    this.#button.setAttribute('aria-expanded', String(isOpen));
    const badge = count > 0 && !isOpen ? make('span', { id: 'badge', part: 'badge' }, count > 99 ? '99+' : String(count)) : '';
    this.#button.replaceChildren(icon(isOpen ? CROSS : BUBBLE), badge);
  }
}

function make(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function icon(path) {
  const [svg, shape] = ['svg', 'path'].map((tag) => document.createElementNS('http://www.w3.org/2000/svg', tag));
  svg.setAttribute('viewBox', '0 0 24 24');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}
