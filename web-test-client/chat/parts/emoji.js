// The part with the emoji of `<signalbox-chat>`: it loads when the user wants the first one.
import { EMOJI_STYLE } from '../emoji/emoji-style.js';
import { EmojiBook, withTone } from '../emoji/search.js';
import { make, windowOf } from '../views/dom.js';

const TONE_KEY = 'signalbox-emoji-tone';
const HAND = '✋';
const SUGGESTION_COUNT = 6;
/** Pixels between the button and the panel. */
const GAP = 6;

/**
 * The emoji at their button, with a search and skin tones, and the suggestions for a shortcode at the field. The arrow
 * keys choose, Enter inserts, Escape closes.
 */
export class EmojiPanel {
  #button;
  #field;
  #book = null;
  #labels = [];
  #panel;
  #search;
  #tones;
  #list;
  #none;
  #suggestions;
  #shortcode = '';
  #tone = storedTone();

  constructor(button, field, { keepKeys, addStyle }) {
    this.#button = button;
    this.#field = field;
    const root = button.getRootNode();
    addStyle(root, EMOJI_STYLE);
    this.#search = make('input', { type: 'search', class: 'emoji-search', autocomplete: 'off', 'aria-controls': 'emoji-list' });
    this.#tones = make('div', { class: 'emoji-tones', role: 'radiogroup' });
    this.#list = make('div', { id: 'emoji-list', class: 'emoji-list', role: 'listbox', tabindex: '-1' });
    this.#none = make('p', { class: 'emoji-none', role: 'status' });
    const top = make('div', { class: 'emoji-top' }, this.#search, this.#tones);
    const attributes = { id: 'emoji-panel', class: 'emoji-panel', part: 'emoji-panel', popover: '', role: 'dialog' };
    this.#panel = make('div', attributes, top, this.#none, this.#list);
    this.#suggestions = make('div', {
      id: 'emoji-suggestions', class: 'emoji-suggestions', part: 'emoji-suggestions', role: 'listbox', hidden: '',
    });
    root.getElementById('chat-frame').append(this.#panel);
    field.form.append(this.#suggestions);
    button.setAttribute('aria-controls', 'emoji-panel');
    this.#listen(keepKeys);
  }

  #listen(keepKeys) {
    keepKeys(this.#search, (event) => {
      if (event.type === 'keydown') this.#pressedInSearch(event);
    });
    this.#search.addEventListener('input', () => this.#showList());
    this.#list.addEventListener('keydown', (event) => this.#pressedInList(event));
    this.#list.addEventListener('click', ({ target }) => this.#choose(target.closest('[role=option]')));
    this.#tones.addEventListener('keydown', (event) => this.#pressedInTones(event));
    this.#panel.addEventListener('toggle', ({ newState }) => {
      this.#button.setAttribute('aria-expanded', String(newState === 'open'));
    });
    // The field keeps the focus.
    this.#suggestions.addEventListener('mousedown', (event) => event.preventDefault());
    this.#suggestions.addEventListener('click', ({ target }) => this.#accept(target.closest('[role=option]')));
  }

  /** The module with the names of a language. */
  set names({ EMOJI_NAMES, EMOJI_LABELS }) {
    this.#book = new EmojiBook(EMOJI_NAMES);
    this.#labels = EMOJI_LABELS;
    const [search, tone] = EMOJI_LABELS;
    const title = this.#button.getAttribute('aria-label');
    this.#panel.setAttribute('aria-label', title);
    this.#search.placeholder = search;
    this.#search.setAttribute('aria-label', search);
    this.#list.setAttribute('aria-label', title);
    this.#suggestions.setAttribute('aria-label', title);
    this.#tones.setAttribute('aria-label', tone);
    this.#showTones();
    this.#showList();
  }

  toggle() {
    if (this.#panel.matches(':popover-open')) {
      this.#panel.hidePopover();
      return;
    }
    this.#search.value = '';
    this.#showList();
    this.#panel.showPopover();
    this.#place();
    this.#search.focus({ preventScroll: true });
  }

  // The list

  #showList() {
    const found = this.#book.find(this.#search.value);
    const groups = new Map();
    for (const entry of found) {
      if (!groups.has(entry.group)) groups.set(entry.group, []);
      groups.get(entry.group).push(this.#option(entry));
    }
    const isSearch = this.#search.value.trim() !== '';
    const options = isSearch ? [found.map((entry) => this.#option(entry))] : [...groups.values()];
    this.#list.replaceChildren(...options.map((each) => make('div', { class: 'emoji-group', role: 'presentation' }, ...each)));
    const [first] = this.#options;
    first?.setAttribute('tabindex', '0');
    this.#list.hidden = found.length === 0;
    this.#none.textContent = found.length === 0 ? this.#labels[2] : '';
    this.#list.scrollTop = 0;
  }

  #option({ emoji, name, hasTones }) {
    const shown = hasTones ? withTone(emoji, this.#tone) : emoji;
    return make('span', { role: 'option', tabindex: '-1', title: name, 'aria-label': name, 'aria-selected': 'false' }, shown);
  }

  get #options() {
    return this.#list.querySelectorAll('[role=option]');
  }

  #pressedInSearch(event) {
    if (event.key === 'Escape') this.#close(event);
    else if (event.key === 'Enter' && !event.isComposing) this.#choose(this.#options[0], event);
    else if (event.key === 'ArrowDown') this.#focus(this.#options[0], event);
  }

  #pressedInList(event) {
    const options = [...this.#options];
    const at = options.indexOf(event.target);
    const sideways = getComputedStyle(this.#list).direction === 'rtl' ? -1 : 1;
    const targets = {
      ArrowRight: () => options[at + sideways],
      ArrowLeft: () => options[at - sideways],
      ArrowDown: () => nextLine(options, at, 1),
      ArrowUp: () => nextLine(options, at, -1) ?? this.#search,
      Home: () => options[0],
      End: () => options.at(-1),
    };
    if (event.key === 'Escape') this.#close(event);
    else if (event.key === 'Enter' || event.key === ' ') this.#choose(event.target, event);
    else if (Object.hasOwn(targets, event.key)) this.#focus(targets[event.key]() ?? event.target, event);
  }

  #focus(target, event) {
    event.preventDefault();
    event.stopPropagation();
    if (target === undefined) return;
    this.#list.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1');
    if (target !== this.#search) target.setAttribute('tabindex', '0');
    target.focus();
  }

  #choose(option, event) {
    event?.preventDefault();
    event?.stopPropagation();
    if (!option) return;
    this.#panel.hidePopover();
    this.#field.focus({ preventScroll: true });
    const { selectionStart: start, selectionEnd: end } = this.#field;
    this.#insert(option.textContent, start, end);
  }

  #close(event) {
    event.preventDefault();
    event.stopPropagation();
    this.#panel.hidePopover();
    this.#button.focus();
  }

  #insert(text, start, end) {
    this.#field.setRangeText(text, start, end, 'end');
    this.#field.dispatchEvent(new (windowOf(this.#field).InputEvent)('input', { inputType: 'insertText' }));
  }

  /** Above its button, within the window. */
  #place() {
    const { innerWidth, innerHeight } = windowOf(this.#panel);
    const button = this.#button.getBoundingClientRect();
    const { width, height } = this.#panel.getBoundingClientRect();
    const above = button.top - GAP - height;
    const top = above >= GAP ? above : Math.min(button.bottom + GAP, innerHeight - height - GAP);
    this.#panel.style.left = `${Math.max(GAP, Math.min(button.right - width, innerWidth - width - GAP))}px`;
    this.#panel.style.top = `${Math.max(GAP, top)}px`;
  }

  // Skin tones

  #showTones() {
    const tones = [0, 1, 2, 3, 4, 5].map((tone) => {
      const isChosen = tone === this.#tone;
      const made = make('button', {
        type: 'button', role: 'radio', 'aria-checked': String(isChosen), tabindex: isChosen ? '0' : '-1',
        'aria-label': tone === 0 ? HAND : this.#labels[2 + tone],
      }, withTone(HAND, tone));
      made.addEventListener('click', () => this.#chooseTone(tone));
      return made;
    });
    this.#tones.replaceChildren(...tones);
  }

  #chooseTone(tone) {
    this.#tone = tone;
    storeTone(tone);
    const hadFocus = this.#tones.contains(this.#tones.getRootNode().activeElement);
    this.#showTones();
    this.#showList();
    if (hadFocus) this.#tones.children[tone].focus();
  }

  #pressedInTones(event) {
    if (event.key === 'Escape') this.#close(event);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.#chooseTone((this.#tone + step + 6) % 6);
  }

  // Suggestions for a shortcode

  /** Suggests emoji for the shortcode before the caret, `:smi`; null: none. A whole one, `:smile:`, is replaced. */
  suggest(shortcode) {
    if (shortcode !== null && shortcode.endsWith(':')) {
      const emoji = this.#book.named(shortcode.slice(1, -1));
      this.#shortcode = shortcode;
      if (emoji !== null) this.#replace(emoji);
    }
    const isOpen = shortcode !== null && !shortcode.endsWith(':');
    const found = isOpen ? this.#book.find(shortcode.slice(1)).slice(0, SUGGESTION_COUNT) : [];
    this.#shortcode = shortcode;
    this.#suggestions.replaceChildren(...found.map((entry, index) => this.#suggestion(entry, index)));
    this.#suggestions.hidden = found.length === 0;
    this.#field.setAttribute('aria-autocomplete', 'list');
    if (found.length > 0) this.#mark(0);
    else this.#field.removeAttribute('aria-activedescendant');
  }

  #suggestion({ emoji, name, hasTones }, index) {
    const shown = hasTones ? withTone(emoji, this.#tone) : emoji;
    const text = make('span', { dir: 'auto' }, name);
    return make('div', { id: `emoji-suggestion-${index}`, role: 'option', 'data-emoji': shown }, make('span', {}, shown), ' ', text);
  }

  #mark(index) {
    const options = [...this.#suggestions.children];
    for (const [at, each] of options.entries()) each.setAttribute('aria-selected', String(at === index));
    this.#field.setAttribute('aria-controls', 'emoji-suggestions');
    this.#field.setAttribute('aria-activedescendant', options[index].id);
  }

  /** A key in the field while there are suggestions. */
  takes(event) {
    if (this.#suggestions.hidden || event.type !== 'keydown' || event.isComposing) return false;
    const options = [...this.#suggestions.children];
    const at = options.findIndex((each) => each.getAttribute('aria-selected') === 'true');
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) this.#mark((at + step + options.length) % options.length);
    else if (event.key === 'Enter' || event.key === 'Tab') this.#accept(options[at]);
    else if (event.key === 'Escape') this.suggest(null);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  #accept(option) {
    if (option) this.#replace(option.dataset.emoji);
  }

  #replace(emoji) {
    const caret = this.#field.selectionStart;
    const shortcode = this.#shortcode;
    this.#shortcode = null;
    this.#insert(emoji, caret - shortcode.length, caret);
    this.suggest(null);
  }
}

/** The option in the next line that is nearest to this one. */
function nextLine(options, at, step) {
  const { offsetTop, offsetLeft } = options[at];
  let best;
  for (let index = at + step; options[index] !== undefined; index += step) {
    const option = options[index];
    if (option.offsetTop === offsetTop) continue;
    if (best !== undefined && option.offsetTop !== best.offsetTop) break;
    const isNearer = best === undefined || Math.abs(option.offsetLeft - offsetLeft) < Math.abs(best.offsetLeft - offsetLeft);
    if (isNearer) best = option;
  }
  return best;
}

function storedTone() {
  try {
    return Math.min(5, Math.max(0, Number.parseInt(localStorage.getItem(TONE_KEY) ?? '0', 10) || 0));
  } catch {
    return 0;
  }
}

/** Without a storage, the choice lasts as long as the page. */
function storeTone(tone) {
  try {
    localStorage.setItem(TONE_KEY, String(tone));
  } catch {}
}
