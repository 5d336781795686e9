import { STANDARD_RULE, continuesGroup, momentOf } from './grouping-rule.js';
import { BEGINNING_KEY, RANK, TimelineLines, compareKeys } from './timeline-lines.js';

/**
 * The rows of a `ChatTimeline` in their order: its messages, the day separators, gaps and unread divider between them,
 * and the beginning of the conversation.
 *
 * Each change regroups the messages around it, and collects the steps from the rows before to the rows after until
 * `finish`. What it costs depends on how much changes, not on how long the history is.
 */
export class TimelineLayout {
  #lines = new TimelineLines();
  /** Row id → key, of messages. */
  #keys = new Map();
  #divider = null;
  #stepCount = 0;
  #lastNumber = 0;
  /** The date of a dropped message whose group continues with the oldest kept one: later groups stay as they are. */
  #headAnchor = null;
  #steps = [];
  /** The rows that the current call has touched, as they were before. */
  #touched = new Map();

  constructor({ rule = STANDARD_RULE, calendar = null }) {
    this.rule = rule;
    this.calendar = calendar;
  }

  // Reading

  get lines() {
    return this.#lines;
  }

  /** How many messages the grouping has visited; a measure of work for tests. */
  get stepCount() {
    return this.#stepCount;
  }

  /** Numbers for rows, and for keys that need one. */
  nextNumber() {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  keyOf(id) {
    return this.#keys.get(id);
  }

  /** The index of the message with this key, or the index that it would have. */
  indexOf(key) {
    return this.#lines.firstIndex(key, RANK.message);
  }

  row(index) {
    const { id, kind, day, message, position } = this.#lines.at(index);
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
      showsTime: this.rule.timePosition === 'first' ? isFirst : isLast,
    };
  }

  // Changes

  /** Adds a message, and returns the id of its row. */
  insert(message, isUnread, key) {
    const line = {
      id: `message ${this.nextNumber()}`,
      kind: 'message',
      key,
      message,
      day: this.calendar === null ? null : this.calendar(momentOf(message, this.rule)),
      isUnread,
      startsGroup: true,
      anchor: null,
      position: 'single',
    };
    this.#keys.set(line.id, key);
    // Before the separators that belong to the next message.
    const index = this.#lines.firstIndex(key, RANK.gap);
    this.#insertLine(line, index);
    this.regroup(index);
    return line.id;
  }

  /** Adds a gap behind the lines before `key`, unless one ends there already. */
  insertGap(key) {
    const index = this.#lines.firstIndex(key, RANK.gap);
    if (index > 0 && this.#lines.at(index - 1).kind === 'gap') return;
    this.#insertLine({ id: `gap ${this.nextNumber()}`, kind: 'gap', key }, index);
    this.regroup(index);
  }

  /** Whether a gap begins behind this seq. */
  hasGap(era, seq) {
    return this.#gapIn(era, [seq, seq]) !== null;
  }

  /** Removes the gaps that begin behind a seq of the range. */
  removeGaps(era, range) {
    for (let index = this.#gapIn(era, range); index !== null; index = this.#gapIn(era, range)) {
      this.#removeLine(index);
      this.regroup(index);
    }
  }

  /** Removes the gaps of earlier eras. */
  removeFormerGaps(era) {
    for (let index = this.#lines.firstIndex({ era, seq: -Infinity, tie: 0 }, RANK.gap) - 1; index >= 0; index -= 1) {
      if (this.#lines.at(index).kind !== 'gap') continue;
      this.#removeLine(index);
      this.regroup(index);
    }
  }

  #gapIn(era, [first, last]) {
    let index = this.#lines.firstIndex({ era, seq: first, tie: -Infinity }, RANK.gap);
    for (; index < this.#lines.count; index += 1) {
      const { kind, key } = this.#lines.at(index);
      if (key.era !== era || key.seq > last) return null;
      if (kind === 'gap') return index;
    }
    return null;
  }

  /** Changes a message. `finish` reports the row as updated. */
  update(index, change) {
    this.#touch(index);
    const line = this.#lines.at(index);
    line.message = { ...line.message, ...change };
  }

  /** Returns whether the message was unread. */
  setRead(index) {
    const line = this.#lines.at(index);
    const wasUnread = line.isUnread === true;
    line.isUnread = false;
    return wasUnread;
  }

  /** Removes the line of a message. `settleRemoval` has to follow. */
  removeMessage(index) {
    this.#keys.delete(this.#lines.at(index).id);
    this.#removeLine(index);
  }

  /** Removes the separators of a removed message or leaves them to the next one, and regroups its neighbours. */
  settleRemoval(removedAt, firstUnread) {
    const previous = this.#lines.messageBefore(removedAt);
    this.#settleDivider(firstUnread);
    const lines = this.#lines;
    const next = lines.messageFrom(previous + 1);
    if (next === lines.count) {
      for (let index = next - 1; index > previous; index -= 1) if (lines.at(index).kind === 'day') this.#removeLine(index);
    }
    this.regroup(previous + 1);
  }

  /**
   * Removes the gaps before the second message, and keeps the anchor of the first group: the first message is about to
   * be dropped.
   */
  prepareDrop(first) {
    // A gap at the top separates nothing.
    for (let index = this.#lines.messageFrom(first + 1) - 1; index >= 0; index -= 1) {
      if (this.#lines.at(index).kind === 'gap') this.#removeLine(index);
    }
    const heirIndex = this.#lines.messageFrom(this.#lines.messageFrom(0) + 1);
    const heir = heirIndex < this.#lines.count ? this.#lines.at(heirIndex) : null;
    this.#headAnchor = heir === null || heir.startsGroup ? null : heir.anchor;
  }

  /** Gives a message another key: a pending message joins those that have arrived. */
  relocate(at, key) {
    const line = this.#lines.at(at);
    const oldKey = line.key;
    let previous = at - 1;
    while (previous >= 0 && compareKeys(this.#lines.at(previous).key, oldKey) === 0) previous -= 1;
    this.#keys.set(line.id, key);
    const staysBehind = previous < 0 || compareKeys(this.#lines.at(previous).key, key) < 0;
    if (staysBehind && (at + 1 >= this.#lines.count || compareKeys(key, this.#lines.at(at + 1).key) < 0)) {
      for (let index = previous + 1; index <= at; index += 1) this.#lines.at(index).key = key;
      this.regroup(at);
      return;
    }
    let index = at;
    while (index - 1 > previous) {
      index -= 1;
      this.#removeLine(index);
    }
    this.#lines.remove(index);
    line.key = key;
    const target = this.#lines.firstIndex(key, RANK.gap);
    this.#lines.insert(line, target);
    if (index !== target) this.#steps.push({ move: line.id, from: index, to: target });
    // The higher index first: its changes do not shift the other.
    this.regroup(Math.max(target, target < index ? index + 1 : index));
    this.regroup(Math.min(target, index));
  }

  /**
   * Moves the divider to the first unread message, shows or hides the beginning, and returns the steps. Each changed
   * row is reported once, with all its changes.
   */
  finish(firstUnread, hasBeginning) {
    this.#settleDivider(firstUnread);
    this.#settleBeginning(hasBeginning);
    const inserted = new Set();
    for (const step of this.#steps) {
      const key = step.insert && this.#keys.get(step.insert.id);
      if (!key) continue;
      inserted.add(step.insert.id);
      step.insert = this.row(this.indexOf(key));
    }
    for (const [id, before] of this.#touched) {
      const key = this.#keys.get(id);
      if (key === undefined || inserted.has(id)) continue;
      const index = this.indexOf(key);
      const row = this.row(index);
      const isSame = ['message', 'position', 'showsSender', 'showsTime'].every((each) => row[each] === before[each]);
      if (isSame) continue;
      this.#steps.push({ update: row, at: index });
    }
    const steps = this.#steps;
    this.#steps = [];
    this.#touched = new Map();
    return steps;
  }

  // Lines

  #touch(index) {
    const row = this.row(index);
    if (!this.#touched.has(row.id)) this.#touched.set(row.id, row);
  }

  #insertLine(line, index) {
    this.#lines.insert(line, index);
    this.#steps.push({ insert: this.row(index), at: index });
  }

  #removeLine(index) {
    this.#steps.push({ remove: this.#lines.remove(index).id, at: index });
  }

  /** `to` counts without the line. */
  #moveLine(from, to, key) {
    const line = this.#lines.remove(from);
    line.key = key;
    this.#lines.insert(line, to);
    if (from !== to) this.#steps.push({ move: line.id, from, to });
  }

  // Groups and days

  /** Groups and dates all messages by another rule. The gaps and the unread divider stay before their messages. */
  useRule(rule) {
    const lines = this.#lines;
    const messages = [];
    for (let index = lines.messageFrom(0); index < lines.count; index = lines.messageFrom(index + 1)) {
      this.#touch(index);
      messages.push(lines.at(index));
    }
    // The date of a dropped message cannot be read again by another clock.
    if (rule.clock !== this.rule.clock) this.#headAnchor = null;
    this.rule = rule;
    if (this.calendar !== null) for (const line of messages) line.day = this.calendar(momentOf(line.message, rule));
    for (let next = lines.messageFrom(0); next < lines.count; ) {
      this.#stepCount += 1;
      const settled = this.#settleDay(next);
      this.#settleStart(settled);
      next = lines.messageFrom(settled + 1);
    }
    for (let index = lines.messageFrom(0); index < lines.count; ) {
      const following = lines.messageFrom(index + 1);
      this.#settlePosition(index, following);
      index = following;
    }
  }

  /** Regroups the messages from this index on, up to the first that does not change. */
  regroup(from) {
    const first = Math.max(this.#lines.messageBefore(from), 0);
    let last = first;
    // The message at the index, and the one behind it, which has another neighbour now.
    let due = 2;
    for (let next = this.#lines.messageFrom(from); next < this.#lines.count; next = this.#lines.messageFrom(last + 1)) {
      this.#stepCount += 1;
      last = this.#settleDay(next);
      const hasChanged = this.#settleStart(last);
      due -= 1;
      if (due <= 0 && !hasChanged) break;
    }
    for (let index = this.#lines.messageFrom(first); index < this.#lines.count && index <= last; ) {
      const following = this.#lines.messageFrom(index + 1);
      this.#settlePosition(index, following);
      index = following;
    }
  }

  /**
   * Puts a separator before the message if its day begins with it, and removes others. Returns the message's new index.
   */
  #settleDay(at) {
    const lines = this.#lines;
    const { day, key } = lines.at(at);
    if (day === null) return at;
    const previous = lines.messageBefore(at);
    const begins = previous < 0 || lines.at(previous).day !== day;
    let index = at;
    let isThere = false;
    // What stands before a gap was the separator of a message that is gone.
    let isBeforeGap = false;
    for (let before = at - 1; before > previous; before -= 1) {
      if (lines.at(before).kind === 'gap') isBeforeGap = true;
      if (lines.at(before).kind !== 'day') continue;
      if (begins && !isThere && !isBeforeGap && lines.at(before).day === day) {
        lines.at(before).key = key;
        isThere = true;
      } else {
        this.#removeLine(before);
        index -= 1;
      }
    }
    if (!begins || isThere) return index;
    const target = index > 0 && lines.at(index - 1).kind === 'unreadDivider' ? index - 1 : index;
    // The day may have begun with the next message until now.
    const following = lines.messageFrom(index + 1);
    for (let behind = index + 1; behind < following; behind += 1) {
      if (lines.at(behind).kind !== 'day' || lines.at(behind).day !== day) continue;
      this.#moveLine(behind, target, key);
      return index + 1;
    }
    this.#insertLine({ id: `day ${this.nextNumber()}`, kind: 'day', key, day }, target);
    return index + 1;
  }

  /** Returns whether the messages behind may have to be regrouped. */
  #settleStart(index) {
    const line = this.#lines.at(index);
    const previous = this.#lines.messageBefore(index);
    const before = previous < 0 ? null : this.#lines.at(previous);
    let isApart = before === null || (this.rule.breaksAtDay && before.day !== line.day);
    for (let between = previous + 1; between < index; between += 1) {
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

  #settlePosition(index, following) {
    const line = this.#lines.at(index);
    const endsGroup = following >= this.#lines.count || this.#lines.at(following).startsGroup;
    const position = line.startsGroup ? (endsGroup ? 'single' : 'first') : endsGroup ? 'last' : 'middle';
    if (position === line.position) return;
    this.#touch(index);
    line.position = position;
  }

  // The beginning and the unread divider

  #settleBeginning(isWanted) {
    const isThere = this.#lines.count > 0 && this.#lines.at(0).kind === 'beginning';
    if (isWanted && !isThere) this.#insertLine({ id: 'beginning', kind: 'beginning', key: BEGINNING_KEY }, 0);
    if (!isWanted && isThere) this.#removeLine(0);
  }

  #settleDivider(wanted) {
    if (this.#divider === wanted) return;
    const current = this.#divider === null ? null : this.#lines.firstIndex(this.#divider, RANK.unreadDivider);
    this.#divider = wanted;
    if (wanted === null) {
      this.#removeLine(current);
      return;
    }
    const target = this.#lines.firstIndex(wanted, RANK.unreadDivider);
    if (current === null) {
      this.#insertLine({ id: 'unreadDivider', kind: 'unreadDivider', key: wanted }, target);
    } else {
      this.#moveLine(current, current < target ? target - 1 : target, wanted);
    }
  }
}

