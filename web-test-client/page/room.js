import { CableView } from './demo/cable-view.js';
import { copyText } from './clipboard.js';
import { find } from './dom.js';
import { lastingUser } from './lasting-user.js';
import { newLibrary } from './library.js';
import { Pane } from './pane.js';
import { labelOf } from './page-link.js';
import { noteJoined, noteLeft } from './room-history.js';
import { Score } from './demo/score.js';
import { Witness } from './demo/witness.js';

const COPIED_MILLISECONDS = 1500;

/** The title shows the count of unread messages at most once in this time. */
const TITLE_MILLISECONDS = 100;

/**
 * The room on the page: a pane for the user, or two panes for two users, with a cable and a score between them. It uses
 * the library as any application does, through its public calls.
 */
export class Room {
  #isDemo;
  #hasTools;
  #words;
  #callbacks;
  /** The room or session that the user asked to join. */
  #request = null;
  #first;
  #second = null;
  /** Made once, since `initSession` returns the same Session for the same id. */
  #secondLibrary = null;
  #score = new Score();
  #cable;
  #ends = new Map();
  #endIds = new Set();
  #isIn = false;
  #willShowTitle = false;
  #isTitleOld = false;

  /**
   * `joined()`, `left()` and `failed(message)` are called when the form is not needed any more, or again. In a demo the
   * second user joins, too. `hasTools`: the page shows what developers use.
   */
  constructor({ isDemo, hasTools, words, joined, left, failed }) {
    this.#isDemo = isDemo;
    this.#hasTools = hasTools;
    this.#words = words;
    this.#callbacks = { joined, left, failed };
    this.#cable = new CableView(words, (isPulled) => this.#second?.setOffline(isPulled));
    this.#first = new Pane({
      ...newLibrary(),
      words,
      hasTools,
      access: (signal) => accessFor(this.#request, signal),
      ends: this.#ends,
      nameEnd: (connectionId, name) => this.#nameEnd(connectionId, name),
      witness: this.#witness('first'),
      joined: () => this.#show(),
      left: () => this.#left(),
      failed: (...why) => {
        this.#hide();
        failed(...why);
      },
      unread: () => this.#unreadChanged(),
    });
    this.#add(this.#first);
    // Without tools, a phone has nothing else there.
    if (!hasTools) find('more').textContent = words.text('participants');
    find('more').addEventListener('click', () => {
      find('more').setAttribute('aria-expanded', String(document.body.classList.toggle('with-tools')));
    });
    find('leave').addEventListener('click', () => this.leave());
    find('second').addEventListener('click', () => (this.#second ? this.#closeSecond() : this.#openSecond()));
    find('invite').addEventListener('click', () => this.#copyLink());
  }

  /**
   * Joins: `{name, room, role}` or `{name, apiKey, sessionId, token}`. The user has waited for `waited` milliseconds
   * already.
   */
  enter(request, waited = 0) {
    this.#request = request;
    this.#first.enter(waited);
  }

  /** Leaves the room, or ends the attempt to join. */
  leave() {
    if (this.#isIn) this.#first.leave();
    else this.#first.cancel();
  }

  /** Shows a sentence for a while. */
  tell(text) {
    this.#first.tell(text);
  }

  #witness(name) {
    return new Witness(this.#score, name, this.#endIds, () => this.#cable.show(this.#score));
  }

  #nameEnd(connectionId, name) {
    this.#ends.set(connectionId, name);
    for (const pane of [this.#first, this.#second]) pane?.endNamed(connectionId, name);
  }

  #add(pane) {
    pane.element.hidden = true;
    find('panes').append(pane.element);
  }

  #show() {
    this.#isIn = true;
    this.#callbacks.joined();
    find('panes').hidden = false;
    find('room-actions').hidden = false;
    const { room } = this.#request;
    const name = find('room-name');
    name.textContent = this.#roomName;
    name.hidden = false;
    // A session without a room has no link that is good for all users: `signalbox link` makes one for each.
    find('invite').hidden = room === undefined;
    noteJoined(this.#request, room && roomLink({ ...(this.#isDemo ? { demo: '' } : {}), room }));
    this.#showTitle();
    this.#first.chat.focus();
    if (this.#isDemo && !this.#second) this.#openSecond();
  }

  /** What people call the room: its name, or the label of the session. */
  get #roomName() {
    const { room, sessionId } = this.#request;
    return room ?? labelOf(sessionId) ?? this.#words.text(this.#hasTools ? 'session' : 'chat');
  }

  #hide() {
    find('panes').hidden = true;
    find('room-actions').hidden = true;
    find('room-name').hidden = true;
  }

  #left() {
    this.#isIn = false;
    noteLeft();
    this.#closeSecond();
    this.#first.element.hidden = true;
    this.#hide();
    this.#callbacks.left();
    this.#showTitle();
  }

  /** Opens the pane of a second user, who joins the same room. */
  #openSecond() {
    this.#secondLibrary ??= newLibrary();
    this.#second = new Pane({
      ...this.#secondLibrary,
      words: this.#words,
      hasTools: this.#hasTools,
      suffix: '-2',
      access: (signal) => accessFor(this.#secondRequest(), signal),
      ends: this.#ends,
      nameEnd: (connectionId, name) => this.#nameEnd(connectionId, name),
      witness: this.#witness('second'),
      joined: () => this.#showTitle(),
      left: () => this.#closeSecond(),
      failed: () => this.#closeSecond(),
      unread: () => this.#unreadChanged(),
      offlineChanged: (isOffline) => (this.#cable.isPulled = isOffline),
    });
    this.#add(this.#second);
    this.#showSecond(true);
    this.#cable.show(this.#score);
    this.#second.enter();
  }

  /** With the user's own token both users have the same connection data, so the page names the second one by itself. */
  #secondRequest() {
    const isRoom = this.#request.room !== undefined;
    const name = this.#words.text(this.#isDemo && isRoom ? 'endUser' : 'secondUser');
    return { ...this.#request, name, role: 'publisher', user: lastingUser('-2'), ...(isRoom ? {} : { endName: name }) };
  }

  #closeSecond() {
    this.#second?.remove();
    this.#second = null;
    this.#showSecond(false);
    this.#showTitle();
  }

  #showSecond(isShown) {
    find('second').setAttribute('aria-pressed', String(isShown));
    find('panes').classList.toggle('two', isShown);
    this.#cable.isHidden = !isShown;
    this.#cable.isPulled = false;
  }

  /** Many messages one after the other change the title rarely. A hidden page has no frames, so a timer waits. */
  #unreadChanged() {
    this.#isTitleOld = true;
    if (this.#willShowTitle) return;
    this.#showTitle();
    this.#willShowTitle = true;
    setTimeout(() => {
      this.#willShowTitle = false;
      if (this.#isTitleOld) this.#unreadChanged();
    }, TITLE_MILLISECONDS);
  }

  #showTitle() {
    this.#isTitleOld = false;
    const inRoom = this.#hasTools ? `${this.#roomName} · Signalbox` : this.#roomName;
    const title = find('panes').hidden ? 'Signalbox' : inRoom;
    const count = document.hidden || !this.#second ? this.#first.unreadCount : 0;
    const shown = count > 0 ? `(${count}) ${title}` : title;
    if (document.title !== shown) document.title = shown;
  }

  async #copyLink() {
    const button = find('invite');
    const isCopied = await copyText(roomLink({ room: this.#request.room }));
    button.textContent = this.#words.text(isCopied ? 'linkCopied' : 'copyByHand');
    setTimeout(() => (button.textContent = this.#words.text('copyLink')), COPIED_MILLISECONDS);
  }
}

/** The credentials for a request; a server with rooms makes them. A reload and another tab are the same user. */
async function accessFor(request, signal) {
  if (request.room === undefined) return request;
  const { name, room, role, user = lastingUser() } = request;
  const query = new URLSearchParams({ data: name, user });
  if (role !== 'publisher') query.set('role', role);
  const response = await fetch(`./room/${encodeURIComponent(room)}?${query}`, { signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return { ...(await response.json()), name, room };
}

function roomLink(query) {
  const link = new URL(location.href);
  link.search = new URLSearchParams(query).toString().replace('demo=', 'demo');
  link.hash = '';
  return link.href;
}
