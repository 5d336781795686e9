import assert from 'node:assert/strict';
import test from 'node:test';
import { lineOf, messageOf } from '../../test-support/timeline-lines.js';
import { vectorFolder } from '../../test-support/vectors.js';
import { OPENTOK_RULE, STANDARD_RULE } from '../../text-chat/timeline/grouping-rule.js';
import { readerCalendar } from '../../text-chat/timeline/reader-calendar.js';
import { applyChanges } from '../../text-chat/timeline/timeline-change.js';
import { ChatTimeline } from '../../text-chat/timeline/chat-timeline.js';

const other = (text, more = {}) => messageOf({ text, senderId: 'b', ...more });
const own = (localId) => messageOf({ text: localId, senderId: 'me', localId, kind: 'sent' });
const dayOfEpoch = (moment) => String(Math.floor(moment / 86_400_000));

function perform(timeline, step) {
  switch (step.do) {
    case 'append': return timeline.appendPending(messageOf(step), step.at);
    case 'insert': return timeline.insert(messageOf(step), step.at);
    case 'confirm': return timeline.confirm(step.localId, step.seq);
    case 'fail': return timeline.fail(step.localId, { code: 500, message: 'lost' });
    case 'retry': return timeline.retry(step.localId);
    case 'discard': return timeline.discard(step.localId);
    case 'gap': return timeline.noteGap();
    case 'era': timeline.startEra(); return [];
    case 'visible': timeline.isVisible = step.value; return [];
    case 'read': return timeline.markRead(
      step.upTo ? timeline.rows.findLast((row) => row.message?.text === step.upTo).id : null
    );
    case 'restore': return timeline.restore(step.messages.map(messageOf), step.at);
    default: throw new Error(`no such step: ${step.do}`);
  }
}

for (const vector of vectorFolder('timeline')) {
  test(`CHAT ${vector.name}`, () => {
    const timeline = new ChatTimeline({
      rule: vector.rule === 'openTok' ? OPENTOK_RULE : STANDARD_RULE,
      calendar: vector.timeZone ? readerCalendar(vector.timeZone) : null,
      limit: vector.limit,
    });
    timeline.isVisible = true;
    const shown = [];
    for (const step of vector.steps) {
      applyChanges(shown, perform(timeline, step));
      assert.deepEqual(shown, timeline.rows);
      if (step.rows) assert.deepEqual(timeline.rows.map(lineOf), step.rows, JSON.stringify(step));
      if (step.unread !== undefined) assert.equal(timeline.unreadCount, step.unread);
    }
    assert.deepEqual(timeline.rows.map(lineOf), vector.rows);
  });
}

for (const vector of vectorFolder('timeline')) {
  test(`CHAT another rule leads to the rows that it would have made from the beginning: ${vector.name}`, () => {
    // Which group the oldest kept message belonged to depends on the clock of the rule.
    if (vector.limit) return;
    const rules = [STANDARD_RULE, OPENTOK_RULE, { ...STANDARD_RULE, timePosition: 'first' }];
    const calendar = vector.timeZone ? readerCalendar(vector.timeZone) : dayOfEpoch;
    for (const before of rules) {
      for (const after of rules) {
        const [changed, fresh] = [before, after].map((rule) => new ChatTimeline({ rule, calendar }));
        const shown = [];
        for (const timeline of [changed, fresh]) timeline.isVisible = true;
        for (const step of vector.steps) {
          applyChanges(shown, perform(changed, step));
          perform(fresh, step);
        }
        const idsBefore = changed.rows.filter(({ kind }) => kind !== 'day').map(({ id }) => id);
        applyChanges(shown, changed.useRule(after));
        assert.equal(changed.rule, after);
        assert.deepEqual(changed.rows.map(lineOf), fresh.rows.map(lineOf));
        assert.deepEqual(shown, changed.rows);
        assert.deepEqual(changed.rows.filter(({ kind }) => kind !== 'day').map(({ id }) => id), idsBefore);
        assert.deepEqual(changed.useRule(after), []);
      }
    }
  });
}

test('CHAT an own message keeps its row’s id from sending to sent, over failure and retry, and when it moves', () => {
  const timeline = new ChatTimeline();
  timeline.appendPending(own('1'), 0);
  const [{ id }] = timeline.rows;
  timeline.appendPending(own('2'), 0);
  timeline.fail('1', { message: 'no' });
  timeline.retry('1');
  assert.ok(timeline.confirm('2', 4).some((change) => change.move));
  timeline.confirm('1', 5);
  assert.equal(timeline.rowIdOf('1'), id);
  assert.equal(timeline.rows.at(-1).id, id);
});

test('CHAT the most common calls make the fewest changes', () => {
  const timeline = new ChatTimeline();
  timeline.isVisible = true;
  const row = (index) => timeline.rows[index];
  assert.deepEqual(timeline.insert(other('a', { seq: 1 }), 0), [{ insert: row(0), at: 0 }]);
  assert.deepEqual(timeline.insert(other('b', { seq: 2 }), 0), [{ insert: row(1), at: 1 }, { update: row(0), at: 0 }]);
  assert.deepEqual(timeline.appendPending(own('1'), 0), [{ insert: row(2), at: 2 }]);
  assert.deepEqual(timeline.confirm('1', 3), [{ update: row(2), at: 2 }]);
  assert.deepEqual(timeline.confirm('1', 3), []);
});

test('G5 the timeline keeps at most the limit; the oldest messages go first, pending ones never', () => {
  const timeline = new ChatTimeline({ limit: 3 });
  const texts = () => timeline.messages.map(({ text }) => text);
  for (let number = 0; number < 5; number += 1) timeline.appendPending(own(String(number)), 0);
  for (let number = 0; number < 10; number += 1) timeline.insert(other(`o${number}`), 0);
  assert.deepEqual(texts(), ['0', '1', '2', '3', '4']);
  for (let number = 0; number < 5; number += 1) timeline.confirm(String(number));
  assert.deepEqual(texts(), ['2', '3', '4']);
});

test('G5 10,000 messages are kept by default, and a dropped one is not remembered', () => {
  const timeline = new ChatTimeline();
  for (let number = 0; number <= 10_000; number += 1) timeline.insert(other('x', { localId: String(number) }), 0);
  assert.equal(timeline.messageCount, 10_000);
  assert.deepEqual(timeline.insert(other('x', { localId: '10000' }), 0), []);
  assert.notDeepEqual(timeline.insert(other('x', { localId: '0' }), 0), []);
});

for (const limit of [1_000_000, 5000]) {
  test(`CHAT the cost of an append does not grow with the number of messages (limit ${limit})`, () => {
    const timeline = new ChatTimeline({ calendar: dayOfEpoch, limit });
    for (let number = 0; number < 12_000; number += 1) {
      const before = timeline.stepCount;
      assert.ok(timeline.insert(other('x', { seq: number }), number * 7000).length <= 8);
      assert.ok(timeline.stepCount - before <= 5);
    }
  });
}

test('CHAT in random scenarios the changes lead from each snapshot to the next, and the rows match the rules', () => {
  for (let seed = 0; seed < 3000; seed += 1) {
    const random = randomNumbers(seed);
    const pick = (list) => list[random(list.length)];
    const rule = seed % 3 === 0 ? OPENTOK_RULE : { ...STANDARD_RULE, span: null };
    const timeline = new ChatTimeline({
      rule, calendar: seed % 4 === 0 ? null : dayOfEpoch, limit: pick([1, 2, 5, 8, 1000]),
    });
    const shown = [];
    let now = 0;
    let lastId = 0;
    for (let count = 5 + random(55); count > 0; count -= 1) {
      now = Math.max(now + pick([0, 1000, 119_999, 120_000, 400_000, 40_000_000, -90_000_000]), 0);
      lastId += 1;
      const before = [...shown];
      const changes = randomStep(timeline, { random, pick, now, lastId });
      applyChanges(shown, changes);
      const { rows } = timeline;
      assert.deepEqual(shown, rows, `seed ${seed}`);
      assert.deepEqual(rows.map(lineOf), plainLines(rows, timeline), `seed ${seed}`);
      assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
      for (const change of changes) {
        assert.ok(change.move === undefined || change.from !== change.to);
        if (change.update) {
          assert.ok(
            !before.some((row) => lineOf(row) === lineOf(change.update) && row.message === change.update.message)
          );
        }
      }
    }
  }
});

function randomStep(timeline, { random, pick, now, lastId }) {
  const mine = timeline.messages.filter(({ direction }) => direction === 'sent').map(({ localId }) => localId);
  const one = mine.length > 0 ? pick(mine) : 'none';
  const seq = random(2) === 0 ? 1 + random(40) : null;
  const text = String(lastId);
  const kind = random(14);
  if (kind < 4) {
    const localId = random(2) === 0 ? String(random(30)) : null;
    return timeline.insert(
      messageOf({ text, senderId: pick(['a', 'b', null]), sentAt: random(300_000_000), localId, seq }), now
    );
  }
  if (kind < 6) return timeline.appendPending({ ...own(`m${lastId}`), text }, now);
  if (kind < 7) return timeline.insert({ ...own(`m${lastId}`), text }, now);
  if (kind < 9) return timeline.confirm(one, seq);
  if (kind === 9) return timeline.fail(one, { message: 'no' });
  if (kind === 10) return random(2) === 0 ? timeline.retry(one) : timeline.discard(one);
  if (kind === 11) return timeline.noteGap();
  if (kind === 12) {
    timeline.isVisible = !timeline.isVisible;
    if (random(2) === 0) timeline.startEra();
    return [];
  }
  return timeline.markRead(timeline.rowCount > 0 ? pick(timeline.rows).id : null);
}

/** The rows as the rules require, computed in one pass from the messages and gaps. */
function plainLines(rows, { rule, calendar, firstUnreadId }) {
  const result = [];
  const groups = [];
  let previous = null;
  let hasGap = false;
  const moment = (message) => (rule === OPENTOK_RULE ? message.sentAt : message.receivedAt);
  const dayOf = (message) => (message && calendar ? calendar(moment(message)) : null);
  for (const row of rows) {
    if (row.kind === 'gap') {
      hasGap = true;
      result.push({ kind: 'gap' });
    }
    if (row.kind !== 'message') continue;
    const { message } = row;
    if (calendar && dayOf(message) !== dayOf(previous)) result.push({ kind: 'day', day: dayOf(message) });
    if (row.id === firstUnreadId) result.push({ kind: 'unreadDivider' });
    const isClose = previous && !hasGap && moment(message) - moment(previous) < 120_000;
    const sameId = previous && message.senderId !== null && message.senderId === previous.senderId;
    const isTogether =
      rule === OPENTOK_RULE
        ? isClose && sameId
        : isClose &&
          dayOf(message) === dayOf(previous) &&
          message.direction === previous.direction &&
          (message.direction === 'sent' || sameId) &&
          message.state !== 'failed' &&
          previous.state !== 'failed';
    const expected = { kind: 'message', message };
    if (isTogether) groups.at(-1).push(expected);
    else groups.push([expected]);
    result.push(expected);
    previous = message;
    hasGap = false;
  }
  for (const group of groups) {
    for (const [number, row] of group.entries()) {
      const isFirst = number === 0;
      const isLast = number === group.length - 1;
      row.position = isFirst && isLast ? 'single' : isFirst ? 'first' : isLast ? 'last' : 'middle';
      row.showsSender = isFirst && (rule === OPENTOK_RULE || row.message.direction === 'received');
      row.showsTime = rule === OPENTOK_RULE ? isFirst : isLast;
    }
  }
  return result.map(lineOf);
}

/** Random whole numbers below a limit; the same seed gives the same numbers. */
function randomNumbers(seed) {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
