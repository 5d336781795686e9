import { httpsAddress } from '../text/https-address.js';
import { avatar, initialOf, make } from '../views/dom.js';
import { placeAt } from '../views/popover-place.js';
import { nameOf, namesOf } from './names-of.js';

/** So many users have a picture at the message; the others are a number. */
const MOST_AVATARS = 5;

/** Who has read the user's messages, at the last one that somebody has read: a button, which opens a list. */
export class ReceiptView {
  #room;
  #button = null;
  #panel = make('div', { class: 'receipt-list', part: 'receipt-list', popover: '', role: 'dialog', tabindex: '-1' });
  /** The row at which it stands. */
  #rowId = null;

  /** `room` is as in `ReactionPills`. */
  constructor(room, frame) {
    this.#room = room;
    frame.append(this.#panel);
    this.#panel.addEventListener('toggle', ({ newState }) => {
      this.#button?.setAttribute('aria-expanded', String(newState === 'open'));
    });
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' && event.key !== 'Tab') return;
      this.#panel.hidePopover?.();
      this.#button?.focus({ preventScroll: true });
      event.preventDefault();
      event.stopPropagation();
    });
  }

  get rowId() {
    return this.#rowId;
  }

  decorate({ element, row }) {
    const { host, chat } = this.#room;
    const receipt = host.hasReceipts ? chat().receipt : null;
    const before = element.querySelector('.receipts');
    if (receipt?.id !== row.id) {
      const hadFocus = before?.contains(before.getRootNode().activeElement) ?? false;
      before?.remove();
      if (hadFocus) this.#room.part('messages-scroll').focus({ preventScroll: true });
      if (this.#rowId === row.id) this.#rowId = null;
      return;
    }
    this.#rowId = row.id;
    const { users } = receipt;
    const { text } = this.#room;
    const label = text('seenBy', { names: { text: namesOf(users, users.length, { ...this.#room, own: null }) } });
    const isPair = this.#isPair(users);
    const content = `${label} ${isPair}`;
    if (before?.dataset.content === content) return;
    this.#room.hush(element);
    const hadFocus = before?.contains(before.getRootNode().activeElement) ?? false;
    const box = before ?? make('div', { class: 'receipts', part: 'receipts' });
    box.dataset.content = content;
    this.#button = this.#make(users, { label, isPair, element });
    box.replaceChildren(this.#button);
    if (before === null) element.querySelector('.row-body').append(box);
    if (hadFocus) this.#button.focus({ preventScroll: true });
  }

  #make(users, { label, isPair, element }) {
    const { text } = this.#room;
    const attributes = {
      type: 'button', class: 'receipt', title: label, 'aria-label': label,
      'aria-haspopup': 'dialog', 'aria-expanded': 'false',
      tabindex: element.classList.contains('chosen') ? '0' : '-1',
    };
    const rest = users.length - MOST_AVATARS;
    const content = isPair
      ? [text('seen')]
      : [...users.slice(0, MOST_AVATARS).map((each) => this.#avatar(each)),
        rest > 0 ? make('span', {}, text('moreReaders', { count: rest })) : null];
    const button = make('button', attributes, ...content);
    button.addEventListener('click', () => this.#open(users, label));
    return button;
  }

  /** Whether nobody but this user has ever been in the chat, as far as it knows. */
  #isPair([{ user }, ...others]) {
    const { chat } = this.#room;
    const { channel, timeline } = chat();
    const isOther = (each) => each !== user && each !== (channel?.user ?? null);
    const present = [...(channel?.connections ?? []), ...(channel?.readState?.readers ?? [])];
    if (others.length > 0 || present.some((each) => isOther(each.user ?? null))) return false;
    return timeline.findLast((message) => message.direction === 'received' && isOther(message.user)) === null;
  }

  #avatar({ user, name }) {
    const { chat, text, avatarOf } = this.#room;
    const shown = nameOf({ user, name }, text);
    const made = avatar(shown, user);
    const written = chat().timeline.findLast((message) => message.user === user);
    const address = written === null ? null : httpsAddress(avatarOf(written.message));
    if (address === null) return made;
    const picture = make('img', { src: address, alt: '', referrerpolicy: 'no-referrer', decoding: 'async' });
    picture.addEventListener('error', () => picture.replaceWith(initialOf(shown)));
    made.replaceChildren(picture);
    return made;
  }

  #open(users, label) {
    const { text } = this.#room;
    const items = users.map((each) => make('li', {}, this.#avatar(each), make('bdi', {}, nameOf(each, text))));
    this.#panel.setAttribute('aria-label', label);
    this.#panel.replaceChildren(make('p', { 'aria-hidden': 'true' }, text('seen')), make('ul', {}, ...items));
    this.#panel.showPopover?.();
    placeAt(this.#panel, this.#button);
    this.#panel.focus({ preventScroll: true });
  }
}
