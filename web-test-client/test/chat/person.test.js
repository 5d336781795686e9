// Whose draft and messages a chat shows.
import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import { personOf, userOf } from '../../chat/connection/person.js';
import {
  ACCESS, attached, FakeSession, frame, leavePage, newChat, rows, send, sockets, texts, type,
} from '../../test-support/fakes/chat-page.js';
import { connectedMessage } from '../../test-support/fakes/fake-browser.js';

afterEach(leavePage);

const base64 = (text) => Buffer.from(text).toString('base64');
const t1 = (user) => `T1==${base64(`partner_id=100&sig=00:session_id=1_x&role=publisher&user=${encodeURIComponent(user)}`)}`;
const jwt = (payload) => `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.x`;
const as = (user) => ({ connection: { connectionId: `${user}-id`, data: user, user } });

test('USR-1: the user is read from both forms of tokens', () => {
  for (const user of ['u-17', 'Zoë + 雪', 'a&b=c']) {
    assert.equal(userOf(t1(user)), user);
    assert.equal(userOf(jwt({ user })), user);
  }
  for (const token of ['', 'T1==', 'T1==%%', 'a.b.c', jwt({}), jwt({ user: 7 }), t1(''), null]) {
    assert.equal(userOf(token), null, String(token));
  }
});

test('a person is known by the user, a guest by the token, and without one by the connection', () => {
  assert.equal(personOf(t1('u-1')), personOf(jwt({ user: 'u-1' })));
  assert.notEqual(personOf('T1==a'), personOf('T1==b'));
  assert.equal(personOf(null), null);
  const guest = { connectionId: 'c' };
  assert.notEqual(personOf(null, guest), personOf(null, { connectionId: 'd' }));
  assert.equal(personOf('T1==a', guest), personOf('T1==a'));
  // The server decides who it is.
  assert.equal(personOf('T1==a', { connectionId: 'c', user: 'u-1' }), personOf(t1('u-1')));
});

/** The server lets in whoever asks. */
async function accept(chat, user, connectionId) {
  await frame();
  const socket = sockets.at(-1);
  if (socket.readyState === 0) socket.open();
  const connection = { connectionId, creationTime: 1, data: user ?? 'Guest', ...(user === null ? {} : { user }) };
  socket.receive({ ...connectedMessage({ id: socket.sent.at(-1).id }), connection, connections: [connection] });
  await frame();
  return socket;
}

test('the next user of a tab sees no draft and no message as their own, before the server has answered, too', async () => {
  const chat = newChat({ ...ACCESS, token: t1('ada') });
  const socket = await accept(chat, 'ada', 'ada-id');
  await send(chat, 'my secret');
  type(chat, 'and half a thought');
  assert.deepEqual(rows(chat).at(-1), 'sent pending: my secret');
  chat.token = t1('bob');
  await frame();
  assert.deepEqual([chat.draft, texts(chat), socket === sockets.at(-1)], ['', [], false]);
  await accept(chat, 'bob', 'bob-id');
  assert.deepEqual([chat.draft, texts(chat)], ['', []]);
  const from = { connectionId: 'ada-id', creationTime: 1, data: 'ada', user: 'ada' };
  sockets.at(-1).receive({ ev: 'signal', seq: 60, connection: from, from: 'ada-id', type: 'text-chat', data: '{"text":"hi"}' });
  await frame();
  assert.deepEqual(chat.messages.map(({ direction }) => direction), ['received']);
  // The first one comes back.
  chat.token = t1('ada');
  await frame();
  assert.equal(chat.draft, 'and half a thought');
});

test('another guest, by the connection data of the token, sees nothing either, before the server has answered', async () => {
  const guest = (data) => jwt({ connection_data: data });
  const chat = newChat({ ...ACCESS, token: guest('Ada') });
  const socket = await accept(chat, null, 'ada-id');
  type(chat, 'half a thought');
  chat.token = guest('Bob');
  await frame();
  assert.deepEqual([chat.draft, socket === sockets.at(-1)], ['', false]);
});

test('a reload shows a draft to its person only', async () => {
  for (const [person, other] of [[as('ada'), as('bob')], [as('ada'), {}]]) {
    type(attached(person).chat, 'half a thought');
    document.body.replaceChildren();
    assert.equal(attached(other).chat.draft, '');
    document.body.replaceChildren();
    assert.equal(attached(person).chat.draft, 'half a thought');
    leavePage();
  }
});

test('a guest of another connection sees nothing of the guest before', async () => {
  const { chat, session } = attached();
  await send(chat, 'of the first guest');
  await session.answer();
  type(chat, 'half');
  session.emit('sessionDisconnected', { reason: 'clientDisconnected' });
  const counts = [];
  chat.addEventListener('signalbox-unread', ({ detail }) => counts.push(detail.count));
  session.connection = { connectionId: 'next', data: 'Ada' };
  session.emit('sessionConnected');
  await frame();
  assert.deepEqual([chat.draft, texts(chat)], ['', []]);
  // It writes on with the chat of its own.
  await send(chat, 'of the second guest');
  await session.answer();
  assert.deepEqual(rows(chat).at(-1), 'sent sent: of the second guest');
  document.body.replaceChildren();
  assert.equal(attached().chat.draft, '');
});

test('a guest who comes back with the same token goes on, and a draft of a program waits for whoever comes', async () => {
  const chat = newChat();
  chat.draft = 'asked by the page';
  const connect = (connectionId, token) => {
    const session = new FakeSession({ connection: { connectionId, data: 'Ada' } });
    chat.attach(session, { token });
  };
  connect('one', 'T1==a');
  assert.equal(chat.draft, 'asked by the page');
  type(chat, 'changed');
  connect('two', 'T1==a');
  assert.equal(chat.draft, 'changed');
  connect('three', 'T1==b');
  assert.equal(chat.draft, '');
});

test('CON-12: a newer token of a guest is the same guest, also after a reload', async () => {
  const chat = newChat({ ...ACCESS, token: 'T1==a' });
  const socket = await accept(chat, null, 'guest-id');
  type(chat, 'half');
  chat.token = 'T1==b';
  await frame();
  const { op, id } = socket.sent.at(-1);
  assert.equal(op, 'refreshToken');
  socket.receive({ ev: 'ack', id });
  await frame();
  assert.equal(chat.draft, 'half');
  document.body.replaceChildren();
  const next = newChat({ ...ACCESS, token: 'T1==b' });
  await frame();
  assert.equal(next.draft, 'half');
});

test('the number of unread messages of one person is not that of the next', async () => {
  const { chat, session } = attached(as('ada'));
  chat.component.isVisible = false;
  await session.receive('unread');
  assert.equal(chat.unreadCount, 1);
  const counts = [];
  chat.addEventListener('signalbox-unread', ({ detail }) => counts.push(detail.count));
  chat.attach(new FakeSession(as('bob')));
  assert.deepEqual([chat.unreadCount, counts], [0, [0]]);
});
