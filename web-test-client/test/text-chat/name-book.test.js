import assert from 'node:assert/strict';
import test from 'node:test';
import { NameBook } from '../../text-chat/name-book.js';

const ada = { connectionId: 'ada-id', data: 'name=Ada' };

test('CHAT-4 the connection’s data has precedence over the name in a message', () => {
  const book = new NameBook();
  book.note(ada);
  assert.equal(book.nameOf({ senderId: 'ada-id', alias: 'Bob' }), 'Ada');
});

test('CHAT-4 a name in a message counts if the connection has no data', () => {
  const book = new NameBook();
  book.note({ connectionId: 'cy-id', data: '' });
  assert.equal(book.nameOf({ senderId: 'cy-id', alias: 'Cy' }), 'Cy');
  assert.equal(book.nameOf({ senderId: 'cy-id', alias: null }), 'Cy');
  assert.equal(book.nameOf({ senderId: 'dan-id', alias: null }), 'Guest 1895');
});

test('CHAT-4 a sender cannot use another’s name, or one that looks alike', () => {
  for (const alias of ['Ada', ' ada ', 'A\u200dda', '\u202eAda', 'Ａｄａ', '{"name":"Ada"}']) {
    const book = new NameBook();
    book.note(ada);
    assert.equal(book.nameOf({ senderId: 'eve-id', alias }), 'Guest 1059', alias);
  }
});

test('CHAT-4 of two senders that claim the same name the first gets it', () => {
  const book = new NameBook();
  assert.equal(book.nameOf({ senderId: '1', alias: 'Cy' }), 'Cy');
  assert.equal(book.nameOf({ senderId: '2', alias: 'Cy' }), 'Guest 1050');
  assert.equal(book.nameOf({ senderId: '1', alias: 'Cy' }), 'Cy');
});

test('CHAT a message by REST has the name in its data, else Server', () => {
  const book = new NameBook();
  assert.equal(book.nameOf({ senderId: null, alias: 'Desk' }), 'Desk');
  assert.equal(book.nameOf({ senderId: null, alias: null }), 'Server');
});

test('G5 at most four thousand names are remembered', () => {
  const book = new NameBook();
  for (let number = 0; number <= 4096; number += 1) book.note({ connectionId: `c${number}`, data: `n${number}` });
  assert.equal(book.nameOf({ senderId: 'c4096', alias: null }), 'n4096');
  assert.equal(book.nameOf({ senderId: 'c0', alias: null }), 'Guest 4117');
});

test('CHAT-4 the name of a guest is in the words of the reader, also if the sender has sent it', () => {
  const book = new NameBook();
  const guest = (id) => `Gast ${id}`;
  assert.equal(book.nameOf({ senderId: 'dan-id', alias: 'Guest 1895' }, { guest }), 'Gast 1895');
  assert.equal(book.nameOf({ senderId: 'dan-id', alias: 'Guest 1896' }, { guest }), 'Guest 1896');
});

const user = { connectionId: 'a1', data: 'name=Ada', user: 'u-17' };

test('CHAT-4 all connections of a user have one name, that of the newest, and the user’s own word is not needed', () => {
  const book = new NameBook();
  book.note(user);
  book.note({ connectionId: 'a2', data: 'Ada Lovelace', user: 'u-17' });
  assert.equal(book.nameOf({ senderId: 'a1', user: 'u-17', alias: null }), 'Ada Lovelace');
  assert.equal(book.nameOf({ senderId: 'a1', alias: 'Eve' }), 'Ada Lovelace', 'known by the connection alone');
  assert.equal(book.nameOf({ senderId: 'gone', user: 'u-17', alias: 'Eve' }), 'Ada Lovelace', 'from the history');
  assert.equal(book.nameOfUser('u-17'), 'Ada Lovelace');
  assert.equal(book.nameOfUser('u-18'), null);
});

test('CHAT-4 two tabs of a user without data have the name of their messages', () => {
  const book = new NameBook();
  for (const connectionId of ['c1', 'c2']) book.note({ connectionId, data: '', user: 'u-5' });
  assert.equal(book.nameOf({ senderId: 'c1', user: 'u-5', alias: 'Cy' }), 'Cy');
  assert.equal(book.nameOf({ senderId: 'c2', user: 'u-5', alias: 'Cy' }), 'Cy');
});

test('CHAT-4 a guest with the name of a user is marked, and cannot claim the name in a message', () => {
  const book = new NameBook();
  book.note(user);
  book.note({ connectionId: 'g1', data: 'Ada' });
  assert.equal(book.isGuest({ senderId: 'g1', user: null }), true);
  assert.equal(book.isGuest({ senderId: 'a1', user: 'u-17' }), false);
  assert.equal(book.isGuest({ senderId: 'a1' }), false, 'known by the connection alone');
  assert.equal(book.isGuest({ senderId: null }), false, 'the server is no guest');
  assert.equal(book.nameOf({ senderId: 'g2', user: null, alias: 'Ada' }), 'Guest 4243');
  assert.equal(book.nameOf({ senderId: 'u-17', user: null, alias: 'Ada' }), 'Guest 4753', 'a connection called like a user');
});

test('CHAT-4 where no sender has a user nobody is marked', () => {
  const book = new NameBook();
  book.note(ada);
  assert.equal(book.isGuest({ senderId: 'ada-id', user: null }), false);
  book.note(user);
  assert.equal(book.isGuest({ senderId: 'ada-id', user: null }), true);
});
