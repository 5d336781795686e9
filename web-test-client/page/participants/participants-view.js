import { avatar, make } from '../../chat/views/dom.js';
import { isFound, placeOf } from './participant-order.js';

/** From this many participants on there is a field to find one. */
const FILTER_FROM = 15;

/** Pixels between the button of a participant and their menu. */
const GAP = 4;

/**
 * The participants of the room: the user first, then the others by name. A moderator has a menu for each of the others.
 */
export class ParticipantsView {
  #part;
  #words;
  #list;
  #count;
  #filter;
  #nobody;
  /** Connection id → {id, name, isMe, isAway, row}, and the same in their order. */
  #entries = new Map();
  #order = [];
  #awayCount = 0;
  #menu;
  #dialog;
  /** {connection, name, button} of the open menu or dialog. */
  #chosen = null;

  /** `words` are the texts; `signalTo(connection)` and `remove(connection)` are the commands of the menu. */
  constructor(part, { words, signalTo, remove }) {
    this.#words = words;
    this.#part = part;
    this.#list = part('participants');
    this.#count = part('participant-count');
    this.#filter = part('participant-filter');
    this.#nobody = part('participants-nobody');
    this.#filter.addEventListener('input', () => this.#applyFilter());
    this.#menu = part('person-menu');
    this.#dialog = part('remove-dialog');
    part('person-signal').addEventListener('click', () => {
      this.#menu.hidePopover();
      signalTo(this.#chosen.connection);
    });
    part('person-remove').addEventListener('click', () => this.#confirm());
    part('remove-cancel').addEventListener('click', () => this.#dialog.close());
    part('remove-confirm').addEventListener('click', () => {
      this.#dialog.close();
      remove(this.#chosen.connection);
    });
    this.#dialog.addEventListener('close', () => this.#chosen?.button.focus());
    this.#menu.addEventListener('toggle', ({ newState }) => {
      this.#chosen?.button.setAttribute('aria-expanded', String(newState === 'open'));
    });
  }

  add(connection, { name, isMe, mayRemove }) {
    const id = connection.connectionId;
    if (this.#entries.has(id)) return;
    const row = make(
      'li',
      { class: 'participant' },
      make('span', { class: 'avatar-space' }),
      make('bdi', { class: 'participant-name' }),
      isMe ? make('span', { class: 'tag' }, this.#words.text('you')) : null,
    );
    if (mayRemove && !isMe) row.append(this.#menuButton(connection, name));
    const entry = { id, name, isMe, isAway: false, row };
    this.#entries.set(id, entry);
    this.#place(entry);
    this.#showCount();
  }

  /** Shows another name for a participant. */
  rename(connectionId, name) {
    const entry = this.#entries.get(connectionId);
    if (!entry) return;
    this.#order.splice(placeOf(entry, this.#order), 1);
    entry.name = name;
    this.#place(entry);
  }

  /** Shows whether the participant has had no socket for a while (PRES-4). */
  setAway({ connectionId }, isAway) {
    const entry = this.#entries.get(connectionId);
    if (!entry || entry.isAway === isAway) return;
    entry.isAway = isAway;
    this.#awayCount += isAway ? 1 : -1;
    entry.row.classList.toggle('is-away', isAway);
    entry.row.querySelector('.away')?.remove();
    const tag = () => make('span', { class: 'tag away' }, this.#words.text('away'));
    if (isAway) entry.row.querySelector('.participant-name').after(tag());
    this.#showCount();
  }

  remove({ connectionId }) {
    const entry = this.#entries.get(connectionId);
    if (!entry) return;
    entry.row.remove();
    this.#order.splice(placeOf(entry, this.#order), 1);
    this.#entries.delete(connectionId);
    if (entry.isAway) this.#awayCount -= 1;
    if (this.#chosen?.connection.connectionId === connectionId) this.#close();
    this.#showCount();
  }

  clear() {
    this.#close();
    this.#entries.clear();
    this.#order = [];
    this.#awayCount = 0;
    this.#list.replaceChildren();
    this.#showCount();
  }

  /** Puts the row in its place, with its name. */
  #place(entry) {
    const { row, name, id } = entry;
    row.title = name;
    row.firstElementChild.replaceWith(avatar(name, id));
    row.querySelector('.participant-name').textContent = name;
    row.hidden = !isFound(name, this.#filter.value);
    const index = placeOf(entry, this.#order);
    this.#list.insertBefore(row, this.#order[index]?.row ?? null);
    this.#order.splice(index, 0, entry);
  }

  #applyFilter() {
    for (const { row, name } of this.#order) row.hidden = !isFound(name, this.#filter.value);
    this.#showFilter();
  }

  #showFilter() {
    const isWanted = this.#entries.size >= FILTER_FROM;
    // A list that has become short shows everybody, unless the user is looking for somebody.
    const isShown = isWanted || this.#filter.value !== '';
    this.#filter.parentElement.hidden = !isShown;
    this.#nobody.hidden = !isShown || this.#order.length === 0 || this.#order.some(({ row }) => !row.hidden);
  }

  #menuButton(connection, name) {
    const button = make(
      'button',
      { type: 'button', class: 'quiet small menu-button', 'aria-label': this.#words.text('menuOf', { name }), 'aria-expanded': 'false' },
      '⋯',
    );
    button.addEventListener('click', () => this.#open({ connection, name, button }));
    return button;
  }

  #open(chosen) {
    const isOpen = this.#menu.matches(':popover-open');
    const wasFor = this.#chosen?.button;
    if (isOpen) this.#menu.hidePopover();
    if (isOpen && wasFor === chosen.button) return;
    this.#chosen = chosen;
    this.#menu.showPopover();
    const { bottom, right } = chosen.button.getBoundingClientRect();
    const { width, height } = this.#menu.getBoundingClientRect();
    this.#menu.style.left = `${Math.max(GAP, Math.min(right - width, innerWidth - width - GAP))}px`;
    this.#menu.style.top = `${Math.max(GAP, Math.min(bottom + GAP, innerHeight - height - GAP))}px`;
    this.#part('person-signal').focus();
  }

  /** Asks first: a removal interrupts a person, and keeps nobody out who has a valid token. */
  #confirm() {
    this.#menu.hidePopover();
    this.#part('remove-title').textContent = this.#words.text('removeQuestion', { name: this.#chosen.name });
    this.#dialog.showModal();
  }

  #close() {
    if (this.#menu.matches(':popover-open')) this.#menu.hidePopover();
    if (this.#dialog.open) this.#dialog.close();
    this.#chosen = null;
  }

  /** People who are away are not counted as present. */
  #showCount() {
    this.#count.textContent = String(this.#entries.size - this.#awayCount);
    this.#showFilter();
  }
}
