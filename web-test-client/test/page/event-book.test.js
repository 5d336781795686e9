import assert from 'node:assert/strict';
import test from 'node:test';
import { EventBook } from '../../page/inspector/event-book.js';

const entry = (type, changes = {}) => ({
  direction: 'in', at: 0, seq: null, type, from: null, to: null, size: 2, raw: `{"ev":"${type}"}`,
  message: { ev: type }, ...changes,
});
const types = (book) => book.matching.map(({ type }) => type);

test('a filter lists the entries that have all of its words, also those that follow', () => {
  const book = new EventBook();
  book.add(entry('ack', { seq: 42 }));
  book.add(entry('signal:chat', { fromName: 'Ada', seq: 4 }));
  book.filter = ' ADA  chat ';
  assert.deepEqual(types(book), ['signal:chat']);
  book.add(entry('signal:chat', { fromName: 'Bob' }));
  book.add(entry('signal:chat', { fromName: 'Ada' }));
  assert.equal(book.matching.length, 2);
  book.filter = 'seq:42';
  assert.deepEqual(types(book), ['ack']);
  book.filter = '';
  assert.equal(book.matching.length, 4);
});

test('while it is paused nothing moves, and at the end everything follows in its order', () => {
  const book = new EventBook();
  book.add(entry('one'));
  book.isPaused = true;
  book.add(entry('two'));
  book.add(entry('three'));
  assert.deepEqual([types(book), book.waitingCount], [['one'], 2]);
  book.isPaused = false;
  assert.deepEqual([types(book), book.waitingCount], [['one', 'two', 'three'], 0]);
});

test('beyond the limit the oldest entries go, and their number is known', () => {
  const book = new EventBook(100);
  book.filter = 'even';
  for (let number = 0; number < 1000; number += 1) book.add(entry(number % 2 === 0 ? `even${number}` : 'odd'));
  assert.ok(book.entries.length >= 100 && book.entries.length <= 113);
  assert.equal(book.entries.length + book.droppedCount, 1000);
  assert.equal(book.entries.at(-1).number, 1000);
  assert.ok(book.matching.every(({ number }) => number >= book.entries[0].number));
  assert.equal(book.matching.length, book.entries.filter(({ type }) => type !== 'odd').length);
});

test('a long pause keeps a bounded number of entries', () => {
  const book = new EventBook(10);
  book.isPaused = true;
  for (let number = 0; number < 1000; number += 1) book.add(entry('x'));
  assert.ok(book.waitingCount <= 20);
  book.isPaused = false;
  assert.equal(book.entries.at(-1).number, 1000);
  assert.equal(book.entries.length + book.droppedCount, 1000);
});

test('the export has one JSON object per line, for the listed entries', () => {
  const book = new EventBook();
  book.add(entry('ack', { seq: 3, message: { ev: 'ack', seq: 3 } }));
  book.add(entry('reconnecting', { direction: 'page', message: null, raw: '', size: null, detail: 'why' }));
  const lines = book.exported().trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines, [
    { at: '1970-01-01T00:00:00.000Z', direction: 'in', type: 'ack', seq: 3, size: 2, frame: { ev: 'ack', seq: 3 } },
    { at: '1970-01-01T00:00:00.000Z', direction: 'page', type: 'reconnecting', detail: 'why' },
  ]);
});
