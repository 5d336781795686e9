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
