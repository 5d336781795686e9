import { STANDARD_RULE, continuesGroup, momentOf } from './grouping-rule.js';
import { RANK, TimelineLines, compareKeys, isPendingKey, keyOf, pendingKey } from './timeline-lines.js';

/**
 * The messages of one chat, and the rows that they become. It knows neither a channel nor a clock.
 *
 * - Order: what the session has goes by seq, or by arrival where there is none; dates never count (CHAT-6). One's own
 *   messages that are not known to have arrived, failed ones too, stand behind all others in the order in which they were
 *   written. When one arrives it takes its place in the session's order, as the same row.
 * - Once: (sender, local id) is one message, and so is one seq; texts are never compared (CHAT-5).
 * - Every method that changes something returns the steps from the rows before to the rows after (`timeline-changes.js`). What
 *   it costs depends on how much changes, not on how long the history is.
 *
 * A message is `{text, senderId, alias, sentAt, receivedAt, localId, seq, direction, state, failure}`, `direction` being `sent` or
 * `received`, `state` `sending`, `sent` or `failed`, and `failure` what the channel said (`{code, message}`), or
 * `{code: null, message: 'interrupted'}`. A row is `{id, kind: 'message', message, position, showsSender, showsTime}`, or one of kind
 * `day` (with `day`), `unreadDivider` or `gap`; its id stays, and no two rows share one.
 */
export class ChatTimeline {
  /** Whether somebody reads along: what arrives meanwhile is not unread. Becoming visible marks nothing as read. */
  isVisible = false;

  #lines = new TimelineLines();
  /** Row id → key, of messages. */
  #places = new Map();
  /** Local id → row id, of one's own. */
  #own = new Map();
  /** Sender and local id → row id, of others'. */
  #known = new Map();
  #unreadCount = 0;
  #messageCount = 0;
  #stepCount = 0;
  #firstUnread = null;
  #divider = null;
  #era = 0;
  #lastSeq = 0;
  #lastNumber = 0;
  /** The date of the dropped message whose group the oldest one that is kept belongs to: later groups stay as they are. */
  #headAnchor = null;

  /** `calendar(moment)` names a day (`reader-calendar.js`); without one there are no days. `limit` is how many messages are kept. */
  constructor({ rule = STANDARD_RULE, calendar = null, limit = 10_000 } = {}) {
    this.rule = rule;
    this.calendar = calendar;
    this.limit = Math.max(limit, 1);
  }

  // Reading

  /** All rows, from the top. Takes time for each. */
  get rows() {
    return Array.from({ length: this.#lines.count }, (_, place) => this.#row(place));
  }

  get messages() {
    return this.rows.filter(({ kind }) => kind === 'message').map(({ message }) => message);
  }

  get rowCount() {
    return this.#lines.count;
  }

  get messageCount() {
    return this.#messageCount;
  }

  /** Messages of others that arrived while nobody read along, and are not marked as read. Dropped ones do not count. */
  get unreadCount() {
    return this.#unreadCount;
  }

  /** How many messages the grouping has looked at; a measure of work for tests. */
  get stepCount() {
    return this.#stepCount;
  }

  get firstUnreadId() {
    return this.#firstUnread === null ? null : this.#lines.at(this.#place(this.#firstUnread)).id;
  }

  ownMessage(localId) {
    const place = this.#ownPlace(localId);
    return place === null ? null : this.#lines.at(place).message;
  }

  rowIdOf(localId) {
    return this.#own.get(localId) ?? null;
  }

  // One's own messages

  /** A message that is being sent, behind all others. Nothing happens when its local id is taken, or it has none. */
  appendPending(message, now) {
    const { localId } = message;
    if (localId === null || localId === undefined || this.#own.has(localId)) return [];
    const state = message.state === 'failed' ? 'failed' : 'sending';
    const batch = new Batch();
    this.#add({ ...message, direction: 'sent', state, seq: null }, pendingKey(this.#nextNumber()), now, batch);
    return this.#finish(batch);
  }

  /**
   * The message is in the session's log, as its acknowledgement or its echo says, in whatever order these come. Without a
   * `seq` it goes behind what is there.
   */
  confirm(localId, seq = null) {
    const place = this.#ownPlace(localId);
    if (place === null) return [];
    const line = this.#lines.at(place);
    if (!isPendingKey(line.key) && (line.message.seq !== null || seq === null)) return [];
    const batch = new Batch();
    batch.touch(this.#row(place));
    line.message = { ...line.message, state: 'sent', failure: null, seq };
    this.#relocate(place, this.#freeKey(seq) ?? this.#arrivalKey(), batch);
    this.#trim(batch);
    return this.#finish(batch);
  }

  fail(localId, failure) {
    return this.#setState(localId, 'sending', { state: 'failed', failure });
  }

  /** Makes a failed message `sending` again, as the same row in the same place. */
  retry(localId) {
    return this.#setState(localId, 'failed', { state: 'sending', failure: null });
  }

  /** Takes a failed message away. */
  discard(localId) {
    const place = this.#ownPlace(localId);
    if (place === null || this.#lines.at(place).message.state !== 'failed') return [];
    const batch = new Batch();
    this.#removeMessage(place, batch);
    return this.#finish(batch);
  }

  // What the session has

  /**
   * A message that is in the session's log: another's, or one's own that was not waited for. Not taken when it is there
   * already.
   */
  insert(message, now) {
    const identity = identityOf(message);
    if (identity !== null && this.#known.has(identity)) return [];
    if (message.direction === 'sent' && hasName(message) && this.#own.has(message.localId)) return [];
    const seq = message.seq ?? null;
    const free = this.#freeKey(seq);
    if (seq !== null && free === null) return [];
    const batch = new Batch();
    this.#add({ ...message, state: 'sent', seq }, free ?? this.#arrivalKey(), now, batch);
    this.#trim(batch);
    return this.#finish(batch);
  }

  /** Marks the place where something was lost: behind all that the session had. Seq may start afresh behind it. */
  noteGap() {
    const key = this.#arrivalKey();
    const place = this.#lines.firstPlace(key, RANK.gap);
    this.startEra();
    // Two gaps with nothing between them are one.
    if (place > 0 && this.#lines.at(place - 1).kind === 'gap') return [];
    const batch = new Batch();
    this.#insertLine({ id: `gap ${this.#nextNumber()}`, kind: 'gap', key }, place, batch);
    this.#regroup(place, batch);
    return this.#finish(batch);
  }

  /** The seq of what follows need not continue that of what was before: another connection. */
  startEra() {
    this.#era += 1;
    this.#lastSeq = 0;
  }

  // Reading along

  /**
   * Marks this message, and all before it, as read; all, when null. What is read stays read, and nothing happens for a row
   * that is not there.
   */
  markRead(upTo = null) {
    if (this.#firstUnread === null) return [];
    const last = upTo === null ? keyOf(Infinity, Infinity, Infinity) : this.#places.get(upTo);
    if (last === undefined || compareKeys(last, this.#firstUnread) < 0) return [];
    let place = this.#lines.firstPlace(this.#firstUnread, RANK.gap);
    while (place < this.#lines.count && compareKeys(this.#lines.at(place).key, last) <= 0) {
      this.#setRead(this.#lines.at(place));
      place += 1;
    }
    this.#firstUnread = this.#nextUnread(place);
    return this.#finish(new Batch());
  }

  // After a restart

  /**
   * Puts back what an earlier run of the program had, in that order, into a timeline that is new. What was being sent has
   * failed; nothing of it is unread.
   */
  restore(messages, now) {
    const wasVisible = this.isVisible;
    this.isVisible = true;
    const changes = [];
    for (const restored of messages) {
      // The number of a sender that is gone.
      const message = { ...restored, typingN: null };
      if (message.direction === 'sent' && message.state !== 'sent') {
        const failure = message.state === 'failed' ? message.failure : { code: null, message: 'interrupted' };
        changes.push(...this.appendPending({ ...message, state: 'failed', failure }, now));
      } else {
        // Its seq was another epoch's for all that is known.
        changes.push(...this.insert({ ...message, seq: null }, now));
      }
    }
    this.isVisible = wasVisible;
    this.startEra();
    return changes;
  }

  // Lines

  #nextNumber() {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  /** Null when there is no seq, or its place is taken. */
  #freeKey(seq) {
    if (seq === null) return null;
    const key = keyOf(this.#era, seq, 0);
    const place = this.#place(key);
    if (place < this.#lines.count && compareKeys(this.#lines.at(place).key, key) === 0) return null;
    this.#lastSeq = Math.max(this.#lastSeq, seq);
    return key;
  }

  #arrivalKey() {
    return keyOf(this.#era, this.#lastSeq, this.#nextNumber());
  }

  #place(key) {
    return this.#lines.firstPlace(key, RANK.message);
  }

  #ownPlace(localId) {
    const key = this.#places.get(this.#own.get(localId));
    return key === undefined ? null : this.#place(key);
  }

  #row(place) {
    const { id, kind, day, message, position } = this.#lines.at(place);
    if (kind === 'day') return { id, kind, day };
    if (kind !== 'message') return { id, kind };
    const isFirst = position === 'first' || position === 'single';
    const isLast = position === 'last' || position === 'single';
    return {
      id,
      kind,
      message,
      position,
      showsSender: isFirst && (this.rule.showsOwnName || message.direction === 'received'),
      showsTime: this.rule.timePlace === 'first' ? isFirst : isLast,
    };
  }

  #insertLine(line, place, batch) {
    this.#lines.insert(line, place);
    batch.steps.push({ insert: this.#row(place), at: place });
  }

  #removeLine(place, batch) {
    batch.steps.push({ remove: this.#lines.remove(place).id, at: place });
  }

  /** `to` counts without the line. */
  #moveLine(from, to, key, batch) {
    const line = this.#lines.remove(from);
    line.key = key;
    this.#lines.insert(line, to);
    if (from !== to) batch.steps.push({ move: line.id, from, to });
  }

  #add(given, key, now, batch) {
    const message = {
      alias: null,
      senderId: null,
      localId: null,
      failure: null,
      ...given,
      receivedAt: given.receivedAt ?? now,
      sentAt: given.sentAt ?? now,
    };
    const line = {
      id: `message ${this.#nextNumber()}`,
      kind: 'message',
      key,
      message,
      day: this.calendar === null ? null : this.calendar(momentOf(message, this.rule)),
      isUnread: message.direction === 'received' && !this.isVisible,
      startsGroup: true,
      anchor: null,
      position: 'single',
    };
    this.#places.set(line.id, key);
    if (message.direction === 'sent' && hasName(message)) this.#own.set(message.localId, line.id);
    const identity = identityOf(message);
    if (identity !== null) this.#known.set(identity, line.id);
    if (line.isUnread) {
      this.#unreadCount += 1;
      if (this.#firstUnread === null || compareKeys(key, this.#firstUnread) < 0) this.#firstUnread = key;
    }
    this.#messageCount += 1;
    // Behind all that stands before the next message and is not its own.
    const place = this.#lines.firstPlace(key, RANK.gap);
    this.#insertLine(line, place, batch);
    this.#regroup(place, batch);
  }

  /** Drops the oldest while there are too many. */
  #trim(batch) {
    while (this.#messageCount > this.limit) {
      const first = this.#lines.messageFrom(0);
      if (first === this.#lines.count || isPendingKey(this.#lines.at(first).key)) return;
      // A gap with nothing before it separates nothing.
      for (let place = this.#lines.messageFrom(first + 1) - 1; place >= 0; place -= 1) {
        if (this.#lines.at(place).kind === 'gap') this.#removeLine(place, batch);
      }
      const oldest = this.#lines.messageFrom(0);
      const heirPlace = this.#lines.messageFrom(oldest + 1);
      const heir = heirPlace < this.#lines.count ? this.#lines.at(heirPlace) : null;
      this.#headAnchor = heir === null || heir.startsGroup ? null : heir.anchor;
      this.#removeMessage(oldest, batch);
    }
  }

  #removeMessage(at, batch) {
    const line = this.#lines.at(at);
    this.#setRead(line);
    this.#places.delete(line.id);
    if (line.message.direction === 'sent') this.#own.delete(line.message.localId);
    const identity = identityOf(line.message);
    if (identity !== null) this.#known.delete(identity);
    this.#messageCount -= 1;
    this.#removeLine(at, batch);
    const previous = this.#lines.messageBefore(at);
    if (this.#firstUnread !== null && compareKeys(this.#firstUnread, line.key) === 0) this.#firstUnread = this.#nextUnread(at);
    this.#settleDivider(batch);
    // What stood before it alone goes, or passes to the next.
    let place = at;
    while (place > 0 && this.#lines.at(place - 1).kind === 'day' && this.#lines.messageFrom(place) === this.#lines.count) {
      place -= 1;
      this.#removeLine(place, batch);
    }
    this.#regroup(previous + 1, batch);
  }

  /** Gives a pending message its place among those that have arrived. */
  #relocate(at, key, batch) {
    const line = this.#lines.at(at);
    const oldKey = line.key;
    let previous = at - 1;
    while (previous >= 0 && compareKeys(this.#lines.at(previous).key, oldKey) === 0) previous -= 1;
    this.#places.set(line.id, key);
    const staysBehind = previous < 0 || compareKeys(this.#lines.at(previous).key, key) < 0;
    if (staysBehind && (at + 1 >= this.#lines.count || compareKeys(key, this.#lines.at(at + 1).key) < 0)) {
      for (let place = previous + 1; place <= at; place += 1) this.#lines.at(place).key = key;
      this.#regroup(at, batch);
      return;
    }
    let place = at;
    while (place - 1 > previous) {
      place -= 1;
      this.#removeLine(place, batch);
    }
    this.#lines.remove(place);
    line.key = key;
    const target = this.#lines.firstPlace(key, RANK.gap);
    this.#lines.insert(line, target);
    if (place !== target) batch.steps.push({ move: line.id, from: place, to: target });
    // The lower place first: what happens there moves nothing above it.
    this.#regroup(Math.max(target, target < place ? place + 1 : place), batch);
    this.#regroup(Math.min(target, place), batch);
  }

  #setState(localId, from, change) {
    const place = this.#ownPlace(localId);
    if (place === null || this.#lines.at(place).message.state !== from) return [];
    const line = this.#lines.at(place);
    const batch = new Batch();
    batch.touch(this.#row(place));
    line.message = { ...line.message, ...change };
    this.#regroup(place, batch);
    return this.#finish(batch);
  }

  #setRead(line) {
    if (!line.isUnread) return;
    line.isUnread = false;
    this.#unreadCount -= 1;
  }

  #nextUnread(from) {
    if (this.#unreadCount === 0) return null;
    for (let place = from; place < this.#lines.count; place += 1) {
      if (this.#lines.at(place).isUnread) return this.#lines.at(place).key;
    }
    return null;
  }

  // Groups, days and the divider

  /** Brings groups and day separators in order from this place on, until nothing changes any more. */
  #regroup(from, batch) {
    const first = Math.max(this.#lines.messageBefore(from), 0);
    let last = first;
    // The message at the place, and the one behind it, which has got another neighbour.
    let due = 2;
    for (let next = this.#lines.messageFrom(from); next < this.#lines.count; next = this.#lines.messageFrom(last + 1)) {
      this.#stepCount += 1;
      last = this.#settleDay(next, batch);
      const hasChanged = this.#settleStart(last);
      due -= 1;
      if (due <= 0 && !hasChanged) break;
    }
    for (let place = this.#lines.messageFrom(first); place < this.#lines.count && place <= last; ) {
      const following = this.#lines.messageFrom(place + 1);
      this.#settlePosition(place, following, batch);
      place = following;
    }
  }

  /** Sees to it that a separator stands before the message if its day begins with it. Returns the message's new place. */
  #settleDay(at, batch) {
    const lines = this.#lines;
    const { day, key } = lines.at(at);
    if (day === null) return at;
    const previous = lines.messageBefore(at);
    const begins = previous < 0 || lines.at(previous).day !== day;
    let place = at;
    let isThere = false;
    for (let before = at - 1; before > previous; before -= 1) {
      if (lines.at(before).kind !== 'day') continue;
      if (begins && !isThere && lines.at(before).day === day) {
        lines.at(before).key = key;
        isThere = true;
      } else {
        this.#removeLine(before, batch);
        place -= 1;
      }
    }
    if (!begins || isThere) return place;
    const target = place > 0 && lines.at(place - 1).kind === 'unreadDivider' ? place - 1 : place;
    // The day may have begun with the next message until now.
    const following = lines.messageFrom(place + 1);
    for (let behind = place + 1; behind < following; behind += 1) {
      if (lines.at(behind).kind !== 'day' || lines.at(behind).day !== day) continue;
      this.#moveLine(behind, target, key, batch);
      return place + 1;
    }
    this.#insertLine({ id: `day ${this.#nextNumber()}`, kind: 'day', key, day }, target, batch);
    return place + 1;
  }

  /** Returns whether what follows may have to be grouped anew. */
  #settleStart(place) {
    const line = this.#lines.at(place);
    const previous = this.#lines.messageBefore(place);
    const before = previous < 0 ? null : this.#lines.at(previous);
    let isApart = before === null || (this.rule.breaksAtDay && before.day !== line.day);
    for (let between = previous + 1; between < place; between += 1) {
      if (this.#lines.at(between).kind === 'gap') isApart = true;
    }
    const startsGroup = isApart || !continuesGroup(before.message, before.anchor, line.message, this.rule);
    const own = momentOf(line.message, this.rule);
    let anchor = before?.anchor ?? null;
    if (startsGroup) anchor = (before === null ? this.#headAnchor : null) ?? own;
    if (startsGroup === line.startsGroup && anchor === line.anchor) return false;
    line.startsGroup = startsGroup;
    line.anchor = anchor;
    return true;
  }

  #settlePosition(place, following, batch) {
    const line = this.#lines.at(place);
    const endsGroup = following >= this.#lines.count || this.#lines.at(following).startsGroup;
    const position = line.startsGroup ? (endsGroup ? 'single' : 'first') : endsGroup ? 'last' : 'middle';
    if (position === line.position) return;
    batch.touch(this.#row(place));
    line.position = position;
  }

  /** Puts the divider where it belongs, and tells each row that has changed once, with all that has changed in it. */
  #finish(batch) {
    this.#settleDivider(batch);
    const inserted = new Set();
    for (const step of batch.steps) {
      const key = step.insert && this.#places.get(step.insert.id);
      if (!key) continue;
      inserted.add(step.insert.id);
      step.insert = this.#row(this.#place(key));
    }
    for (const [id, before] of batch.touched) {
      const key = this.#places.get(id);
      if (key === undefined || inserted.has(id)) continue;
      const place = this.#place(key);
      const row = this.#row(place);
      if (row.message !== before.message || row.position !== before.position) batch.steps.push({ update: row, at: place });
    }
    return batch.steps;
  }

  #settleDivider(batch) {
    const wanted = this.#firstUnread;
    if (this.#divider === wanted) return;
    const current = this.#divider === null ? null : this.#lines.firstPlace(this.#divider, RANK.unreadDivider);
    this.#divider = wanted;
    if (wanted === null) {
      this.#removeLine(current, batch);
      return;
    }
    const target = this.#lines.firstPlace(wanted, RANK.unreadDivider);
    if (current === null) {
      this.#insertLine({ id: 'unreadDivider', kind: 'unreadDivider', key: wanted }, target, batch);
    } else {
      this.#moveLine(current, current < target ? target - 1 : target, wanted, batch);
    }
  }
}

/** The steps of one call, and the rows that it has touched, as they were before. */
class Batch {
  steps = [];
  touched = new Map();

  touch(row) {
    if (!this.touched.has(row.id)) this.touched.set(row.id, row);
  }
}

const hasName = (message) => message.localId !== null && message.localId !== undefined;

/** What makes another's message the same as one that is there; null for one's own, and without a local id. */
function identityOf(message) {
  return message.direction === 'received' && hasName(message) ? JSON.stringify([message.senderId ?? null, message.localId]) : null;
}
