import { avatar, make } from '../chat/dom.js';

/** Pixels between the button of a participant and their menu. */
const GAP = 4;

/** The participants of the room, in the order in which they joined. A moderator has a menu for each of the others. */
export class ParticipantsView {
  #part;
  #list;
  #count;
  #rows = new Map();
  #menu;
  #dialog;
  /** {connection, name, button} of the open menu or dialog. */
  #chosen = null;

  /** `signalTo(connection)` and `remove(connection)` are the commands of the menu. */
  constructor(part, { signalTo, remove }) {
    this.#part = part;
    this.#list = part('participants');
    this.#count = part('participant-count');
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
    if (this.#rows.has(connection.connectionId)) return;
    const row = make(
      'li',
      { class: 'participant' },
      make('span', { class: 'avatar-space' }),
      make('bdi', { class: 'participant-name' }),
      isMe ? make('span', { class: 'tag' }, 'you') : null,
    );
    if (mayRemove && !isMe) row.append(this.#menuButton(connection, name));
    this.#rows.set(connection.connectionId, row);
    this.#list.append(row);
    this.rename(connection.connectionId, name);
    this.#showCount();
  }

  /** Shows another name for a participant. */
  rename(connectionId, name) {
    const row = this.#rows.get(connectionId);
    if (!row) return;
    row.title = `${name} · ${connectionId}`;
    row.firstElementChild.replaceWith(avatar(name, connectionId));
    row.querySelector('.participant-name').textContent = name;
  }

  /** Shows whether the participant has had no socket for a while (PRES-4). */
  setAway(connection, isAway) {
    const row = this.#rows.get(connection.connectionId);
    row?.querySelector('.away')?.remove();
    if (isAway) row?.querySelector('.participant-name').after(make('span', { class: 'tag away' }, 'away'));
  }

  remove(connection) {
    this.#rows.get(connection.connectionId)?.remove();
    this.#rows.delete(connection.connectionId);
    if (this.#chosen?.connection.connectionId === connection.connectionId) this.#close();
    this.#showCount();
  }

  clear() {
    this.#close();
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#showCount();
  }

  #menuButton(connection, name) {
    const button = make(
      'button',
      { type: 'button', class: 'quiet small menu-button', 'aria-label': `Menu for ${name}`, 'aria-expanded': 'false' },
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
    this.#part('remove-title').textContent = `Remove ${this.#chosen.name}?`;
    this.#dialog.showModal();
  }

  #close() {
    if (this.#menu.matches(':popover-open')) this.#menu.hidePopover();
    if (this.#dialog.open) this.#dialog.close();
    this.#chosen = null;
  }

  #showCount() {
    this.#count.textContent = String(this.#rows.size);
  }
}
