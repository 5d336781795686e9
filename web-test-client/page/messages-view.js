import { avatar, find, make, timeOfDay } from './dom.js';

/** Closer to the end than this many pixels counts as being at the end. */
const END_SLACK = 48;

/** The chat's rows on the page. Rows that stay the same stay the same elements, so that nothing is read out twice. */
export class MessagesView {
  #scroll = find('messages-scroll');
  #list = find('messages');
  #empty = find('empty');
  #banner = find('new-messages');
  /** Row key → {element, look}: `look` says whether the element still shows what it should. */
  #shown = new Map();
  #retry;

  constructor(retry) {
    this.#retry = retry;
    this.#banner.addEventListener('click', () => this.scrollToEnd());
    this.#scroll.addEventListener('scroll', () => {
      if (this.#isAtEnd()) this.#banner.hidden = true;
    });
  }

  /** `failureOf(localId)` explains a failed message; `hasNews` is true when somebody else has said something. */
  show(rows, { failureOf, hasNews }) {
    const wasAtEnd = this.#isAtEnd();
    this.#empty.hidden = rows.length > 0;
    const kept = new Set();
    let place = this.#list.firstElementChild;
    let previous = null;
    for (const row of rows) {
      const key = row.message ? `message ${row.message.key}` : `divider ${previous.message.key}`;
      const element = this.#elementFor(key, row, failureOf);
      kept.add(key);
      if (element === place) place = place.nextElementSibling;
      else this.#list.insertBefore(element, place);
      previous = row;
    }
    for (const [key, { element }] of this.#shown) {
      if (kept.has(key)) continue;
      element.remove();
      this.#shown.delete(key);
    }
    if (wasAtEnd) this.scrollToEnd();
    else if (hasNews) this.#banner.hidden = false;
  }

  /** For another conversation, whose keys mean other messages. */
  clear() {
    this.#shown.clear();
    this.#list.replaceChildren();
    this.#banner.hidden = true;
  }

  scrollToEnd() {
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#banner.hidden = true;
  }

  #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroll;
    return scrollHeight - scrollTop - clientHeight < END_SLACK;
  }

  #elementFor(key, row, failureOf) {
    const failure = row.message?.state === 'failed' ? failureOf(row.message.localId) : null;
    const look = `${row.kind} ${row.message?.state ?? ''} ${failure ?? ''}`;
    const known = this.#shown.get(key);
    if (known?.look === look) return known.element;
    const element = row.message ? this.#messageElement(row, failure) : make('li', { class: 'divider', 'aria-hidden': 'true' });
    known?.element.replaceWith(element);
    this.#shown.set(key, { element, look });
    return element;
  }

  #messageElement({ kind, message }, failure) {
    const isShort = kind.endsWith('Short');
    const side = message.kind;
    const name = side === 'sent' ? 'You' : message.alias;
    const moment = new Date(message.sentAt);
    const header = isShort
      ? make('span', { class: 'visually-hidden' }, `${name}: `)
      : make(
          'p',
          { class: 'row-header' },
          make('span', { class: 'row-name' }, name),
          make('time', { datetime: moment.toISOString(), title: moment.toLocaleString() }, timeOfDay(message.sentAt)),
        );
    const body = make('div', { class: 'row-body' }, header, make('p', { class: 'bubble' }, message.text));
    if (message.state === 'pending') body.append(make('p', { class: 'row-state' }, 'Sending…'));
    if (message.state === 'failed') body.append(this.#failedNote(message, failure));
    return make(
      'li',
      { class: `row ${side}${isShort ? ' short' : ''}`, 'data-kind': kind, 'data-state': message.state },
      side === 'received' ? (isShort ? make('span', { class: 'avatar-space' }) : avatar(name, message.senderId ?? name)) : null,
      body,
    );
  }

  #failedNote(message, failure) {
    const retry = make('button', { type: 'button', class: 'link' }, 'Try again');
    retry.addEventListener('click', () => this.#retry(message.localId));
    return make('p', { class: 'row-state' }, `Not sent${failure ? `: ${failure}` : '.'} `, retry);
  }
}
