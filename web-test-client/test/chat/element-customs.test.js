// What a page adds to `<signalbox-chat>`: its own nodes, commands, names, pictures, refusals and data.
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { all, attached, click, leavePage, notes, part, send } from '../../test-support/fakes/chat-page.js';

afterEach(leavePage);

const said = (chat) => part(chat, 'composer-hint').textContent;

test('a page refuses a message with its own words, and the message stays in the field', async () => {
  const { chat, session } = attached();
  chat.addEventListener('signalbox-send', ({ detail }) => detail.refuse('No telephone numbers, please.'));
  await send(chat, '555 1234');
  assert.equal(said(chat), 'No telephone numbers, please.');
  assert.equal(chat.draft, '555 1234');
  assert.deepEqual(session.sent.filter(({ type }) => type === 'text-chat'), []);
});

test('a page that only prevents the sending gets the sentence of the element', async () => {
  const { chat } = attached();
  chat.addEventListener('signalbox-send', (event) => event.preventDefault());
  await send(chat, 'hm');
  assert.notEqual(said(chat), '');
  assert.equal(chat.draft, 'hm');
});

test('CHAT-11: a listener adds data to what the user writes', async () => {
  const { chat, session } = attached();
  chat.addEventListener('signalbox-send', ({ detail }) => (detail.data = { order: 7 }));
  await send(chat, 'hi');
  const { data } = session.sent.find(({ type }) => type === 'text-chat');
  assert.deepEqual(JSON.parse(data).data, { order: 7 });
  assert.deepEqual(chat.messages[0].data, { order: 7 });
});

test('CHAT-11: a program sends text with data, and the draft stays', async () => {
  const { chat, session } = attached();
  chat.draft = 'half';
  const sent = chat.send({ text: 'Order 7', data: { order: 7 } });
  await session.answer();
  assert.deepEqual(await sent, { outcome: 'sent' });
  assert.equal(chat.draft, 'half');
  assert.deepEqual(chat.messages[0].data, { order: 7 });
});

test('a custom that is no function is a TypeError, and changes nothing', () => {
  const { chat } = attached();
  assert.throws(() => chat.customize({ nameOf: 'Ada' }), { name: 'TypeError', message: 'customize: nameOf is no function.' });
});
