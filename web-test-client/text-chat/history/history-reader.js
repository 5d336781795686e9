/** The most messages of a page that fills a gap: the most that a server sends (HIS-6). */
const GAP_LIMIT = 200;
/** The most messages of the newest page, and of a page of earlier messages. */
const PAGE_LIMIT = 50;

/**
 * What a chat reads of its session's history, and when: the newest page after the first connect, the messages that were
 * missed in an absence, and earlier messages when the user wants them. It asks for one page at a time. It knows neither
 * a channel nor the rows.
 *
 * Two rules make it exact. A page that reaches the end of the history and the events from that connect on leave nothing
 * out between them (HIS-4). And a new connection continues the order of the former one as long as the epoch stays
 * (HIS-3): all that may be missing then is behind the last event.
 */
export class HistoryReader {
  /**
   * The phase of the channel's connection, with what it needs:
   *
   * - `new`: there was none. Next: `up`.
   * - `away`, with `order`: there is none. Next: `up`.
   * - `returning`, with `order` and `wantsEarlier`: the channel tries to get the same one back. Next: `up`, `away`.
   * - `up`, with `order`, `wantsEarlier` and `task`, the page that was asked for, or null. Next: `returning`, `away`.
   *
   * An order is `{connection, epoch, known}`. `known` is null without a history, else what the chat has of it:
   *
   * - `nothing`, with `gap` or null, and `isStalled`: the newest page was not read. Next: `all`, `part`.
   * - `all`: whatever is up to `position`. Next: `part`.
   * - `part`, with `gap` and `isStalled`: behind `gap.after` messages may be missing. Next: `all`.
   *
   * After several losses the gap is the first: pages may repeat. `gap.liveFrom` is the first event behind the last loss: a
   * page that reaches it leaves nothing out. `isStalled`: a page could not be read, and the chat tries again after the
   * next connect. Each has `position`: up to this seq the chat has all messages that it will get without asking.
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
  enter(connection, { hasHistory, epoch }) {
    const { is, order: former = null, wantsEarlier = false } = this.#phase;
    if (is === 'up' && connection === former.connection) return false;
    const continues = hasHistory && this.hasHistory && epoch !== null && epoch === former.epoch;
    const begun = hasHistory ? { is: 'nothing', position: 0, gap: null, isStalled: false } : null;
    const order = { connection, epoch, known: continues ? resumed(former.known) : begun };
    this.#phase = { is: 'up', order, wantsEarlier: continues && wantsEarlier, task: null };
    if (continues && is !== 'returning') this.#miss();
    return former !== null && connection !== former.connection && !continues;
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

  disconnected() {
    const { order } = this.#phase;
    if (order) this.#phase = { is: 'away', order };
  }

  /** Events are missing. Returns the seq behind which they are; null: a new order begins, as without a history. */
  lost() {
    if (!this.hasHistory) return null;
    this.#miss();
    return this.#known.position;
  }

  #miss() {
    const { is, position, gap = null, isStalled = false } = this.#known;
    const missing = { after: gap?.after ?? position, liveFrom: null };
    this.#known = { is: is === 'nothing' ? is : 'part', position, gap: missing, isStalled };
    if (this.#phase.is === 'up') this.#phase.task = null;
  }

  /** An event of the session's order has arrived. */
  received(seq) {
    this.#advance(seq);
    if (this.#known?.gap) this.#known.gap.liveFrom ??= seq;
  }

  /** A page that is on its way may still have what was erased. */
  erased(erasure) {
    this.#phase.task?.erasures.push(erasure);
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

  /** The page to ask for now, as `{kind, request}`; null: none. `floor`: the oldest seq that the chat has read. */
  next(floor) {
    const { is, task, wantsEarlier } = this.#phase;
    if (is !== 'up' || !this.hasHistory || task !== null) return null;
    const { is: has, gap, isStalled } = this.#known;
    if (has === 'nothing') return isStalled ? null : this.#ask('newest', { limit: PAGE_LIMIT });
    if (has === 'part' && !isStalled) return this.#ask('missed', { after: gap.after, limit: GAP_LIMIT });
    const before = floor === null ? {} : { before: floor };
    return wantsEarlier ? this.#ask('earlier', { ...before, limit: PAGE_LIMIT }) : null;
  }

  #ask(kind, request) {
    this.#phase.task = { kind, request, erasures: [] };
    return this.#phase.task;
  }

  /**
   * The answer to `task`, a result of `next`. `knows(seq)`: whether the chat shows a message up to this seq. Returns
   * where the page belongs, for `ChatTimeline.merge`; null: the answer comes too late.
   */
  answer(task, page, knows) {
    if (!this.#settle(task)) return null;
    this.error = null;
    const messages = withoutErased(page.messages, task.erasures);
    switch (task.kind) {
      case 'newest':
        return this.#readNewest({ ...page, messages }, page.more, knows);
      case 'missed':
        return this.#readMissed({ ...page, messages }, page.messages.at(-1)?.seq ?? 0, knows);
      case 'earlier':
        this.#phase.wantsEarlier = false;
        return place(messages, {
          floor: messages[0]?.seq ?? null, isBeginning: !page.more || messages.length === 0, isEarlier: true,
        });
    }
  }

  /** The page that the connect asked for. It does not say whether it is the newest, or follows a message. */
  answerToConnect(page, knows) {
    const { messages, first = null, last = null } = page;
    if (last !== null && (messages.length === 0 || messages.at(-1).seq < last)) return place(messages);
    if (this.#phase.task?.kind === 'newest') this.#settle(this.#phase.task);
    return this.#readNewest(page, first !== null && messages[0].seq > first, knows);
  }

  /** Returns false if the answer comes too late. */
  fail(task, error) {
    if (!this.#settle(task)) return false;
    this.error = error;
    if (task.kind !== 'earlier') this.#known.isStalled = true;
    if (task.kind !== 'missed') this.#phase.wantsEarlier = false;
    return true;
  }

  /** Returns false if another page, or none, is being read. */
  #settle(task) {
    if (task !== this.#phase.task) return false;
    this.#phase.task = null;
    return true;
  }

  #readNewest({ messages, first }, more, knows) {
    const { gap = null, isStalled = false, position } = this.#known ?? {};
    const oldest = messages[0]?.seq ?? Infinity;
    const joins = gap?.after === 0 || oldest <= gap?.after + 1 || !more;
    const isTrimmed = gap !== null && hasForgotten(gap.after, first, knows);
    const isWhole = gap === null || joins || isTrimmed;
    this.#known = isWhole ? { is: 'all', position } : { is: 'part', position, gap, isStalled };
    if (this.#phase.wantsEarlier) this.#phase.wantsEarlier = false;
    this.#advance(messages.at(-1)?.seq);
    return place(messages, {
      floor: messages[0]?.seq ?? null,
      isBeginning: !more,
      closes: gap !== null && joins && !isTrimmed ? [gap.after, Infinity] : null,
    });
  }

  /** `last`: the last message of the page, erased or not. */
  #readMissed({ messages, first, more }, last, knows) {
    const { is, gap, position } = this.#known;
    // The page of the connect has closed the gap.
    if (is !== 'part') return place(messages, { countsUnread: true });
    const { after, liveFrom } = gap;
    const through = Math.max(after, last);
    const isFilled = !more || through === after || (liveFrom !== null && through >= liveFrom);
    this.#known = isFilled
      ? { is: 'all', position }
      : { is: 'part', position, gap: { after: through, liveFrom }, isStalled: false };
    this.#advance(messages.at(-1)?.seq);
    return place(messages, {
      countsUnread: true,
      // The gap stays for good where the history has forgotten what was missed.
      closes: [hasForgotten(after, first, knows) ? after + 1 : after, isFilled ? Infinity : through],
      gapAt: isFilled ? null : through,
    });
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
function hasForgotten(gap, first, knows) {
  return (first ?? Infinity) > gap + 1 && knows(gap);
}

function withoutErased(messages, erasures) {
  return erasures.reduce((kept, { ref, through, user, before }) => {
    if (through !== undefined) return kept.filter(({ seq }) => seq > through);
    const isErased = user === undefined
      ? ({ seq }) => seq === ref
      : ({ seq, from }) => seq < before && from?.user === user;
    return kept.map((message) => (isErased(message) ? erasedForm(message) : message));
  }, messages);
}

function erasedForm({ seq, from, time }) {
  return { seq, from, time, erased: true };
}

/**
 * Where a page belongs. `floor`: from this seq on the chat has all. `isBeginning`: the history has nothing before it.
 * `isEarlier`: the user has asked for it. `countsUnread`: its messages are new to the user. `closes`: the seqs behind
 * which gaps are filled. `gapAt`: the seq behind which messages may still be missing.
 */
function place(messages, given = {}) {
  return {
    messages,
    floor: null,
    isBeginning: false,
    isEarlier: false,
    countsUnread: false,
    closes: null,
    gapAt: null,
    ...given,
  };
}
