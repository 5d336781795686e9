import { displayName } from '../text-chat/index.js';
import { avatar, make } from './dom.js';

/** The participants of the room, in the order in which they joined. */
export class ParticipantsView {
  #list;
  #count;
  #rows = new Map();
  #remove;

  /** `remove(connection)` is offered beside the others when the own token permits it. */
  constructor(part, remove) {
    this.#list = part('participants');
    this.#count = part('participant-count');
    this.#remove = remove;
  }

  add(connection, { isMe, mayRemove }) {
    if (this.#rows.has(connection.connectionId)) return;
    const name = displayName(connection);
    const row = make(
      'li',
      { class: 'participant', title: `${name} · ${connection.connectionId}` },
      avatar(name, connection.connectionId),
      make('bdi', { class: 'participant-name' }, name),
      isMe ? make('span', { class: 'tag' }, 'you') : null,
    );
    if (mayRemove && !isMe) {
      const button = make('button', { type: 'button', class: 'quiet small', 'aria-label': `Remove ${name}` }, 'Remove');
      button.addEventListener('click', () => this.#remove(connection));
      row.append(button);
    }
    this.#rows.set(connection.connectionId, row);
    this.#list.append(row);
    this.#showCount();
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
    this.#showCount();
  }

  clear() {
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#showCount();
  }

  #showCount() {
    this.#count.textContent = String(this.#rows.size);
  }
}
