import { overlaid, withOwnSets } from './overlay.js';

/** The most messages of a page that fills a gap: the most that a server sends (HIS-6). */
const GAP_LIMIT = 200;
/** The most messages of the newest page, and of a page of earlier messages. */
const PAGE_LIMIT = 50;
/** So many changes may come while a page is on its way. With more, the page is asked for anew. */
const CHANGE_LIMIT = 1000;
const ALL = Object.freeze([0, Infinity]);

/**
 * What a chat reads of its session's history, and when: the newest page after the first connect, the messages that were
 * missed or changed in an absence, and earlier messages when the user wants them. It asks for one page at a time. It
 * knows neither a channel nor the rows.
 *
 * Two rules make it exact. A page that reaches the end of the history and the events from that connect on leave nothing
 * out between them (HIS-4). And a new connection continues the order of the former one as long as the epoch stays
 * (HIS-3): all that may be missing then is behind the last event. Where the server tells changes, it says which of the
 * older messages have changed since then (CHG-10); what it cannot say, and another epoch, the chat reads again.
 */
export class HistoryReader {
  /**
   * The phase of the channel's connection, with what it needs:
   *
   * - `new`: there was none. Next: `up`.
   * - `away`, with `order` and `isOther`: there is none. Next: `up`.
   * - `returning`, with `order` and `wantsEarlier`: the channel tries to get the same one back. Next: `up`, `away`.
   * - `up`, with `order`, `wantsEarlier` and `task`, the page that was asked for, or null. Next: `returning`, `away`.
   *
   * An order is `{connection, epoch, tellsChanges, known, stale, again}`. `stale` is `{after, until}` where changes behind
   * `after` may be missing, perhaps one with the seq `until`; else null. Behind `again` the chat has to read what it shows
   * once more; null: it need not. `known` is null without a history, else what the chat has of it:
   *
   * - `nothing`, with `gap` or null, and `isStalled`: the newest page was not read. Next: `all`, `part`.
   * - `all`: whatever is up to `position`. Next: `part`.
   * - `part`, with `gap` and `isStalled`: behind `gap.after` messages may be missing. Next: `all`.
   *
   * After several losses the gap is the first: pages may repeat. `gap.liveFrom` is the first event behind the last loss: a
   * page that reaches it leaves nothing out. `isStalled`: a page could not be read, and the chat tries again after the
   * next connect. Each has `position`: up to this seq the chat has all messages that it will get without asking. And each
   * has `heard`: up to this seq the chat knows the changes of what it shows. A page may be ahead of the events, and tells
   * those of its own messages only, so this is the last event, or how far the server has told changes.
   */
  #phase = { is: 'new' };
  /** `{code, message}` of the last failure; null after a success. */
  error = null;

  get #known() {
    return this.#phase.order?.known ?? null;
  }

  set #known(known) {
    if (this.#known !== null) this.#phase.order.known = known;
  }

  /** Whether the newest page was read, so that the chat knows what there is. */
  get hasRead() {
    return this.hasHistory && this.#known.is !== 'nothing';
  }

  get hasHistory() {
    return this.#known !== null;
  }

  get isLoadingEarlier() {
    return this.#phase.wantsEarlier ?? false;
  }

  /** Where messages may be missing, if they could not be read. */
  get unreadGap() {
    return this.#known?.isStalled ? (this.#known.gap?.after ?? null) : null;
  }

  // Events

  /** The channel has this connection. Returns whether a new order begins: seqs do not continue those before. */
  enter(connection, { hasHistory, epoch, changes = null }) {
    const { is, order: former = null, wantsEarlier = false, isOther = false } = this.#phase;
    if (is === 'up' && connection === former.connection) return false;
    const continues = hasHistory && this.hasHistory && epoch !== null && epoch === former.epoch;
    const begun = hasHistory ? { is: 'nothing', position: 0, heard: 0, gap: null, isStalled: false } : null;
    const begins = former !== null && connection !== former.connection && !continues;
    const isAnother = begins && hasHistory && this.hasHistory && !isOther;
    const { stale = null, again = null } = continues ? former : { again: isAnother ? 0 : null };
    const known = continues ? resumed(former.known) : begun;
    const order = { connection, epoch, tellsChanges: changes !== null, known, stale, again };
    this.#phase = { is: 'up', order, wantsEarlier: continues && wantsEarlier, task: null };
    if (continues && is !== 'returning') this.#miss();
    return begins;
  }

  reconnecting() {
    const { order, wantsEarlier = false } = this.#phase;
    // Nobody answers a request of a lost socket (HIS-7).
    if (order) this.#phase = { is: 'returning', order, wantsEarlier };
  }

  /** The same connection, or a recovered one, continues. */
  reconnected() {
    const { order, wantsEarlier = false, task = null } = this.#phase;
    if (!order) return;
    this.#phase = { is: 'up', order, wantsEarlier, task };
    this.#known = resumed(this.#known);
  }

  /** `isOther`: the chat has another channel, perhaps of another session. */
  disconnected(isOther = false) {
    const { order } = this.#phase;
    if (order) this.#phase = { is: 'away', order, isOther };
  }

  /** Events are missing. Returns the seq behind which they are; null: a new order begins, as without a history. */
  lost() {
    if (!this.hasHistory) return null;
    this.#miss();
    return this.#known.position;
  }

  #miss() {
    const { is, position, heard, gap = null, isStalled = false } = this.#known;
    const missing = { after: gap?.after ?? position, liveFrom: null };
    this.#known = { is: is === 'nothing' ? is : 'part', position, heard, gap: missing, isStalled };
    this.#age(heard);
    if (this.#phase.is === 'up') this.#phase.task = null;
  }

  /** Behind this seq changes may be missing, perhaps one with the seq `until`. */
  #age(after, until = 0) {
    const { order } = this.#phase;
    const { stale } = order;
    order.stale = { after: Math.min(stale?.after ?? after, after), until: Math.max(stale?.until ?? 0, until) };
  }

  /** An event of the session's order has arrived. */
  received(seq) {
    this.#advance(seq);
    if (this.hasHistory) this.#known.heard = seq;
    if (this.#known?.gap) this.#known.gap.liveFrom ??= seq;
  }

  /** A message was edited, or changed in a way that this version does not know (CHG-2): that is asked for. */
  changed(change) {
    this.received(change.seq);
    if (change.rel !== 'edit' && this.hasHistory) this.#age(change.seq - 1, change.seq);
    this.overlay(change);
  }

  /** An edit, an erasure or a reaction: a page that is on its way may be older. */
  overlay(change) {
    const { task } = this.#phase;
    task?.changes.push(change);
    if (task?.changes.length > CHANGE_LIMIT) this.#phase.task = null;
  }

  // Requests

  /** Returns whether a page is being read, or will be. */
  loadEarlier() {
    const { is } = this.#phase;
    if ((is !== 'up' && is !== 'returning') || !this.hasHistory) return false;
    this.#phase.wantsEarlier = true;
    if (!this.hasRead) this.#known.isStalled = false;
    return true;
  }

  /**
   * The page to ask for now, as `{kind, request}`; null: none. `shown` is what the chat shows: `floor`, the oldest seq that
   * it has read, and `oldestSeq`.
   */
  next(shown) {
    const { is, order, task, wantsEarlier } = this.#phase;
    if (is !== 'up' || !this.hasHistory || task !== null) return null;
    const { is: has, gap, isStalled } = this.#known;
    const isOld = (order.stale ?? order.again) !== null;
    // What is not shown cannot be old.
    if (isOld && (!order.tellsChanges || shown.oldestSeq === null)) order.stale = order.again = null;
    if (!isStalled) {
      const { stale, again } = order;
      if (stale !== null) return this.#ask('changed', { changedAfter: stale.after, limit: GAP_LIMIT }, stale.until);
      if (has === 'nothing') return this.#ask('newest', { limit: PAGE_LIMIT });
      if (again !== null) {
        const first = Math.min(shown.oldestSeq - 1, gap?.after ?? Infinity);
        return this.#ask('again', { after: Math.max(again, first), limit: GAP_LIMIT });
      }
      if (has === 'part') return this.#ask('missed', { after: gap.after, limit: GAP_LIMIT });
    }
    const before = shown.floor === null ? {} : { before: shown.floor };
    return wantsEarlier && has !== 'nothing' ? this.#ask('earlier', { ...before, limit: PAGE_LIMIT }) : null;
  }

  #ask(kind, request, until = null) {
    this.#phase.task = { kind, request, until, position: this.#known.position, changes: [] };
    return this.#phase.task;
  }

  /**
   * The answer to `task`, a result of `next`. `shown` is what the chat shows: `knows(seq)`, whether it has a message up to
   * this seq, and `oldestSeq`. Returns where the page belongs, for `ChatTimeline.merge`; null: the answer comes too late.
   */
  answer(task, page, shown) {
    if (!this.#settle(task)) return null;
    this.error = null;
    const messages = overlaid(withOwnSets(page), task.changes);
    const read = { ...page, messages, through: page.messages.at(-1)?.seq ?? 0 };
    switch (task.kind) {
      case 'newest':
        return this.#readNewest(read, page.more, shown, task.position);
      case 'missed':
        return this.#readMissed(read, hasForgotten(this.#known.gap?.after, page.first, shown));
      case 'again':
        return this.#readAgain(read, task);
      case 'changed':
        return this.#readChanged(read, task);
      case 'earlier':
        this.#phase.wantsEarlier = false;
        return place(messages, {
          floor: messages[0]?.seq ?? null, isBeginning: !page.more || messages.length === 0, isEarlier: true,
        });
    }
  }

  /** The page that the connect asked for. It does not say whether it is the newest, or follows a message. */
  answerToConnect(page, shown) {
    const { first = null, last = null } = page;
    const { task = null } = this.#phase;
    const messages = overlaid(withOwnSets(page), task?.changes ?? []);
    if (last !== null && (messages.length === 0 || messages.at(-1).seq < last)) return place(messages);
    if (task?.kind === 'newest') this.#settle(task);
    return this.#readNewest({ ...page, messages }, first !== null && messages[0].seq > first, shown, last ?? 0);
  }

  /** Returns false if the answer comes too late. */
  fail(task, error) {
    if (!this.#settle(task)) return false;
    this.error = error;
    if (task.kind !== 'earlier') this.#known.isStalled = true;
    if (task.kind === 'newest' || task.kind === 'earlier') this.#phase.wantsEarlier = false;
    return true;
  }

  /** Returns false if another page, or none, is being read. */
  #settle(task) {
    if (task !== this.#phase.task) return false;
    this.#phase.task = null;
    return true;
  }

  #readNewest({ messages, first }, more, shown, through) {
    const { order } = this.#phase;
    const { gap = null, isStalled = false, position, heard: known } = this.#known ?? {};
    const heard = known || (messages.at(-1)?.seq ?? 0);
    const oldest = messages[0]?.seq ?? Infinity;
    const joins = gap?.after === 0 || oldest <= gap?.after + 1 || !more;
    const isTrimmed = gap !== null && hasForgotten(gap.after, first, shown);
    const isAgain = (order?.again ?? null) !== null;
    const isRenewed = isAgain && (!more || oldest <= shown.oldestSeq);
    const isWhole = gap === null || joins || isTrimmed || isRenewed;
    if (isRenewed) order.again = null;
    this.#known = isWhole ? { is: 'all', position, heard } : { is: 'part', position, heard, gap, isStalled };
    if (this.#phase.wantsEarlier) this.#phase.wantsEarlier = false;
    this.#advance(messages.at(-1)?.seq);
    return place(messages, {
      floor: messages[0]?.seq ?? null,
      isBeginning: !more,
      closes: isRenewed ? ALL : gap !== null && joins && !isTrimmed ? [gap.after, Infinity] : null,
      anew: isAgain && { after: more ? oldest - 1 : 0, through, isLast: true },
    });
  }

  /** `through`: the last message of the page, erased or not. `isForgotten`: the history begins behind the gap. */
  #readMissed({ messages, more, through: last }, isForgotten) {
    const { is, gap, position, heard } = this.#known;
    // The page of the connect has closed the gap.
    if (is !== 'part') return place(messages, { countsUnread: true });
    const { after, liveFrom } = gap;
    const through = Math.max(after, last);
    const isFilled = !more || through === after || (liveFrom !== null && through >= liveFrom);
    this.#known = isFilled
      ? { is: 'all', position, heard }
      : { is: 'part', position, heard, gap: { after: through, liveFrom }, isStalled: false };
    this.#advance(messages.at(-1)?.seq);
    return place(messages, {
      countsUnread: true,
      // The gap stays for good where the history has forgotten what was missed.
      closes: [isForgotten ? after + 1 : after, isFilled ? Infinity : through],
      gapAt: isFilled ? null : through,
    });
  }

  /** What is shown, once more: what the history does not have goes. The last page also has what was missed. */
  #readAgain(page, { request, position }) {
    const { messages, first, more, through: last } = page;
    const { order } = this.#phase;
    const { gap = null } = this.#known;
    const isDone = !more || last <= request.after || last >= (gap?.after ?? position);
    order.again = isDone ? null : last;
    const reachesGap = gap !== null && (!more || last > gap.after);
    const missed = reachesGap ? this.#readMissed(page, false) : place(messages, { countsUnread: true });
    const anew = { after: request.after, through: more ? last : Math.max(last, position), isLast: !more };
    // What is read in one go has no gaps, apart from the one that may be behind it.
    const closes = [request.after, missed.closes?.[1] ?? Math.min(last, (gap?.after ?? Infinity) - 1)];
    return { ...missed, closes, isBeginning: messages[0]?.seq === first, anew };
  }

  /** Of messages that are not shown the chat needs no edition. */
  #readChanged({ messages, more, changedThrough: through = 0, all: isAll = false }, { request, until }) {
    const { order } = this.#phase;
    const { stale } = order;
    const goesOn = (more && through > request.changedAfter) || stale.until > until;
    order.stale = goesOn && !isAll ? { after: Math.max(through, stale.after), until: stale.until } : null;
    if (isAll) order.again = 0;
    if (order.stale === null) this.#known.heard = Math.max(this.#known.heard, through);
    return place(messages, { isOfShown: true });
  }

  #advance(seq = 0) {
    if (this.hasHistory) this.#known.position = Math.max(this.#known.position, seq);
  }
}

/** After a connect the chat tries again what could not be read. */
function resumed(known) {
  return known?.isStalled ? { ...known, isStalled: false } : known;
}

/** Whether messages behind `gap` are in no history any more: the chat knows older ones than the history has. */
function hasForgotten(gap, first, shown) {
  return (first ?? Infinity) > gap + 1 && shown.knows(gap);
}

/**
 * Where a page belongs. `floor`: from this seq on the chat has all. `isBeginning`: the history has nothing before it.
 * `isEarlier`: the user has asked for it. `countsUnread`: its messages are new to the user. `closes`: the seqs behind
 * which gaps are filled. `gapAt`: the seq behind which messages may still be missing. `isOfShown`: only messages that are
 * shown count. `anew`, `{after, through, isLast}`: the history has nothing else in this range, and perhaps behind it.
 */
function place(messages, given) {
  return { messages, floor: null, closes: null, gapAt: null, ...given };
}
