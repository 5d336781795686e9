// `<signalbox-chat>` in a session with a history, whose pages the test answers.
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { all, FakeSession, frame, leavePage, newChat, part, shown, texts, until } from '../../test-support/fakes/chat-page.js';

afterEach(leavePage);

/** A session that keeps `count` messages; each fifth is of the connection `former`. Pages wait while `isHeld`. */
class KeepingSession extends FakeSession {
  hasHistory = true;
  epoch = 'e';
  isHeld = false;
  #kept;
  #waiting = [];

  constructor(count, members) {
    super(members);
    this.#kept = Array.from({ length: count }, (_, index) => ({
      seq: 10 + index, from: { connectionId: index % 5 === 4 ? 'former' : 'bob', data: 'Bob' }, type: 'signal:text-chat',
      data: JSON.stringify({ text: `message ${index}` }), time: 1_700_000_000_000 + index * 200_000,
    }));
  }

  history({ before = Infinity, after = -1, limit }) {
    const found = this.#kept.filter(({ seq }) => seq < before && seq > after);
    const messages = found.slice(-Math.min(limit, 50));
    const page = { first: this.#kept[0]?.seq, last: this.#kept.at(-1)?.seq, more: found.length > messages.length, messages };
    if (!this.isHeld) return Promise.resolve(page);
    return new Promise((resolve, reject) => this.#waiting.push({ answer: () => resolve(page), reject }));
  }

  async refusePage() {
    this.#waiting.shift().reject(Object.assign(new Error('busy'), { code: 503 }));
    await frame();
  }
}

async function keeping(count, { chat = newChat(), room = 'room' } = {}) {
  const session = new KeepingSession(count);
  chat.attach(session, { room });
  // The fake session is connected already: it tells so, as a session does after its connect.
  session.emit('sessionConnected');
  await frame();
  return { chat, session };
}

test('HIS-5: a user who joins late sees the newest messages, and those before them at a button', async () => {
  const { chat } = await keeping(120);
  assert.deepEqual([texts(chat).length, texts(chat)[0], shown(chat, 'earlier')], [50, 'message 70', 'Show earlier messages']);
  for (const count of [100, 120]) {
    part(chat, 'earlier').click();
    await until(() => texts(chat).length === count);
  }
  assert.deepEqual(texts(chat), Array.from({ length: 120 }, (_, index) => `message ${index}`));
  assert.equal(all(chat, '.beginning')[0].textContent, 'This is the beginning of the conversation.');
  assert.deepEqual([shown(chat, 'earlier'), shown(chat, 'empty')], [null, null]);
});

test('HIS-8: a failure is shown, the button tries again, and the focus stays in the list when it goes', async () => {
  const { chat, session } = await keeping(60);
  const button = part(chat, 'earlier');
  session.isHeld = true;
  button.focus();
  button.click();
  assert.equal(button.textContent, 'Loading earlier messages…');
  await session.refusePage();
  assert.equal(button.textContent, 'Earlier messages could not be loaded. Try again');
  session.isHeld = false;
  button.click();
  await until(() => texts(chat).length === 60);
  assert.equal(chat.shadowRoot.activeElement, part(chat, 'messages-scroll'));
});

test('the text of an empty room is true', async () => {
  const { chat } = await keeping(0);
  assert.equal(part(chat, 'empty').textContent, 'No messages yet. Write the first one.');
  const plain = new FakeSession({ sessionId: 'plain' });
  chat.attach(plain);
  plain.emit('sessionConnected');
  assert.equal(part(chat, 'empty').textContent, 'You see messages from now on.');
});

test('CHAT-9: a guest’s own messages are recognized after a reload, by what the tab remembers of the token', async () => {
  const ownTexts = (chat) => all(chat, '[data-kind=message]').filter((each) => each.classList.contains('sent'))
    .map((each) => each.querySelector('.bubble').textContent);
  const open = async (token, connectionId) => {
    document.body.replaceChildren();
    const session = new KeepingSession(5, { connection: { connectionId, data: 'Ada' } });
    const chat = newChat();
    chat.attach(session, { room: 'third', token });
    session.emit('sessionConnected');
    await frame();
    return ownTexts(chat);
  };
  assert.deepEqual(await open('T1==first', 'former'), ['message 4']);
  assert.deepEqual(await open('T1==first', 'present'), ['message 4'], 'the same token');
  assert.deepEqual(await open('T1==second', 'next'), [], 'another guest of the tab');
});

test('HIS-9: an erased message loses its content, and those of an erased beginning go', async () => {
  const { chat, session } = await keeping(5);
  session.emit('messagesErased', { ref: 10 });
  await frame();
  assert.deepEqual(texts(chat).slice(0, 2), ['This message was deleted.', 'message 1']);
  session.emit('messagesErased', { through: 13 });
  await frame();
  assert.deepEqual([texts(chat), shown(chat, 'messages-dropped')], [['message 4'], null]);
});
