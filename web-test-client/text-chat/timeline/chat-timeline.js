import { Erasing } from './erasing.js';
import { STANDARD_RULE } from './grouping-rule.js';
import { LocalIds } from './local-ids.js';
import { MessageContents } from './message-contents.js';
import { Merging } from './merging.js';
import { BLANK, laterForm, restoredForm } from './message-form.js';
import { MessageReactions } from './message-reactions.js';
import { SessionOrder } from './session-order.js';
import { TimelineLayout } from './timeline-layout.js';
import { compareKeys, isPendingKey, keyOf, pendingKey } from './timeline-lines.js';
import { UnreadMessages } from './unread-messages.js';

/**
 * The messages of one chat, and the rows that show them. It knows neither a channel nor a clock.
 *
 * - Order: messages in the session's log go by seq, or by arrival where there is none; dates never count (CHAT-6).
 *   One's own messages that have not arrived, failed ones included, stand behind all others in the order in which they
 *   were written. A message that arrives moves to its index in the session's order, as the same row.
 * - Once: (sender, local id) is one message, and so is one seq; texts are never compared (CHAT-5).
 * - History: pages of the session's history join by seq. They may be in any order, and may repeat what is there.
 * - Changes: of two editions the one with the greater version counts, and an erasure over all (CHG-8).
 * - Every method that changes something returns the steps from the rows before to the rows after
 *   (`timeline-change.js`). What it costs depends on how much changes, not on how long the history is.
 *
 * A message is a `ChatMessage`: its `direction` is `sent` or `received`, its `state` `sending`, `sent` or `failed`, and
 * `failure` the channel's error (`{code, message}`), or `{code: null, message: 'interrupted'}`. An edited message has the
 * `version` and `editedAt` of its last edit, an erased one `isErased` and a text that says so. A row is `{id, kind: 'message', message, position,
 * showsSender, showsTime}`, or one of the kind `day` (with `day`), `unreadDivider`, `gap` or `beginning`. Its id stays,
 * and no two rows share one.
 */
export class ChatTimeline {
  /**
   * Whether the chat is visible to the user: messages that arrive meanwhile count as read. Becoming visible marks
   * nothing as read.
   * @type {boolean}
   */
  isVisible = false;
  /**
   * Up to this seq the user has read, on whatever device; null: not known. With it, messages of others behind it count as
   * unread wherever they come from, except those that arrive while the chat is visible.
   * @type {number | null}
   */
  marker = null;

  #layout;
  #unread;
  #contents;
  #reactions;
  #erasing;
  #merging;
  #localIds = new LocalIds();
  #order;
  #messageCount = 0;
  /** From this seq on the messages of the history are here; null: not known. */
  #floor = null;
  #hasBeginning = false;
  /** How many messages the user has loaded in addition to the limit. */
  #earlierCount = 0;
  #droppedCount = 0;

  /**
   * `calendar(moment)` names a day (`reader-calendar.js`); without one there are no days. `limit`: how many messages
   * are kept. The messages that `loadEarlier` brings are kept in addition, up to as many again.
   * @param {TimelineOptions} [options]
   */
  constructor({ rule = STANDARD_RULE, calendar = null, limit = 10_000 } = {}) {
    this.#layout = new TimelineLayout({ rule, calendar });
    this.#order = new SessionOrder(this.#layout);
    this.#unread = new UnreadMessages(this.#layout);
    this.#reactions = new MessageReactions(this.#layout);
    const shared = { layout: this.#layout, order: this.#order, unread: this.#unread, reactions: this.#reactions };
    this.#contents = new MessageContents({ ...shared, localIds: this.#localIds });
    this.#erasing = new Erasing({ ...shared, contents: this.#contents });
    this.#merging = new Merging({
      ...shared, contents: this.#contents, localIds: this.#localIds,
      add: (...given) => this.#add(...given),
      confirm: (...given) => this.#confirm(...given),
      remove: (index) => this.#removeMessage(index),
    });
    /** @type {number} */
    this.limit = Math.max(limit, 1);
  }

  // Reading

  /** @type {GroupingRule} */
  get rule() {
    return this.#layout.rule;
  }

  /** @type {Calendar | null} */
  get calendar() {
    return this.#layout.calendar;
  }

  /** @type {TimelineRow[]} All rows, from the top. Takes time proportional to their number. */
  get rows() {
    return Array.from({ length: this.#layout.lines.count }, (_, index) => this.#layout.row(index));
  }

  /** @type {ChatMessage[]} */
  get messages() {
    return this.rows.filter(({ kind }) => kind === 'message').map(({ message }) => message);
  }

  /** @type {number} */
  get rowCount() {
    return this.#layout.lines.count;
  }

  /** @type {number} */
  get messageCount() {
    return this.#messageCount;
  }

  /** @type {number} How many messages were dropped over the limit. */
  get droppedCount() {
    return this.#droppedCount;
  }

  /** @type {number | null} From this seq on the messages of the session's history are here; null: not known. */
  get floor() {
    return this.#floor;
  }

  /** @type {boolean} Whether the oldest message of the session's history is here. */
  get hasBeginning() {
    return this.#hasBeginning;
  }

  /** @type {boolean} Whether earlier messages may be loaded: twice the limit is the most. */
  get hasRoom() {
    return this.#messageCount - this.limit < this.limit;
  }

  /** @type {(seq: number) => boolean} Whether a message of this order with at most this seq is here. */
  knows(seq) {
    return this.#order.knows(seq);
  }

  /**
   * How many kept messages of others arrived while the chat was not visible, and are not marked as read.
   * @type {number}
   */
  get unreadCount() {
    return this.#unread.count;
  }

  /** @type {number} How many messages the grouping has visited: a measure of work for tests. */
  get stepCount() {
    return this.#layout.stepCount;
  }

  /** @type {string | null} The id of the row of the first unread message. */
  get firstUnreadId() {
    return this.#unread.firstId;
  }

  /** @type {(localId: string) => ChatMessage | null} One's own message with this local id, or null. */
  ownMessage(localId) {
    return this.messageOf(this.rowIdOf(localId));
  }

  /** @type {(localId: string) => string | null} The id of the row of one's own message. */
  rowIdOf(localId) {
    return this.#localIds.ownRow(localId);
  }

  /** @type {(id: string | null) => ChatMessage | null} The message of the row with this id, or null. */
  messageOf(id) {
    const index = this.#order.indexOfRow(id);
    return index === null ? null : this.#layout.lines.at(index).message;
  }

  /** @type {(id: string | null) => number | null} By which number the session knows this row's message now, or null. */
  seqOf(id) {
    const seq = this.messageOf(id)?.seq ?? null;
    return seq !== null && (this.#layout.keyOf(id).era === this.#order.era || this.#joinsOrders) ? seq : null;
  }

  /** @type {(seq: number) => MessageRow | null} The row of the session's message with this number, or null. */
  rowWithSeq(seq) {
    const index = this.#order.find(seq, () => this.#joinsOrders);
    return index === null ? null : /** @type {MessageRow} */ (this.#layout.row(index));
  }

  /** @type {number | null} The least seq of all messages; null: none has one. */
  get oldestSeq() {
    return this.#order.oldestSeq;
  }

  /** With a history the seqs of a former order are no others' (HIS-3). */
  get #joinsOrders() {
    return this.#floor !== null;
  }

  // One's own messages

  /**
   * Adds a message that is being sent, behind all others. Nothing happens if its local id is in use, or it has none.
   * @type {(message: MessageContent, now: number) => TimelineChange[]}
   */
  appendPending(message, now) {
    const { localId } = message;
    if (localId === null || localId === undefined || this.rowIdOf(localId) !== null) return [];
    const state = message.state === 'failed' ? 'failed' : 'sending';
    this.#add({ ...message, direction: 'sent', state, seq: null }, pendingKey(this.#layout.nextNumber()), now);
    return this.#finish();
  }

  /**
   * The session has the message, as its acknowledgement or its echo states, in any order. Without a `seq` the message
   * goes behind those that have arrived. `time`: when it arrived, which may be long after it was written. `stamp`: which
   * connection has sent it, and in which form.
   * @type {(localId: string, seq?: number | null, time?: number | null, stamp?: MessageStamp) => TimelineChange[]}
   */
  confirm(localId, seq = null, time = null, stamp = {}) {
    const index = this.#order.indexOfRow(this.rowIdOf(localId));
    if (index === null) return [];
    const { key, message } = this.#layout.lines.at(index);
    if (!isPendingKey(key) && (message.seq !== null || seq === null)) return [];
    this.#confirm(index, seq, { ...stamp, ...(time === null ? {} : { receivedAt: time }) });
    this.#trim();
    return this.#finish();
  }

  #confirm(index, seq, known) {
    const { lines } = this.#layout;
    const { key } = lines.at(index);
    // A page may have it already, changed so that its local id is gone.
    const twin = seq === null ? null : this.#order.find(seq, () => false);
    const later = twin === null ? {} : laterForm(lines.at(twin).message);
    const reactions = twin === null ? undefined : lines.at(twin).reactions;
    if (twin !== null) this.#removeMessage(twin);
    const own = this.#layout.indexOf(key);
    if (reactions !== undefined) this.#reactions.merge(own, reactions);
    this.#layout.update(own, { state: 'sent', failure: null, seq, ...known, ...later });
    this.#layout.relocate(own, this.#order.freeKey(seq) ?? this.#order.arrivalKey());
  }

  /** @type {(localId: string, failure: SendFailure) => TimelineChange[]} */
  fail(localId, failure) {
    return this.#setState(localId, 'sending', { state: 'failed', failure });
  }

  /**
   * A failed message is being sent again, as the same row at the same index.
   * @type {(localId: string) => TimelineChange[]}
   */
  retry(localId) {
    return this.#setState(localId, 'failed', { state: 'sending', failure: null });
  }

  /** @type {(localId: string) => TimelineChange[]} Removes a failed message. */
  discard(localId) {
    const index = this.#order.indexOfRow(this.rowIdOf(localId));
    if (index === null || this.#layout.lines.at(index).message.state !== 'failed') return [];
    this.#removeMessage(index);
    return this.#finish();
  }

  // The session's messages

  /**
   * Adds a message that is in the session's log: another's, or one's own that was not pending. Nothing happens if it is
   * there already.
   * @type {(message: MessageContent, now: number) => TimelineChange[]}
   */
  insert(message, now) {
    if (this.#localIds.rowOf(message) !== null) return [];
    const seq = message.seq ?? null;
    const free = this.#order.freeKey(seq);
    if (seq !== null && free === null) return [];
    this.#add({ ...message, state: 'sent', seq }, free ?? this.#order.arrivalKey(), now);
    this.#trim();
    return this.#finish();
  }

  /**
   * Adds a gap behind the messages that have arrived: something was lost. The seq may start anew behind it. With
   * `after` the order goes on, and the gap is behind that seq.
   * @type {(after?: number | null) => TimelineChange[]}
   */
  noteGap(after = null) {
    if (after === null) {
      const key = this.#order.arrivalKey();
      this.startEra();
      this.#layout.insertGap(key);
    } else {
      this.#addGap(after);
    }
    return this.#finish();
  }

  #addGap(after) {
    if (this.#layout.hasGap(this.#order.era, after)) return;
    this.#layout.insertGap(keyOf(this.#order.era, after, this.#layout.nextNumber()));
  }

  /** The seq of later messages need not continue that of earlier ones: the connection is another one. */
  startEra() {
    this.#order.startEra();
    this.#floor = null;
    this.#hasBeginning = false;
  }

  // The session's history

  /**
   * Adds the messages of a page, oldest first, where `HistoryReader` says that it belongs. Each message is shown once:
   * one that is here already stays, and takes the page's word that it was edited or erased.
   * @type {(messages: readonly MessageContent[], place: { readonly [member: string]: unknown }) => TimelineChange[]}
   */
  merge(messages, { floor, isBeginning, isEarlier, countsUnread = false, closes, gapAt, isOfShown, anew }) {
    const before = this.#messageCount;
    for (const message of messages) this.#merging.merge(message, { countsUnread, isOfShown, isAnew: Boolean(anew) });
    if (anew) this.#merging.dropUnless(messages, anew);
    if (closes !== null) this.#layout.removeGaps(this.#order.era, closes);
    if (gapAt !== null) this.#addGap(gapAt);
    if (floor !== null) this.#floor = Math.min(this.#floor ?? floor, floor);
    if (isBeginning) this.#hasBeginning = true;
    if (isEarlier) this.#earlierCount = Math.min(this.#earlierCount + this.#messageCount - before, this.limit);
    this.#trim();
    return this.#finish();
  }

  /**
   * A message has been edited: what is shown takes its content, unless it has a later version already.
   * @type {(message: MessageContent) => TimelineChange[]}
   */
  change(message) {
    const index = this.#order.find(message.seq, () => this.#joinsOrders);
    if (index !== null) this.#contents.renew(index, message);
    return this.#finish();
  }

  /**
   * The message `ref` has these `reactions` now, by the event with this seq; or the user has exactly these `keys` on it.
   * @type {(told: ToldReactions) => TimelineChange[]}
   */
  setReactions({ seq, ref, reactions, keys }) {
    const index = this.#order.find(ref, () => this.#joinsOrders);
    if (index !== null && keys !== undefined) this.#reactions.setOwn(index, keys);
    else if (index !== null) this.#reactions.tell(index, reactions, seq);
    return this.#finish();
  }

  /** @type {(id: string) => readonly string[]} The keys of the user on this row's message. */
  ownReactionsOf(id) {
    const index = this.#order.indexOfRow(id);
    return index === null ? [] : this.#reactions.ownOf(index);
  }

  /**
   * Removes the content of a message, all messages up to one, or the content of those of a user that are before a seq
   * (HIS-9). Those that are not sent yet stay.
   * @type {(erasure: Erasure) => TimelineChange[]}
   */
  erase({ ref, through, user, before }) {
    if (user !== undefined) this.#erasing.user(user, before);
    else if (through === undefined) this.#erasing.message(this.#order.find(ref, () => this.#joinsOrders));
    else {
      this.#erasing.through(through, (first) => this.#dropOldest(first));
      // What was before them is erased, too.
      if (this.#floor !== null && this.#floor <= through) this.#hasBeginning = true;
    }
    return this.#finish();
  }

  /**
   * Groups the messages by another rule. The rows of the messages keep their ids.
   * @type {(rule: GroupingRule) => TimelineChange[]}
   */
  useRule(rule) {
    this.#layout.useRule(rule);
    return this.#finish();
  }

  // Unread messages

  /**
   * Marks this row's message and all before it as read; null: all. A message stays read.
   * @type {(upTo?: string | null) => TimelineChange[]}
   */
  markRead(upTo = null) {
    if (this.#unread.first === null) return [];
    const last = upTo === null ? keyOf(Infinity, Infinity, Infinity) : this.#layout.keyOf(upTo);
    if (last === undefined || compareKeys(last, this.#unread.first) < 0) return [];
    this.#unread.readThrough(last);
    return this.#finish();
  }

  /** @type {(seq: number) => TimelineChange[]} The user has read all messages up to this seq, elsewhere perhaps. */
  readThrough(seq) {
    this.marker = Math.max(this.marker ?? seq, seq);
    this.#unread.readThrough(keyOf(this.#order.era, seq, 0));
    return this.#finish();
  }

  /**
   * The last message up to a row, or with null of all, that passes a test; null: there is none.
   * @type {(passes: (message: ChatMessage) => boolean, upTo?: string | null) => MessageRow | null}
   */
  findLast(passes, upTo = null) {
    const { lines } = this.#layout;
    let index = upTo === null ? lines.count - 1 : (this.#order.indexOfRow(upTo) ?? -1);
    while (index >= 0 && !(lines.at(index).kind === 'message' && passes(lines.at(index).message))) index -= 1;
    return index < 0 ? null : /** @type {MessageRow} */ (this.#layout.row(index));
  }

  /** @type {(ids: readonly string[]) => TimelineChange[]} Tells these rows as updated: what is shown at them is. */
  renew(ids) {
    return ids.flatMap((id) => {
      const at = this.#order.indexOfRow(id);
      return at === null ? [] : [{ update: /** @type {MessageRow} */ (this.#layout.row(at)), at }];
    });
  }

  // After a restart

  /**
   * Restores the messages of an earlier run, in that order, into a new timeline. A message that was being sent has
   * failed. None of them is unread.
   * @type {(messages: readonly ChatMessage[], now: number) => TimelineChange[]}
   */
  restore(messages, now) {
    const { isVisible: wasVisible } = this;
    this.isVisible = true;
    const changes = [];
    for (const restored of messages) {
      const message = restoredForm(restored);
      changes.push(...(message.state === 'failed' ? this.appendPending(message, now) : this.insert(message, now)));
    }
    this.isVisible = wasVisible;
    this.startEra();
    return changes;
  }

  #add(given, key, now, { mayBeUnread = true, isKept = false } = {}) {
    const message = {
      ...BLANK,
      ...given,
      receivedAt: given.receivedAt ?? now,
      sentAt: given.sentAt ?? now,
    };
    const isUnread = message.direction === 'received' && !message.isErased && this.#isNew(message, mayBeUnread, isKept);
    const id = this.#layout.insert(message, isUnread, key);
    this.#localIds.add(message, id);
    if (isUnread) this.#unread.add(key);
    this.#messageCount += 1;
  }

  /** `isKept`: it comes from the history, and was there before. */
  #isNew({ seq }, mayBeUnread, isKept) {
    const { marker, isVisible } = this;
    if (marker === null || seq === null) return mayBeUnread && !isVisible;
    return seq > marker && (isKept || !isVisible);
  }

  /** Drops the oldest messages beyond the limit. */
  #trim() {
    const { lines } = this.#layout;
    while (this.#messageCount > this.limit + this.#earlierCount) {
      const first = lines.messageFrom(0);
      if (first === lines.count || isPendingKey(lines.at(first).key)) return;
      const { key, message } = lines.at(first);
      this.#dropOldest(first);
      this.#droppedCount += 1;
      if (key.era !== this.#order.era || message.seq === null || (this.#floor === null && !this.#hasBeginning)) continue;
      // The history still has it.
      this.#hasBeginning = false;
      this.#floor = message.seq + 1;
    }
  }

  #dropOldest(first) {
    this.#layout.prepareDrop(first);
    this.#removeMessage(this.#layout.lines.messageFrom(0));
  }

  #removeMessage(index) {
    this.#unread.read(index);
    const { id, message } = this.#layout.lines.at(index);
    this.#localIds.remove(message, id);
    this.#messageCount -= 1;
    this.#layout.removeMessage(index);
    this.#layout.settleRemoval(index, this.#unread.first);
  }

  #setState(localId, from, change) {
    const index = this.#order.indexOfRow(this.rowIdOf(localId));
    if (index === null || this.#layout.lines.at(index).message.state !== from) return [];
    this.#layout.update(index, change);
    this.#layout.regroup(index);
    return this.#finish();
  }

  #finish() {
    return this.#layout.finish(this.#unread.first, this.#hasBeginning && this.#messageCount > 0);
  }
}
