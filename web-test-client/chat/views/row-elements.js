import { isOnlyEmoji } from '../text/emoji.js';
import { httpsAddress } from '../text/https-address.js';
import { messageParts } from '../text/message-parts.js';
import { causeOfUnsent } from '../words/causes.js';
import { avatar, initialOf, make } from './dom.js';

/**
 * The elements of the rows. A row is `{row, state, element, name, isGuest, number, gapKey}`, as in `MessagesView`.
 */
export class RowElements {
  #words;
  #dayOf;
  #retry;
  #edit;
  #discard;
  #pass;
  #leave;
  #opens;
  #hasMenu;
  #openMenu;
  #avatarOf;
  #nodesFor;
  #places;
  #changes;
  #reactions;

  /**
   * The calls are those of `MessagesView`; `leave()` is called when a button with the focus goes, and `opens()` before a
   * row becomes higher because the user wants to read all of it.
   */
  constructor({
    words, dayOf, retry, edit, discard, pass, leave, opens, hasMenu, openMenu, avatarOf = () => null, nodesFor = () => null,
    places = null, changes = null, reactions = null,
  }) {
    this.#words = words;
    this.#dayOf = dayOf;
    this.#retry = retry;
    this.#edit = edit;
    this.#discard = discard;
    this.#pass = pass;
    this.#leave = leave;
    this.#opens = opens;
    this.#hasMenu = hasMenu;
    this.#openMenu = openMenu;
    this.#avatarOf = avatarOf;
    this.#nodesFor = nodesFor;
    this.#places = places;
    this.#changes = changes;
    this.#reactions = reactions;
  }

  set words(words) {
    this.#words = words;
  }

  /** Makes the element of a row. */
  make(shown) {
    const element = this.#made(shown);
    shown.element = element;
    if (shown.row.kind === 'day') this.nameDay(element, Date.now());
    if (shown.row.kind !== 'message') return element;
    this.showPosition(shown);
    this.showNote(shown);
    this.showMenu(shown);
    if (shown.isArriving) this.#animate(shown);
    this.#places?.show(shown);
    this.#changes?.decorate(shown);
    return element;
  }

  /** Once: a row that moves to another place does not arrive again. */
  #animate(shown) {
    shown.isArriving = false;
    const { classList } = shown.element;
    classList.add('arriving');
    shown.element.addEventListener('animationend', () => classList.remove('arriving'));
  }

  /** Writes the texts of a row anew. */
  reword(shown) {
    const { element, row } = shown;
    if (row.kind === 'day') this.nameDay(element, Date.now());
    else if (row.kind !== 'message') (element.firstElementChild ?? element).textContent = this.#lineOf(shown);
    else {
      this.showSender(shown);
      const time = element.querySelector('.row-header time');
      time.textContent = this.#words.time(row.message.receivedAt);
      time.title = this.#words.dayAndTime(row.message.receivedAt);
      if (row.message.isErased) element.querySelector('.bubble').textContent = this.#words.text('erased');
      const more = element.querySelector('.show-more');
      if (more !== null) more.textContent = this.#words.text('showMore');
      for (const key of ['react', 'reply']) this.#name(element.querySelector(`.${key}`), key);
      this.#changes?.decorate(shown);
      this.showNote(shown);
    }
  }

  showPosition({ element, row }) {
    element.dataset.position = row.position;
    element.classList.toggle('short', !row.showsTime && !row.showsSender);
  }

  /** The name of the sender is another one now, or has or loses the mark of a guest. */
  showSender(shown) {
    const { element, row } = shown;
    const name = element.querySelector('.row-name');
    name.textContent = this.#nameIn(shown);
    for (const mark of element.querySelectorAll('.name-mark')) mark.remove();
    name.after(...this.#marksOf(shown));
    if (row.message.direction === 'received' && element.querySelector('.avatar > *') === null) {
      element.querySelector('.avatar').textContent = initialOf(shown.name);
    }
    this.#nameMenu(shown);
  }

  /**
   * Quiet marks beside the name: of a guest among users, who may have chosen the name of any of them, and the number of a
   * person if another one has the same name.
   */
  #marksOf({ isGuest, number }) {
    const words = this.#words;
    const marks = [];
    if (isGuest) {
      const attributes = { class: 'name-mark guest-mark', part: 'guest', title: words.text('guestMarkHelp') };
      marks.push(make('span', attributes, words.text('guestMark')));
    }
    if (number !== null) {
      const attributes = { class: 'name-mark number-mark', part: 'number', title: words.text('numberHelp') };
      marks.push(make('span', attributes, number));
    }
    return marks;
  }

  /** The reactions to the message, and the buttons at it. The keyboard reaches those of the chosen message. */
  showMenu(shown) {
    const { element, row } = shown;
    this.#reactions?.decorate(shown);
    const mayReact = this.#reactions?.mayReact(row) ?? false;
    const mayReply = this.#changes?.mayReply(row) ?? false;
    const hasMenu = this.#hasMenu(row.message);
    let toolbar = element.querySelector('.toolbar');
    if (!mayReact && !mayReply && !hasMenu) {
      toolbar?.remove();
      return;
    }
    if (toolbar === null) element.append((toolbar = this.#makeToolbar(shown)));
    const [react, reply, menu] = toolbar.children;
    react.hidden = !mayReact;
    reply.hidden = !mayReply;
    menu.hidden = !hasMenu;
    this.#nameMenu(shown);
  }

  #makeToolbar(shown) {
    const attributes = { type: 'button', tabindex: '-1' };
    const hasPopup = { 'aria-haspopup': 'menu', 'aria-expanded': 'false' };
    const react = make('button', { ...attributes, class: 'react', ...hasPopup }, '☺\uFE0E');
    react.addEventListener('click', () => this.#reactions.choose(shown.row, react));
    const reply = make('button', { ...attributes, class: 'reply' }, '↩');
    this.#name(react, 'react');
    this.#name(reply, 'reply');
    reply.addEventListener('click', () => this.#changes.reply(shown.row));
    const menu = make('button', { ...attributes, class: 'row-menu', part: 'message-menu', ...hasPopup }, '⋯');
    menu.addEventListener('click', () => this.#openMenu(shown.row, this.#personIn(shown), menu));
    return make('div', { class: 'toolbar', part: 'toolbar' }, react, reply, menu);
  }

  #name(button, key) {
    if (button === null) return;
    button.title = this.#words.text(key);
    button.setAttribute('aria-label', button.title);
  }

  #nameMenu(shown) {
    const isOwn = shown.row.message.direction === 'sent';
    const label = this.#words.text(isOwn ? 'menuOfOwn' : 'menuOfMessage', { name: this.#personIn(shown) });
    shown.element.querySelector('.row-menu')?.setAttribute('aria-label', label);
  }

  #personIn(shown) {
    return this.#nameIn(shown) ?? this.#words.text('server');
  }

  /** Shows the content anew: the message may be erased, or the page shows messages in another way. */
  showContent(shown) {
    const { element, row: { message } } = shown;
    this.#places?.clear(shown);
    element.querySelector('.show-more')?.remove();
    const bubble = element.querySelector('.bubble');
    if (this.#fill(bubble, shown)) (bubble.closest('.bubble-line') ?? bubble).after(this.#moreButton(shown, bubble));
    this.#showPicture(element.querySelector('.avatar'), message, this.#personIn(shown));
    this.#places?.show(shown);
  }

  /** The message was edited or erased. That is no new message: a screen reader does not read it out. */
  showChange(shown) {
    shown.element.setAttribute('aria-live', 'off');
    this.showSender(shown);
    this.showContent(shown);
    this.#changes?.decorate(shown);
  }

  /** The message has changed, such as from being sent to sent: the page may show that. */
  showPlaces(shown) {
    if (shown.places) this.showContent(shown);
  }

  /** The row loses its element. */
  release(shown) {
    this.#places?.clear(shown);
  }

  /** Returns whether the text is longer than what is shown of it. */
  #fill(bubble, shown) {
    const { message } = shown.row;
    const { content, isFolded } = this.#contentOf(shown);
    bubble.replaceChildren(...content.filter((each) => each !== null));
    bubble.classList.toggle('erased', message.isErased);
    bubble.classList.toggle('emoji', !message.isErased && isOnlyEmoji(message.text));
    return isFolded;
  }

  /** The name at a message: a name of a stranger, or the user's own. */
  #nameIn({ row, name }) {
    return row.message.direction === 'sent' ? this.#words.text('you') : name;
  }

  /** The text of a row that is neither a message nor a day. */
  #lineOf({ row: { kind }, gapKey }) {
    const keys = { unreadDivider: 'newMessagesBelow', beginning: 'beginning' };
    return this.#words.text(keys[kind] ?? gapKey);
  }

  #made(shown) {
    const { row } = shown;
    switch (row.kind) {
      case 'message':
        return this.#makeMessage(shown, this.#nameIn(shown), this.#marksOf(shown));
      case 'day':
        return make('div', { role: 'listitem', class: 'day', part: 'divider day', 'data-kind': 'day' }, make('time', { datetime: row.day }));
      case 'unreadDivider':
        return make(
          'div',
          { role: 'listitem', class: 'unread-divider', part: 'divider unread', 'data-kind': 'unreadDivider' },
          make('span', {}, this.#lineOf(shown)),
        );
      case 'beginning':
        return make(
          'div',
          { role: 'listitem', class: 'beginning', part: 'divider beginning', 'data-kind': 'beginning' },
          this.#lineOf(shown),
        );
      default:
        return make(
          'div',
          { role: 'listitem', class: 'gap', part: 'divider gap', 'data-kind': 'gap' },
          make('span', {}, this.#lineOf(shown)),
        );
    }
  }

  #makeMessage(shown, name, marks) {
    const { message } = shown.row;
    const isOwn = message.direction === 'sent';
    const moment = new Date(message.receivedAt);
    const bubble = make('p', { class: 'bubble', part: 'bubble', dir: 'auto' });
    const isFolded = this.#fill(bubble, shown);
    return make(
      'div',
      { role: 'listitem', class: `row ${message.direction}`, part: `message ${message.direction}`, 'data-kind': 'message' },
      this.#makeAvatar(name, message, isOwn),
      make(
        'div',
        { class: 'row-body', part: 'body' },
        make(
          'p',
          { class: 'row-header', part: 'header' },
          make('bdi', { class: 'row-name', part: 'name' }, name),
          ...marks,
          ' ',
          make(
            'time',
            { datetime: moment.toISOString(), part: 'time', title: this.#words.dayAndTime(message.receivedAt) },
            this.#words.time(message.receivedAt),
          ),
        ),
        isOwn ? make('div', { class: 'bubble-line' }, make('span', { class: 'mark', role: 'img' }), bubble) : bubble,
        isFolded ? this.#moreButton(shown, bubble) : null,
      ),
    );
  }

  /** The nodes of the text, and whether it is longer than they are. */
  #contentOf({ row: { message }, isOpen }) {
    if (message.isErased) return { content: [this.#words.text('erased')], isFolded: false };
    const nodes = this.#nodesFor(message);
    if (nodes !== null) return { content: nodes, isFolded: false };
    const { parts, isFolded } = messageParts(message.text, isOpen);
    return { content: [...parts.map(linkOrText), isFolded ? '…' : null], isFolded };
  }

  #moreButton(shown, bubble) {
    const button = this.#button('showMore', () => {
      this.#opens();
      shown.isOpen = true;
      bubble.replaceChildren(...this.#contentOf(shown).content.filter((each) => each !== null));
      button.remove();
      this.#leave();
    });
    button.classList.add('show-more');
    return button;
  }

  /** One's own is shown in the look of OpenTok's chat only. */
  #makeAvatar(name, message, isOwn) {
    const made = avatar(isOwn ? (message.alias ?? name) : name, message.user ?? message.senderId ?? name);
    if (isOwn) made.classList.add('own-avatar');
    this.#showPicture(made, message, name);
    return made;
  }

  /** The picture of the sender that the page names, or their initial: also if there is no picture at the address. */
  #showPicture(element, message, name) {
    const address = httpsAddress(this.#avatarOf(message));
    const initial = initialOf(message.direction === 'sent' ? (message.alias ?? name) : name);
    if (address === null) {
      element.textContent = initial;
      return;
    }
    const picture = make('img', { src: address, alt: '', referrerpolicy: 'no-referrer', decoding: 'async' });
    picture.addEventListener('error', () => picture.replaceWith(initial));
    element.replaceChildren(picture);
  }

  /** “Today” and “Yesterday”, or the day. */
  nameDay(element, now) {
    const time = element.firstElementChild;
    const day = time.dateTime;
    const yesterday = new Date(now);
    yesterday.setDate(yesterday.getDate() - 1);
    // Noon is on the same day in every time zone.
    const [year, month, date] = day.split('-').map(Number);
    const noon = new Date(year, month - 1, date, 12);
    const isToday = day === this.#dayOf(now);
    const isNear = isToday || day === this.#dayOf(yesterday.getTime());
    const name = isNear ? this.#words.relativeDay(isToday ? 0 : -1) : this.#words.day(noon.getTime());
    if (time.textContent !== name) time.textContent = name;
  }

  /** Changes the note only, so that a screen reader does not read the whole message again. */
  showNote({ element, state, row: { message } }) {
    element.dataset.state = state;
    if (state === 'received') return;
    const mark = element.querySelector('.mark');
    mark.title = this.#words.text(MARKS[state]);
    mark.setAttribute('aria-label', mark.title);
    const body = element.querySelector('.row-body');
    const note = body.querySelector('.row-state');
    const hadFocus = note?.contains(element.getRootNode().activeElement) ?? false;
    note?.remove();
    if (state === 'held') body.append(this.#heldNote());
    if (state === 'failed') body.append(this.#failedNote(message));
    if (hadFocus) this.#leave();
  }

  #heldNote() {
    const sentence = make('span', {}, this.#words.text('waitingForFailed'));
    return make('p', { class: 'row-state' }, sentence, ' ', this.#button('sendWithoutIt', () => this.#pass()));
  }

  /** Only what may help: a message that the server refuses is refused again. */
  #failedNote({ localId, failure }) {
    const { key, remedy } = causeOfUnsent(failure?.code, failure?.restriction);
    const sentence = make('span', {}, this.#words.text(key));
    const retry = remedy === 'retry' ? this.#button('tryAgain', () => this.#retry(localId)) : null;
    const edit = remedy === 'edit' ? this.#button('edit', () => this.#edit(localId)) : null;
    const discard = this.#button('discard', () => this.#discard(localId));
    return make('p', { class: 'row-state' }, sentence, ' ', retry, edit, discard);
  }

  #button(key, act) {
    const button = make('button', { type: 'button', class: 'link' }, this.#words.text(key));
    button.addEventListener('click', act);
    return button;
  }
}

/** The nodes of a plain text, with its links. */
export function textNodes(text) {
  return messageParts(text, true).parts.map(linkOrText);
}

/**
 * The opened page learns neither this page nor its address, and cannot navigate it. A right-to-left letter or a mark of
 * the text reorders neither the link nor, inside of it, the host with the rest.
 */
function linkOrText({ text, address, shown }) {
  if (address === undefined) return text;
  const [scheme, host, rest] = shown;
  // The program for mail is no page.
  const target = address.startsWith('mailto:') ? null : '_blank';
  const attributes = { href: address, dir: 'ltr', target, rel: 'noopener noreferrer' };
  return make('a', attributes, scheme, make('bdi', { dir: 'ltr' }, host), rest);
}

/** The state of an own message → the key of its name. */
const MARKS = { pending: 'stateSending', held: 'stateWaiting', sent: 'stateSent', failed: 'stateFailed' };
