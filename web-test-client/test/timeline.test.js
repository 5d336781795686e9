import assert from 'node:assert/strict';
import test from 'node:test';
import { Timeline, TIMELINE_LENGTH } from '../text-chat/timeline.js';

const own = (localId, text = localId) => ({ text, senderId: 'me', alias: 'Me', sentAt: 0, localId });
const other = (text, localId = null) => ({ text, senderId: 'ada', alias: 'Ada', sentAt: 0, localId });
const show = (timeline) => timeline.messages.map(({ text, kind, state }) => `${text} ${kind} ${state}`);

test('CHAT an own message is shown at once, and its echo completes it instead of adding one', () => {
  const timeline = new Timeline();
  const entry = timeline.send(own('1'));
  assert.deepEqual(show(timeline), ['1 sent pending']);
  assert.equal(timeline.receive(own('1'), true), null);
  assert.deepEqual(show(timeline), ['1 sent sent']);
  assert.equal(timeline.messages[0].key, entry.key);
  assert.equal(timeline.receive(own('1'), true), null);
  assert.equal(timeline.messages.length, 1);
});

test('CHAT what the session had before goes before what waits, so that everybody sees one order', () => {
  const timeline = new Timeline();
  timeline.send(own('1'));
  timeline.send(own('2'));
  timeline.receive(other('first'), false);
  timeline.receive(own('1'), true);
  timeline.receive(other('second'), false);
  timeline.receive(own('2'), true);
  assert.deepEqual(timeline.messages.map(({ text }) => text), ['first', '1', 'second', '2']);
});

test('CHAT of two that wait, the one confirmed first goes first', () => {
  const timeline = new Timeline();
  timeline.send(own('1'));
  timeline.send(own('2'));
  timeline.confirm('2');
  timeline.receive(other('later'), false);
  assert.deepEqual(timeline.messages.map(({ text }) => text), ['2', 'later', '1']);
});

test('CHAT a message that failed stays where it is and can be tried again, once at a time', () => {
  const timeline = new Timeline();
  timeline.send(own('1'));
  timeline.fail('1');
  timeline.receive(other('later'), false);
  assert.deepEqual(show(timeline), ['1 sent failed', 'later received received']);
  assert.equal(timeline.retry('nothing'), null);
  assert.equal(timeline.retry('1').state, 'pending');
  assert.equal(timeline.retry('1'), null);
  timeline.receive(own('1'), true);
  assert.deepEqual(show(timeline), ['1 sent sent', 'later received received']);
});

test('CHAT a confirmed message does not fail afterwards', () => {
  const timeline = new Timeline();
  timeline.send(own('1'));
  timeline.receive(own('1'), true);
  assert.equal(timeline.fail('1'), null);
  assert.deepEqual(show(timeline), ['1 sent sent']);
});

test('G3 a repeated message is shown once, by its sender and local id', () => {
  const timeline = new Timeline();
  timeline.receive(other('hi', 'x'), false);
  timeline.receive(other('hi', 'x'), false);
  assert.equal(timeline.messages.length, 1);
});

test('CHAT the same text twice is two messages, and another’s local id is not mine', () => {
  const timeline = new Timeline();
  timeline.receive(other('hi'), false);
  timeline.receive(other('hi'), false);
  timeline.send(own('1'));
  timeline.receive(other('not yours', '1'), false);
  assert.deepEqual(show(timeline), ['hi received received', 'hi received received', 'not yours received received', '1 sent pending']);
});

test('CHAT an own message sent some other way is shown as sent', () => {
  const timeline = new Timeline();
  timeline.receive({ ...own('x'), localId: null }, true);
  assert.deepEqual(show(timeline), ['x sent sent']);
});

test('G5 the oldest messages go when there are too many', () => {
  const timeline = new Timeline();
  for (let count = 0; count <= TIMELINE_LENGTH; count += 1) timeline.receive(other(String(count)), false);
  assert.equal(timeline.messages.length, TIMELINE_LENGTH);
  assert.equal(timeline.messages[0].text, '1');
});
