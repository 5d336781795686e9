import { avatar, make } from '../../chat/views/dom.js';
import { isFound, placeOf } from './participant-order.js';

/** From this many participants on there is a field to find one. */
const FILTER_FROM = 15;

/**
 * The participants of the room: the user first, then the others by name. A user with several tabs is one participant.
 * Each of the others has a menu, at a button and at a click on the row.
 */
export class ParticipantsView {
  #words;
  #list;
  #count;
  #filter;
  #nobody;
  #openMenu;
  /** Person → {id, name, user, isMe, connections, row}, and the same in their order. A guest is a person by connection. */
  #entries = new Map();
  #order = [];
  /** Connection id → its person. */
  #persons = new Map();
  /** The ids of connections that are away (PRES-4). */
  #away = new Set();
  #hasUsers = false;

  /** `words` are the texts. `openMenu({user, connectionId, name}, button)` opens the menu of a participant. */
  constructor(part, { words, openMenu }) {
    this.#words = words;
    this.#openMenu = openMenu;
    this.#list = part('participants');
    this.#count = part('participant-count');
    this.#filter = part('participant-filter');
    this.#nobody = part('participants-nobody');
    this.#filter.addEventListener('input', () => this.#applyFilter());
  }

  add({ connectionId, user }, { name, isMe }) {
    if (this.#persons.has(connectionId)) return;
    const person = user === null ? `connection ${connectionId}` : `user ${user}`;
    this.#persons.set(connectionId, person);
    const known = this.#entries.get(person);
    if (known) {
      known.connections.add(connectionId);
      if (isMe && !known.isMe) this.#makeOwn(known, name);
      this.#show(known);
    } else {
      const entry = { id: connectionId, name, user, isMe, connections: new Set([connectionId]), row: null };
      entry.row = this.#makeRow(entry);
      this.#entries.set(person, entry);
      this.#place(entry);
      this.#show(entry);
    }
    this.#noteUsers(user);
    this.#showCount();
  }

  /** Shows another name for a participant. */
  rename(connectionId, name) {
    const entry = this.#entryOf(connectionId);
    if (!entry) return;
    this.#unplace(entry);
    entry.name = name;
    this.#place(entry);
    this.#show(entry);
  }

  /** Shows whether the participant has had no socket for a while (PRES-4). One with another tab is not away. */
  setAway({ connectionId }, isAway) {
    const entry = this.#entryOf(connectionId);
    if (!entry) return;
    if (isAway) this.#away.add(connectionId);
    else this.#away.delete(connectionId);
    this.#show(entry);
    this.#showCount();
  }

  remove({ connectionId }) {
    const entry = this.#entryOf(connectionId);
    if (!entry) return;
    entry.connections.delete(connectionId);
    const person = this.#persons.get(connectionId);
    this.#persons.delete(connectionId);
    this.#away.delete(connectionId);
    if (entry.connections.size === 0) {
      entry.row.remove();
      this.#unplace(entry);
      this.#entries.delete(person);
    } else {
      this.#show(entry);
    }
    this.#showCount();
  }

  clear() {
    this.#entries.clear();
    this.#persons.clear();
    this.#away.clear();
    this.#order = [];
    this.#hasUsers = false;
    this.#list.replaceChildren();
    this.#showCount();
  }

  #entryOf(connectionId) {
    return this.#entries.get(this.#persons.get(connectionId));
  }

  #isAway({ connections }) {
    return [...connections].every((id) => this.#away.has(id));
  }

  /** A tab of the user was here first. */
  #makeOwn(entry, name) {
    this.#unplace(entry);
    entry.isMe = true;
    entry.name = name;
    entry.row.remove();
    entry.row = this.#makeRow(entry);
    this.#place(entry);
  }

  #makeRow(entry) {
    const row = make(
      'li',
      { class: 'participant' },
      make('span', { class: 'avatar-space' }),
      make('bdi', { class: 'participant-name' }),
      make('span', { class: 'tag guest-tag', hidden: '' }, this.#words.text('guestTag')),
      make('span', { class: 'tag away', hidden: '' }, this.#words.text('away')),
      entry.isMe ? make('span', { class: 'tag' }, this.#words.text('you')) : null,
    );
    if (entry.isMe) return row;
    const button = this.#menuButton(entry);
    row.append(button);
    row.classList.add('has-menu');
    row.addEventListener('click', ({ target }) => {
      if (!button.contains(target)) button.click();
    });
    return row;
  }

  /** Puts the row in its place, with its name. */
  #place(entry) {
    const { row, name, id, user } = entry;
    row.firstElementChild.replaceWith(avatar(name, user ?? id));
    row.querySelector('.participant-name').textContent = name;
    row.querySelector('.menu-button')?.setAttribute('aria-label', this.#words.text('menuOf', { name }));
    row.hidden = !isFound(name, this.#filter.value);
    const index = placeOf(entry, this.#order);
    this.#list.insertBefore(row, this.#order[index]?.row ?? null);
    this.#order.splice(index, 0, entry);
  }

  #unplace(entry) {
    this.#order.splice(placeOf(entry, this.#order), 1);
  }

  /** Shows what changes with the connections. */
  #show(entry) {
    const { row, name, isMe, connections, user } = entry;
    const isAway = this.#isAway(entry);
    row.classList.toggle('is-away', isAway);
    row.querySelector('.away').hidden = !isAway;
    row.querySelector('.guest-tag').hidden = user !== null || !this.#hasUsers;
    const key = isMe ? 'ownOtherTab' : 'otherTab';
    row.title = connections.size > 1 ? this.#words.text(key, { name }) : name;
  }

  /** Where some participants have a user, those who have none are guests. */
  #noteUsers(user) {
    if (user === null || this.#hasUsers) return;
    this.#hasUsers = true;
    for (const entry of this.#order) this.#show(entry);
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

  #menuButton(entry) {
    const button = make('button', {
      type: 'button', class: 'quiet small menu-button', 'aria-haspopup': 'menu', 'aria-expanded': 'false',
    }, '⋯');
    button.addEventListener('click', () => {
      const [connectionId] = entry.connections;
      this.#openMenu({ user: entry.user, connectionId, name: entry.name }, button);
    });
    return button;
  }

  /** People who are away are not counted as present. */
  #showCount() {
    this.#count.textContent = String(this.#order.filter((entry) => !this.#isAway(entry)).length);
    this.#showFilter();
  }
}
