import { make } from '../views/dom.js';
import { namesOf } from './names-of.js';
import { shownKey } from './reaction-key.js';

/** The reactions below a message: a button for each key, with its count, which adds or removes the user's own. */
export class ReactionPills {
  #room;
  /** Button → the reaction whose users are in its title, or are on their way there. */
  #described = new WeakMap();

  /** `room` is that of `Changes`, with `toggle(row, key)`, `mayReact(row)`, `hush(element)` and the calls of `namesOf`. */
  constructor(room) {
    this.#room = room;
  }

  decorate(shown) {
    const { element, row } = shown;
    const reactions = this.#room.host.hasReactions ? row.message.reactions : [];
    let box = element.querySelector('.reactions');
    if (box === null && reactions.length === 0) return;
    if (box === null) {
      box = make('div', { class: 'reactions', part: 'reactions' });
      const body = element.querySelector('.row-body');
      body.insertBefore(box, body.querySelector('.receipts'));
    }
    this.#room.hush(element);
    const before = new Map([...box.children].map((each) => [each.dataset.key, each]));
    const focused = box.contains(box.getRootNode().activeElement) ? box.getRootNode().activeElement : null;
    const pills = reactions.map((reaction) => this.#pill(before.get(reaction.key), reaction, shown));
    // What stays in its place keeps the focus.
    if (pills.length !== box.children.length || pills.some((each, index) => each !== box.children[index])) {
      box.replaceChildren(...pills);
      const next = pills.includes(focused) ? focused : (pills[0] ?? this.#ready(element));
      if (focused !== null) next.focus({ preventScroll: true });
    }
    if (pills.length === 0) box.remove();
  }

  /** Senders have other names now. */
  renamed() {
    this.#described = new WeakMap();
  }

  #ready(element) {
    element.tabIndex = -1;
    return element;
  }

  #pill(before, { key, count, isMine }, shown) {
    const { text, mayReact } = this.#room;
    const pill = before ?? this.#make(key, shown);
    pill.querySelector('.reaction-count').textContent = text('reactionCount', { count });
    // Others than those in the title.
    if (this.#described.get(pill) !== stateOf({ count, isMine })) {
      this.#described.delete(pill);
      pill.removeAttribute('title');
    }
    pill.setAttribute('aria-pressed', String(isMine));
    const mayPress = mayReact(shown.row);
    if (mayPress) pill.removeAttribute('aria-disabled');
    else pill.setAttribute('aria-disabled', 'true');
    pill.setAttribute('aria-label', text(isMine ? 'reactedToo' : 'reacted', { key: shownKey(key).text, count }));
    // The keyboard reaches those of the chosen message.
    pill.tabIndex = shown.element.classList.contains('chosen') ? 0 : -1;
    return pill;
  }

  #make(key, shown) {
    const { text, isEmoji } = shownKey(key);
    const pill = make(
      'button', { type: 'button', class: 'reaction', part: 'reaction', 'data-key': key },
      make('bdi', { class: `reaction-key ${isEmoji ? '' : 'text'}` }, text),
      make('span', { class: 'reaction-count' }),
    );
    pill.addEventListener('click', () => {
      if (this.#room.mayReact(shown.row)) this.#room.toggle(shown.row, key);
    });
    for (const name of ['pointerenter', 'focus']) pill.addEventListener(name, () => this.#describe(pill, key, shown));
    return pill;
  }

  /** Who has reacted so is asked for when somebody wants to know it. */
  async #describe(pill, key, { row }) {
    const { chat } = this.#room;
    const reaction = row.message.reactions.find((each) => each.key === key);
    if (reaction === undefined || this.#described.get(pill) === stateOf(reaction)) return;
    const state = stateOf(reaction);
    this.#described.set(pill, state);
    try {
      const found = (await chat().reactors(row.id, key)).find((each) => each.key === key);
      const own = chat().channel?.user ?? null;
      if (this.#described.get(pill) !== state) return;
      pill.title = found ? namesOf(found.users, Math.max(found.count, found.users.length), { ...this.#room, own }) : '';
    } catch {
      this.#described.delete(pill);
    }
  }
}

function stateOf({ count, isMine }) {
  return `${count} ${isMine}`;
}
