import assert from 'node:assert/strict';
import test from 'node:test';
import { NameBook } from '../../text-chat/name-book.js';
import { isReserved } from '../../text-chat/name-look.js';
import { decodeSignal } from '../../text-chat/wire/chat-wire-form.js';
import { CHAT_STRINGS } from '../../chat/strings/index.js';
import { vectorCases } from '../../test-support/vectors.js';

/** The message in a signal of a vector. */
function messageIn({ seq, from, data, user, senderId = from, alias }) {
  const connection = from === null ? null : { connectionId: from, data, ...(user === undefined ? {} : { user }) };
  const content = JSON.stringify({ text: 'hi', sender: { id: senderId ?? undefined, alias: alias ?? undefined } });
  return decodeSignal({ type: 'text-chat', data: content, from: connection, seq, receivedAt: 0 });
}

/** The names over the messages after all of them were read in this order, and the numbers beside them. */
function shown({ here = [], left = [], crowd = 0, messages }, order) {
  const book = new NameBook();
  for (const { id, ...connection } of here) book.note({ connectionId: id, ...connection });
  for (let number = 0; number < crowd; number += 1) {
    book.note({ connectionId: `c${number}`, data: `n${number}` });
    book.noteDeparture(`c${number}`);
  }
  for (const id of left) book.noteDeparture(id);
  const read = messages.map(messageIn);
  for (const message of order(read)) book.noteMessage(message);
  return read.map((message) => [book.nameOf(message), book.numberOf(message)]);
}

for (const vector of vectorCases('senders/names.json')) {
  test(vector.name, () => {
    const expected = vector.shown.map((name, index) => [name, vector.numbers?.[index]?.toString() ?? null]);
    assert.deepEqual(shown(vector, (messages) => messages), expected, 'as they arrive');
    assert.deepEqual(shown(vector, (messages) => messages.toReversed()), expected, 'from the history, newest first');
  });
}

for (const { name, here, crowd, messages, shown } of vectorCases('senders/present.json')) {
  test(name, () => {
    const book = new NameBook();
    const present = [
      ...here.map(({ id, ...connection }) => ({ connectionId: id, ...connection })),
      ...Array.from({ length: crowd }, (_, number) => ({ connectionId: `c${number}`, data: `n${number}` })),
    ];
    const read = messages.map(messageIn);
    for (const connection of present) book.note(connection);
    for (const message of read) book.noteMessage(message);
    book.enter(present);
    assert.deepEqual(read.map((message) => book.nameOf(message)), shown);
  });
}

for (const { name, reserved = [], free = [] } of vectorCases('senders/reserved.json')) {
  test(name, () => {
    for (const each of reserved) assert.ok(isReserved(each), each);
    for (const each of free) assert.ok(!isReserved(each), each);
  });
}

test('CHAT-4 the words of all tables are reserved', () => {
  const tables = Object.values(CHAT_STRINGS);
  assert.equal(tables.length, 9);
  for (const { you, server, guest } of tables) {
    for (const word of [you, server, guest.replace('{id}', '1234')]) assert.ok(isReserved(word), word);
  }
});

const ada = { connectionId: 'ada-id', data: 'name=Ada' };

test('CHAT-4 a name that is shown may turn out to be another’s, and the book tells', () => {
  const book = new NameBook();
  const message = { senderId: 'eve-id', senderData: '', alias: 'Ada', seq: 1 };
  assert.equal(book.nameOf(message), 'Ada');
  const { revision } = book;
  book.note({ connectionId: 'bob-id', data: 'Bob' });
  assert.equal(book.revision, revision);
  book.note(ada);
  assert.ok(book.revision > revision);
  assert.equal(book.nameOf(message), 'Guest 1059');
});

test('CHAT-4 the name of a guest who types is that of the guest’s messages', () => {
  const book = new NameBook();
  book.note({ connectionId: 'cy-id', data: '' });
  book.noteMessage({ senderId: 'cy-id', senderData: '', alias: 'Cy', seq: 1 });
  assert.equal(book.nameOf({ senderId: 'cy-id', alias: null }), 'Cy');
  assert.equal(book.nameOf({ senderId: 'dan-id', alias: null }), 'Guest 1895');
});

test('G5 at most four thousand are remembered who are not here', () => {
  const book = new NameBook();
  for (let number = 0; number <= 4096; number += 1) book.note({ connectionId: `c${number}`, data: `n${number}` });
  assert.equal(book.nameOf({ senderId: 'c0', alias: null }), 'n0');
  book.enter([]);
  assert.equal(book.nameOf({ senderId: 'c4096', alias: null }), 'n4096');
  assert.equal(book.nameOf({ senderId: 'c0', alias: null }), 'Guest 4117');
});

test('CHAT-4 the name of a guest is in the words of the reader', () => {
  const book = new NameBook();
  assert.equal(book.nameOf({ senderId: 'dan-id', alias: 'Guest 1895' }, { guest: (id) => `Gast ${id}` }), 'Gast 1895');
});

const user = { connectionId: 'a1', data: 'name=Ada', user: 'u-17' };

test('CHAT-4 a message without a stamp has the name that is known of its sender', () => {
  const book = new NameBook();
  book.note(user);
  assert.equal(book.nameOf({ senderId: 'a1', alias: 'Eve' }), 'Ada', 'known by the connection alone');
  assert.equal(book.nameOf({ senderId: 'gone', user: 'u-17', alias: 'Eve' }), 'Ada', 'known by the user');
  assert.equal(book.nameOf({ senderId: 'u-17', user: null, alias: 'Ada' }), 'Guest 4753', 'a connection called like a user');
  assert.equal(book.nameOfUser('u-17'), 'Ada');
  assert.equal(book.nameOfUser('u-18'), null);
});

test('CHAT-4 a guest with the name of a user is marked', () => {
  const book = new NameBook();
  book.note(user);
  book.note({ connectionId: 'g1', data: 'Ada' });
  assert.equal(book.isGuest({ senderId: 'g1', user: null }), true);
  assert.equal(book.isGuest({ senderId: 'a1', user: 'u-17' }), false);
  assert.equal(book.isGuest({ senderId: 'a1' }), false, 'known by the connection alone');
  assert.equal(book.isGuest({ senderId: null }), false, 'the server is no guest');
  assert.equal(book.isGuest({ senderId: 'bot', isFromServer: true }), false, 'the server is no guest');
});

test('CHAT-4 where no sender has a user nobody is marked', () => {
  const book = new NameBook();
  book.note(ada);
  assert.equal(book.isGuest({ senderId: 'ada-id', user: null }), false);
  book.note(user);
  assert.equal(book.isGuest({ senderId: 'ada-id', user: null }), true);
});
