import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { rowsOf } from '../text-chat/grouping.js';

const kinds = (messages) => rowsOf(messages).map((row) => row.kind);
const from = (senderId, sentAt, kind = 'received') => ({ senderId, sentAt, kind, text: '' });

test('CHAT no messages, no rows', () => assert.deepEqual(kinds([]), []));

test('CHAT the first message has no divider before it, the last has one after it', () => {
  assert.deepEqual(kinds([from('a', 0)]), ['received', 'divider']);
});

test('CHAT same sender within less than 120 s continues the group; at exactly 120 s a new one begins', () => {
  assert.deepEqual(kinds([from('a', 0), from('a', 119_999)]), ['received', 'receivedShort', 'divider']);
  assert.deepEqual(kinds([from('a', 0), from('a', 120_000)]), ['received', 'divider', 'received', 'divider']);
});

test('CHAT the window counts from the message before, not from the first of the group', () => {
  assert.deepEqual(kinds([from('a', 0), from('a', 100_000), from('a', 200_000)]), ['received', 'receivedShort', 'receivedShort', 'divider']);
});

test('CHAT an earlier date counts as within the window', () => {
  assert.deepEqual(kinds([from('a', 1_000_000), from('a', 0)]), ['received', 'receivedShort', 'divider']);
});

test('CHAT another sender begins a group, no sender never continues one', () => {
  assert.deepEqual(kinds([from('a', 0), from('b', 1)]), ['received', 'divider', 'received', 'divider']);
  assert.deepEqual(kinds([from(null, 0), from(null, 1)]), ['received', 'divider', 'received', 'divider']);
});

test('CHAT kinds are not compared: an own message after a received one of the same sender is short', () => {
  assert.deepEqual(kinds([from('a', 0), from('a', 1, 'sent')]), ['received', 'sentShort', 'divider']);
});

test('CHAT rows carry their messages, dividers none', () => {
  const message = from('a', 0);
  const rows = rowsOf([message]);
  assert.equal(rows[0].message, message);
  assert.equal(rows[1].message, undefined);
});

// The cases that the Swift side reads, too.
const folder = fileURLToPath(new URL('../../Tests/Vectors/grouping/', import.meta.url));
if (existsSync(folder)) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  let count = 0;
  for (const file of files) {
    for (const { name, messages, rows } of JSON.parse(readFileSync(folder + file, 'utf8')).cases) {
      count += 1;
      test(`CHAT ${file}: ${name}`, () => assert.deepEqual(kinds(messages), rows));
    }
  }
  test('CHAT the shared grouping vectors are found', () => assert.ok(count > 0, `no case in ${folder}`));
}
