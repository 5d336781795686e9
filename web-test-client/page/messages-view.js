import { displayName } from '../text-chat/display-name.js';
import { avatar, find, make, timeOfDay } from './dom.js';

/** Closer to the end than this many pixels counts as being at the end. */
const END_SLACK = 48;

/** The chat's rows on the page. Rows that stay the same stay the same elements, so that nothing is read out twice. */
export class MessagesView {
  #scroll = find('messages-scroll');
  #list = find('messages');
  #empty = find('empty');
  #banner = find('new-messages');
  /** Row key → {element, kind, state}: what the element shows, so that it is touched only when that changes. */
  #shown = new Map();
  #retry;
  #discard;
  /** Whether the reader is at the end and wants to stay there. */
  #isPinned = true;

  constructor({ retry, discard }) {
    this.#retry = retry;
    this.#discard = discard;
    this.#banner.addEventListener('click', () => this.scrollToEnd());
    this.#scroll.addEventListener('scroll', () => {
      this.#isPinned = this.#isAtEnd();
      if (this.#isPinned) this.#banner.hidden = true;
    });
    // A growing text field or a phone's keyboard takes room from below: who read the newest message still does.
    new ResizeObserver(() => {
      if (this.#isPinned) this.scrollToEnd();
    }).observe(this.#scroll);
  }

  /** `isHeld(localId)`: a message waits for another to be sent; `hasNews` is true when somebody else has said something. */
  show(rows, { isHeld, hasNews }) {
    this.#empty.hidden = rows.length > 0;
    const wanted = new Map();
    for (const row of rows) wanted.set(row.id, this.#elementFor(row.id, row, isHeld));
    // Away with what is gone first: then whatever stays is in its place already, and is not touched.
    for (const element of [...this.#list.children]) {
      if (!isWanted(element, wanted)) element.remove();
    }
    for (const key of this.#shown.keys()) {
      if (!wanted.has(key)) this.#shown.delete(key);
    }
    let place = this.#list.firstElementChild;
    for (const element of wanted.values()) {
      if (element === place) place = place.nextElementSibling;
      else this.#list.insertBefore(element, place);
    }
    if (this.#isPinned) this.scrollToEnd();
    else if (hasNews) this.#banner.hidden = false;
  }

  /** For another conversation, whose keys mean other messages. */
  clear() {
    this.#shown.clear();
    this.#list.replaceChildren();
    this.#isPinned = true;
    this.#banner.hidden = true;
  }

  scrollToEnd() {
    this.#isPinned = true;
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#banner.hidden = true;
  }

  #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroll;
    return scrollHeight - scrollTop - clientHeight < END_SLACK;
  }

  #elementFor(key, row, isHeld) {
    let shown = this.#shown.get(key);
    if (shown?.kind !== row.kind) {
      const element = row.message ? this.#messageElement(row) : make('li', { class: 'divider', 'aria-hidden': 'true' });
      element.dataset.key = key;
      shown = { element, kind: row.kind, state: undefined };
      this.#shown.set(key, shown);
    }
    const state = row.message && stateOf(row.message, isHeld);
    if (row.message && shown.state !== state) {
      shown.state = state;
      this.#showState(shown.element, row.message, state);
    }
    return shown.element;
  }

  #messageElement({ kind, message }) {
    const isShort = kind.endsWith('Short');
    const side = message.direction;
    const name = side === 'sent' ? 'You' : nameOf(message);
    const moment = new Date(message.sentAt);
    const header = isShort
      ? make('span', { class: 'visually-hidden' }, `${name}: `)
      : make(
          'p',
          { class: 'row-header' },
          make('span', { class: 'row-name' }, name),
          make('time', { datetime: moment.toISOString(), title: moment.toLocaleString() }, timeOfDay(message.sentAt)),
        );
    return make(
      'li',
      { class: `row ${side}${isShort ? ' short' : ''}`, 'data-kind': kind },
      side === 'received' ? (isShort ? make('span', { class: 'avatar-space' }) : avatar(name, message.senderId ?? name)) : null,
      make('div', { class: 'row-body' }, header, make('p', { class: 'bubble' }, message.text)),
    );
  }

  /** Only the note below changes: a screen reader should not hear the whole message again. */
  #showState(element, message, state) {
    element.dataset.state = state;
    const body = element.querySelector('.row-body');
    body.querySelector('.row-state')?.remove();
    if (state === 'pending') body.append(make('p', { class: 'row-state' }, 'Sending…'));
    if (state === 'held') body.append(make('p', { class: 'row-state' }, 'Waiting for the message that was not sent'));
    if (state === 'failed') body.append(this.#failedNote(message));
  }

  #failedNote({ localId, failure }) {
    const retry = make('button', { type: 'button', class: 'link' }, 'Try again');
    retry.addEventListener('click', () => this.#retry(localId));
    const discard = make('button', { type: 'button', class: 'link' }, 'Discard');
    discard.addEventListener('click', () => this.#discard(localId));
    return make('p', { class: 'row-state' }, `Not sent${failure ? `: ${failure.message}` : '.'} `, retry, ' · ', discard);
  }
}

function stateOf({ direction, state, localId }, isHeld) {
  if (direction === 'received') return 'received';
  if (state !== 'sending') return state;
  return isHeld(localId) ? 'held' : 'pending';
}

function nameOf({ alias, senderId }) {
  return senderId === null && alias === null ? 'Server' : displayName({ data: alias, connectionId: senderId });
}

function isWanted(element, wanted) {
  return wanted.get(element.dataset.key) === element;
}
