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
  /** `down`, `up`, or `recovering`: the channel tries to get the same connection back. */
  #state = 'down';
  #connection = null;
  #epoch = null;
  #hasHistory = false;
  /** Whether the newest page of this order was read. */
  #hasRead = false;
  /** Up to this seq the chat has all messages that it will get without asking. */
  #position = 0;
  /** Behind this seq messages may be missing; null: none. After several losses it is the first: pages may repeat. */
  #gap = null;
  /** The first event behind the last loss. A page that reaches it leaves nothing out. */
  #liveFrom = null;
  #wantsEarlier = false;
  /** A page could not be read. The chat tries again after the next connect. */
  #isStalled = false;
  /** `{kind, request, erasures}` of the page that was asked for. */
  #underway = null;
  /** `{code, message}` of the last failure; null after a success. */
  error = null;

  /** Whether the newest page was read, so that the chat knows what there is. */
  get hasRead() {
    return this.#hasRead;
  }

  get hasHistory() {
    return this.#hasHistory;
  }

  get isLoadingEarlier() {
    return this.#wantsEarlier;
  }

  /** Where messages may be missing, if they could not be read. */
  get unreadGap() {
    return this.#isStalled ? this.#gap : null;
  }

  // Events

  /** The channel has this connection. Returns whether a new order begins: seqs do not continue those before. */
  enter(connection, { hasHistory, epoch }) {
    if (this.#state === 'up' && connection === this.#connection) return false;
    const isFirst = this.#connection === null;
    const isAnother = connection !== this.#connection;
    const hasMissed = this.#state !== 'recovering' && !isFirst;
    const isSameOrder = hasHistory && this.#hasHistory && epoch !== null && epoch === this.#epoch;
    this.#state = 'up';
    this.#connection = connection;
    this.#hasHistory = hasHistory;
    this.#epoch = epoch;
    this.#underway = null;
    this.#isStalled = false;
    if (isSameOrder) {
      if (hasMissed) this.#miss();
    } else {
      this.#hasRead = false;
      this.#position = 0;
      this.#gap = null;
      this.#liveFrom = null;
      this.#wantsEarlier = false;
    }
    return isAnother && !isFirst && !isSameOrder;
  }

  reconnecting() {
    this.#state = 'recovering';
    // Nobody answers a request of a lost socket (HIS-7).
    this.#underway = null;
  }

  /** The same connection, or a recovered one, continues. */
  reconnected() {
    if (this.#connection === null) return;
    this.#state = 'up';
    this.#isStalled = false;
  }

  disconnected() {
    this.#state = 'down';
    this.#underway = null;
    this.#wantsEarlier = false;
  }

  /** Events are missing. Returns the seq behind which they are; null: a new order begins, as without a history. */
  lost() {
    if (!this.#hasHistory) return null;
    const after = this.#position;
    this.#miss();
    return after;
  }

  #miss() {
    this.#gap ??= this.#position;
    this.#liveFrom = null;
    this.#underway = null;
  }

  /** An event of the session's order has arrived. */
  received(seq) {
    this.#position = Math.max(this.#position, seq);
    this.#liveFrom ??= seq;
  }

  /** A page that is on its way may still have what was erased. */
  erased(erasure) {
    this.#underway?.erasures.push(erasure);
  }

  // Requests

  /** Returns whether a page is being read, or will be. */
  loadEarlier() {
    if (this.#state === 'down' || !this.#hasHistory) return false;
    this.#wantsEarlier = true;
    if (!this.#hasRead) this.#isStalled = false;
    return true;
  }

  /** The page to ask for now, as `{kind, request}`; null: none. `floor`: the oldest seq that the chat has read. */
  next(floor) {
    if (this.#state !== 'up' || !this.#hasHistory || this.#underway !== null) return null;
    if (!this.#hasRead) {
      if (!this.#isStalled) this.#underway = { kind: 'newest', request: { limit: PAGE_LIMIT }, erasures: [] };
    } else if (this.#gap !== null && !this.#isStalled) {
      this.#underway = { kind: 'missed', request: { after: this.#gap, limit: GAP_LIMIT }, erasures: [] };
    } else if (this.#wantsEarlier) {
      const before = floor === null ? {} : { before: floor };
      this.#underway = { kind: 'earlier', request: { ...before, limit: PAGE_LIMIT }, erasures: [] };
    }
    return this.#underway;
  }

  /**
   * The answer to `task`, a result of `next`. `knows(seq)`: whether the chat shows a message up to this seq. Returns
   * where the page belongs, for `ChatTimeline.merge`; null: the answer comes too late.
   */
  answer(task, page, knows) {
    if (task !== this.#underway) return null;
    this.#underway = null;
    this.error = null;
    const messages = withoutErased(page.messages, task.erasures);
    switch (task.kind) {
      case 'newest':
        return this.#readNewest({ ...page, messages }, page.more, knows);
      case 'missed':
        return this.#readMissed({ ...page, messages }, page.messages.at(-1)?.seq ?? 0, knows);
      case 'earlier':
        this.#wantsEarlier = false;
        return place(messages, {
          floor: messages[0]?.seq ?? null, isBeginning: !page.more || messages.length === 0, isEarlier: true,
        });
    }
  }

  /** The page that the connect asked for. It does not say whether it is the newest, or follows a message. */
  answerToConnect(page, knows) {
    const { messages, first = null, last = null } = page;
    if (last !== null && (messages.length === 0 || messages.at(-1).seq < last)) return place(messages);
    if (this.#underway?.kind === 'newest') this.#underway = null;
    return this.#readNewest(page, first !== null && messages[0].seq > first, knows);
  }

  /** Returns false if the answer comes too late. */
  fail(task, error) {
    if (task !== this.#underway) return false;
    this.#underway = null;
    this.error = error;
    if (task.kind !== 'earlier') this.#isStalled = true;
    if (task.kind !== 'missed') this.#wantsEarlier = false;
    return true;
  }

  #readNewest({ messages, first }, more, knows) {
    this.#hasRead = true;
    this.#wantsEarlier = false;
    const gap = this.#gap;
    const oldest = messages[0]?.seq ?? Infinity;
    const joins = gap === 0 || oldest <= gap + 1 || !more;
    const isTrimmed = gap !== null && hasForgotten(gap, first, knows);
    if (joins || isTrimmed) this.#gap = null;
    this.#advance(messages);
    return place(messages, {
      floor: messages[0]?.seq ?? null,
      isBeginning: !more,
      closes: gap !== null && joins && !isTrimmed ? [gap, Infinity] : null,
    });
  }

  /** `last`: the last message of the page, erased or not. */
  #readMissed({ messages, first, more }, last, knows) {
    const gap = this.#gap;
    const through = Math.max(gap, last);
    const isFilled = !more || through === gap || (this.#liveFrom !== null && through >= this.#liveFrom);
    this.#gap = isFilled ? null : through;
    this.#advance(messages);
    return place(messages, {
      countsUnread: true,
      // The gap stays for good where the history has forgotten what was missed.
      closes: [hasForgotten(gap, first, knows) ? gap + 1 : gap, isFilled ? Infinity : through],
      gapAt: this.#gap,
    });
  }

  #advance(messages) {
    this.#position = Math.max(this.#position, messages.at(-1)?.seq ?? 0);
  }
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
