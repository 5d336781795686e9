import { RowFinder } from '../changes/row-finder.js';
import { DayClock } from './day-clock.js';
import { isSelectedIn, windowOf } from './dom.js';
import { FramePace } from './frame-pace.js';
import { MessageFacts } from './message-facts.js';
import { RowBlocks } from './row-blocks.js';
import { RowElements } from './row-elements.js';
import { Sight } from './sight.js';

/** Closer to the end than this many pixels counts as being at the end. */
const END_SLACK = 48;

/** Closer to the beginning than this many pixels, earlier messages are loaded. */
const EARLIER_MARGIN = 600;

/** How long a screen reader is given to see loaded messages without reading them out. */
const QUIET_MILLISECONDS = 500;

/** Pixels above the divider that stay visible when the list scrolls to it. */
const DIVIDER_MARGIN = 24;

/**
 * The rows of the chat on the page, in the same order. A change of the rows changes its elements only, so that the
 * scroll position and the focus of a screen reader stay. Elements are made once for each frame, and only for rows that
 * `RowBlocks` wants to have them: the cost of a burst of messages does not grow with the burst.
 */
export class MessagesView {
  #scroll;
  #rows;
  #facts;
  #list;
  #dropped;
  #droppedCount;
  #shownDroppedCount = 0;
  /** The first message in the view, which stays in its place there: `{element, top}`; null while the list follows its end. */
  #anchor = null;
  /** Loaded messages wait for their frame. */
  #isLoading = false;
  #quietTimer = null;
  #empty;
  #pill;
  #unreadCount = 0;
  /**
   * The rows of the day separators, and that of the unread divider. A row here is
   * `{row, state, element, name, isGuest, number, gapKey}`: what the timeline has, and what its element shows.
   */
  #days = new Set();
  #divider = null;
  #dayClock = new DayClock(() => this.nameDays(Date.now()));
  #lastTop = 0;
  #pace = new FramePace(() => this.#showFrame(), () => windowOf(this.#scroll));
  #resized = null;
  /** Element → its row. */
  #shown = new WeakMap();
  /** The rows of own messages that are not acknowledged yet. */
  #unsettled = new Set();
  #nameOf;
  #isGuest;
  #numberOf;
  #elements;
  #isHeld;
  #moved;
  #nearBeginning;
  #changes;
  #limit;
  #isPinned = true;
  /** Whether the user can see the end of the list. */
  #sight;
  #gapKey = 'gap';
  #words;

  /**
   * `nameOf(message)` and `dayOf(milliseconds)` are as in the rows, and `isGuest(message)` says whether the name has the
   * mark of a guest, and `numberOf(message)` is the number beside it, or null. `hasMenu(message)` says whether the message has a menu, and `openMenu(message, name, button)` opens
   * it. `words` are the texts. `retry(localId)`,
   * `edit(localId)` and `discard(localId)` handle a failed message, `pass()` sends the messages that wait behind it, and
   * `isHeld(localId)` says whether a message waits there. `factsOf(message)` is the text about a message's way, see
   * `MessageFacts`. `moved()` is called when the user scrolls to the end or away from it, and when the list is shown or
   * hidden, and `nearBeginning()` when the user scrolls close to the first message. `limit`: how many messages the chat
   * keeps; `droppedCount()`: how many it has dropped. `avatarOf(message)` is the address of a picture of the sender, or
   * null, `nodesFor(message)` are nodes in place of its text, or null, `places` are the `RowPlaces` of the page,
   * and `changes` is the `ChangesControl`.
   */
  constructor(
    part,
    {
      nameOf, isGuest, numberOf, words, isHeld, factsOf, moved, nearBeginning, limit, droppedCount, changes, ...ofRows
    },
  ) {
    this.#words = words;
    this.#elements = new RowElements({
      ...ofRows, words, changes,
      leave: () => this.#scroll.focus({ preventScroll: true }),
      opens: () => this.#setPinned(false),
    });
    this.#list = part('messages');
    this.#scroll = part('messages-scroll');
    this.#rows = new RowBlocks(
      this.#list, this.#scroll, (shown) => this.#makeElement(shown), () => this.#pace.request(),
      (shown) => this.#elements.release(shown),
    );
    this.#dropped = part('messages-dropped');
    this.#changes = changes;
    this.#facts = new MessageFacts(
      part, this.#rows, (element) => factsOf(this.#shown.get(element).row.message),
      (event, element) => changes?.loaded?.pressed(event, this.#shown.get(element)) ?? false,
    );
    /** Where a message is. */
    this.finder = new RowFinder(this.#rows, this.#scroll, { facts: this.#facts, leaveEnd: () => this.#setPinned(false) });
    this.#empty = part('empty');
    this.#pill = part('new-messages');
    this.#nameOf = nameOf;
    this.#isGuest = isGuest;
    this.#numberOf = numberOf;
    this.#isHeld = isHeld;
    this.#moved = moved;
    this.#nearBeginning = nearBeginning;
    this.#limit = limit;
    this.#droppedCount = droppedCount;
    this.#pill.addEventListener('click', () => this.#goToUnread());
    this.#scroll.addEventListener('scroll', () => this.#scrolled());
    this.#sight = new Sight(part('list-end'), () => this.#moved());
    this.#watchSize();
  }

  /** The list is in a page again. The browser has forgotten its place. */
  arrived() {
    if (this.#isPinned) this.scrollToEnd();
    else this.#scroll.scrollTop = this.#lastTop;
  }

  /** The page is about to be printed, with all messages. */
  print() {
    this.#rows.renderAll();
  }

  printed() {
    this.#pace.request();
  }

  /** The list is in another window now. */
  adopted() {
    this.#watchSize();
    this.#pace.request();
  }

  #watchSize() {
    this.#resized?.disconnect();
    // A growing text field or the keyboard of a phone makes the list shorter, and a block of rows gets another height
    // when the browser first shows it. Keep the newest message visible.
    this.#resized = new (windowOf(this.#scroll).ResizeObserver)(() => {
      const { clientHeight } = this.#scroll;
      if (this.#rows.viewHeight !== clientHeight) this.#pace.request();
      this.#rows.viewHeight = clientHeight;
      if (this.#isPinned) this.#follow();
      else this.#keepPlace();
    });
    this.#sight.watch();
    this.#resized.observe(this.#scroll);
    this.#resized.observe(this.#list);
  }

  /** Writes everything anew in another language. The rows keep their elements, and with them place and focus. */
  set words(words) {
    this.#words = words;
    this.#elements.words = words;
    for (let index = 0; index < this.#rows.count; index += 1) {
      const shown = this.#rows.at(index);
      if (shown.element !== null) this.#elements.reword(this.#named(shown));
    }
    this.#writeDropped();
    this.#showPill();
    this.showFacts();
  }

  /** The user may do something else with messages now. */
  showMenus() {
    this.#forEachMessage((shown) => this.showMenu(shown));
  }

  showMenu(shown) {
    this.#elements.showMenu(shown);
  }

  /** Names that are shown may be others now, and some sender may be the first to have a user. */
  showNames() {
    this.#forEachMessage((shown) => {
      const { name, isGuest, number } = shown;
      const isSame = this.#named(shown).name === name && shown.isGuest === isGuest && shown.number === number;
      if (!isSame) this.#elements.showSender(shown);
    });
    this.#changes?.loaded?.renamed();
  }

  /** The page shows messages in another way from now on. */
  showContents() {
    this.#forEachMessage((shown) => this.#elements.showContent(shown));
    this.#pace.request();
  }

  /** Shows what the messages answer, and which were edited. */
  decorate() {
    this.#forEachMessage((shown) => this.#changes.decorate(shown));
  }

  #forEachMessage(act) {
    for (let index = 0; index < this.#rows.count; index += 1) {
      const shown = this.#rows.at(index);
      if (shown.element !== null && shown.row.kind === 'message') act(shown);
    }
  }

  /** Whether the list is scrolled to the end, and follows new messages. */
  get isPinned() {
    return this.#isPinned;
  }

  /** Whether the user can see the newest message. */
  get isSeen() {
    return this.#isPinned && this.#sight.isSeen;
  }

  /** Whether the page may show the newest message at any time, without telling. */
  get mayBeSeen() {
    return this.#isPinned && this.#sight.isInView;
  }

  /**
   * Applies the changes of the rows to the elements; see `timeline-change.js`. `isLoaded`: they come from the history. The
   * user keeps the view, and a screen reader does not read them out.
   */
  apply(changes, { isLoaded = false } = {}) {
    if (isLoaded) {
      this.#isLoading = true;
      // Set before the elements are there.
      this.#list.setAttribute('aria-live', 'off');
    }
    for (const change of changes) {
      if (change.insert) this.#insert(change.insert, change.at);
      else if (change.remove !== undefined) this.#remove(change.at);
      else if (change.move !== undefined) this.#move(change.from, change.to);
      else this.#update(this.#rows.at(change.at), change.update);
    }
    this.showHeld();
    this.#pace.request();
  }

  /** While `act` adds a gap, the gap tells that the room has a new session. The rows above it stay. */
  noteNewSession(act) {
    this.#gapKey = 'newConversation';
    act();
    this.#gapKey = 'gap';
  }

  /** Shows the facts of a message anew, if the user looks at them. */
  showFacts() {
    if (this.#facts.isShown) this.#facts.show();
  }

  /** Shows which messages wait for a failed one. */
  showHeld() {
    for (const shown of this.#unsettled) this.#showState(shown);
  }

  /** Shows the number of unread messages, unless the user sees them. */
  showUnread(count) {
    this.#unreadCount = count;
    this.#pace.request();
  }

  #showPill() {
    const count = this.#unreadCount;
    this.#pill.hidden = count === 0 || this.#isPinned;
    if (count > 0) this.#pill.textContent = this.#words.text('newMessages', { count });
  }

  /** Names the days, now and at each midnight while the user may see them: “Today” becomes “Yesterday”. */
  nameDays(now) {
    this.#dayClock.run(now, this.#days.size > 0 && this.#scroll.isConnected && !this.#scroll.ownerDocument.hidden);
    for (const { element } of this.#days) if (element !== null) this.#elements.nameDay(element, now);
  }

  /** Removes all rows, for another room. */
  clear() {
    this.#unsettled.clear();
    this.#days.clear();
    this.#divider = null;
    this.#rows.clear();
    this.#facts.show();
    this.#isLoading = false;
    this.#unreadCount = 0;
    this.#showDropped(0);
    this.#empty.hidden = false;
    this.#pill.hidden = true;
    this.#isPinned = true;
  }

  scrollToEnd() {
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#lastTop = this.#scroll.scrollTop;
    this.#setPinned(true);
  }

  /** Shows the changes, and scrolls to the end: many messages before a frame cost one layout. */
  #showFrame() {
    this.#rows.render(this.#isPinned, { laysOut: this.#isLoading && !this.#isPinned });
    this.#empty.hidden = this.#rows.count > 0;
    this.#showDropped(this.#droppedCount());
    this.#showPill();
    if (this.#isPinned) this.#follow();
    else this.#keepPlace();
    if (this.#isLoading) this.#endLoad();
    this.showFacts();
  }

  /** Text under the pointer does not move away while the user selects it. */
  #follow() {
    if (!isSelectedIn(this.#scroll)) this.scrollToEnd();
    else if (!this.#isAtEnd()) this.#setPinned(false);
  }

  /** Notes what the user sees. Of several messages the first one stays in its place. */
  #noteAnchor() {
    this.#anchor = null;
    if (this.#isPinned) return;
    const { top } = this.#scroll.getBoundingClientRect();
    const isInView = (each) => each.getBoundingClientRect().bottom > top;
    const block = [...this.#list.children].find(isInView);
    const element = [...(block?.children ?? [])].find((each) => each.dataset.kind === 'message' && isInView(each));
    if (element !== undefined) this.#anchor = { element, top: this.#placeOf(element) };
  }

  /**
   * What is above the view has another height: the user sees the same messages in the same place. Browsers that do so by
   * themselves lose the place where they have not laid out what is above it.
   */
  #keepPlace() {
    const { element, top } = this.#anchor ?? {};
    // The user has scrolled, and the event is still to come.
    if (!element?.isConnected || Math.abs(this.#scroll.scrollTop - this.#lastTop) > 1) return;
    const moved = this.#placeOf(element) - top;
    if (Math.abs(moved) < 1) return;
    this.#scroll.scrollTop += moved;
    this.#lastTop = this.#scroll.scrollTop;
  }

  /** Where a row lies in the view, or will lie when it has arrived: a new row moves to its place. */
  #placeOf(element) {
    const place = element.getBoundingClientRect().top - this.#scroll.getBoundingClientRect().top;
    if (!element.classList.contains('arriving')) return place;
    const { DOMMatrixReadOnly, getComputedStyle } = windowOf(element);
    return place - new DOMMatrixReadOnly(getComputedStyle(element).transform).m42;
  }

  #endLoad() {
    this.#isLoading = false;
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#list.removeAttribute('aria-live'), QUIET_MILLISECONDS);
    // In the frame after the next the browser has measured the new rows, and may skip them.
    const { requestAnimationFrame } = windowOf(this.#scroll);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (this.#isLoading) return;
      this.#pace.request();
      // Who has scrolled to the beginning while the page came would have to scroll away from it to get the next one.
      if (!this.#isPinned && this.#scroll.scrollTop < EARLIER_MARGIN) this.#nearBeginning();
    }));
  }

  /** A list that follows its end stays there until the user scrolls up: its rows may grow before the next frame. */
  #scrolled() {
    const top = this.#scroll.scrollTop;
    const hasMovedUp = top < this.#lastTop;
    this.#lastTop = top;
    if (this.#isAtEnd()) this.#setPinned(true);
    else if (hasMovedUp) this.#setPinned(false);
    this.#noteAnchor();
    if (hasMovedUp && top < EARLIER_MARGIN) this.#nearBeginning();
  }

  #goToUnread() {
    const target = this.#divider ? this.#topOf(this.#rows.elementOf(this.#divider)) - DIVIDER_MARGIN : Infinity;
    // If the list has scrolled to the divider already, go to the end.
    if (target > this.#scroll.scrollTop + 1) this.#scroll.scrollTop = Math.min(target, this.#scroll.scrollHeight);
    else this.scrollToEnd();
    this.#setPinned(this.#isAtEnd());
    this.#scroll.focus({ preventScroll: true });
  }

  #setPinned(isPinned) {
    if (this.#isPinned === isPinned) return;
    this.#isPinned = isPinned;
    this.#noteAnchor();
    if (isPinned) this.#pill.hidden = true;
    // Rows above the view have no elements while the list follows its end.
    else this.#pace.request();
    this.#moved();
  }

  /** Where an element is in the content of the list. */
  #topOf(element) {
    return element.getBoundingClientRect().top - this.#scroll.getBoundingClientRect().top + this.#scroll.scrollTop;
  }

  #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroll;
    return scrollHeight - scrollTop - clientHeight < END_SLACK;
  }

  // Rows

  #insert(row, at) {
    const shown = { row, state: undefined, element: null, name: null, isGuest: false, number: null, gapKey: this.#gapKey };
    shown.isArriving = row.kind === 'message' && !this.#isLoading && this.#isPinned;
    // Before the row is inserted: it may get its element at once.
    if (row.kind === 'message') this.#showState(shown);
    this.#rows.insert(shown, at);
    this.#pace.request(1);
    if (row.kind === 'unreadDivider') this.#divider = shown;
    if (row.kind === 'day') {
      this.#days.add(shown);
      this.nameDays(Date.now());
    }
  }

  /** With the name of its sender, as it is now. */
  #named(shown) {
    const { kind, message } = shown.row;
    if (kind !== 'message' || message.direction !== 'received') return shown;
    shown.name = this.#nameOf(message);
    shown.isGuest = this.#isGuest(message);
    shown.number = this.#numberOf(message);
    return shown;
  }

  #remove(at) {
    const shown = this.#rows.at(at);
    const { element, row } = shown;
    // Without this, keyboard users would start again at the beginning of the page.
    const hadFocus = element?.contains(element.getRootNode().activeElement) ?? false;
    this.#unsettled.delete(shown);
    this.#days.delete(shown);
    if (this.#divider === shown) this.#divider = null;
    this.#changes?.loaded?.removed(shown);
    this.#rows.remove(at);
    if (hadFocus) this.#scroll.focus({ preventScroll: true });
  }

  /** Tells at the top of the list how many of the oldest messages are gone. */
  #showDropped(count) {
    this.#dropped.hidden = count === 0;
    if (count === this.#shownDroppedCount) return;
    this.#shownDroppedCount = count;
    this.#writeDropped();
  }

  #writeDropped() {
    const count = this.#shownDroppedCount;
    this.#dropped.textContent = count === 0 ? '' : this.#words.text('dropped', { limit: this.#limit, count });
  }

  #move(from, to) {
    this.#rows.insert(this.#rows.remove(from), to);
  }

  #update(shown, row) {
    if (row.kind !== 'message') return;
    const { message: before } = shown.row;
    const isOther = row.message !== before;
    const isChanged = row.message.isErased !== before.isErased || row.message.version !== before.version;
    shown.row = row;
    if (shown.element !== null) this.#elements.showPosition(shown);
    if (shown.element !== null && isChanged) this.#elements.showChange(this.#named(shown));
    else if (shown.element !== null && isOther) this.#elements.showPlaces(shown);
    // An own message gets its seq, and an erased one cannot be deleted again.
    if (shown.element !== null) this.#elements.showMenu(shown);
    if (isOther) this.#changes?.loaded?.updated(shown);
    this.#showState(shown);
  }

  #makeElement(shown) {
    const element = this.#elements.make(this.#named(shown));
    this.#shown.set(element, shown);
    return element;
  }

  #showState(shown) {
    const state = this.#stateOf(shown.row.message);
    if (state === 'pending' || state === 'held' || state === 'failed') this.#unsettled.add(shown);
    else this.#unsettled.delete(shown);
    if (shown.state === state) return;
    shown.state = state;
    if (shown.element !== null) this.#elements.showNote(shown);
  }

  #stateOf({ direction, state, localId }) {
    if (direction === 'received') return 'received';
    if (state !== 'sending') return state;
    return this.#isHeld(localId) ? 'held' : 'pending';
  }
}
