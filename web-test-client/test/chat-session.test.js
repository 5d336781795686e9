import assert from 'node:assert/strict';
import test from 'node:test';
import { Emitter } from '../opentok/emitter.js';
import { ChatSession } from '../text-chat/chat-session.js';

const ada = { connectionId: 'ada-id', data: 'Ada' };
const bob = { connectionId: 'bob-id', data: 'Bob' };

/** A session that keeps what it is given, and answers when the test says so. */
class StubSession extends Emitter {
  connection = bob;
  sent = [];

  signal(options, handler) {
    this.sent.push({ ...options, handler });
  }

  echo(place, from = bob) {
    const { type, data } = this.sent[place];
    this.emit('signal', { type: `signal:${type}`, data, from });
  }
}

function chatting() {
  const session = new StubSession();
  const news = [];
  let lastId = 0;
  const chat = new ChatSession(session, {
    alias: 'Bob',
    clock: () => 42,
    newLocalId: () => `id-${(lastId += 1)}`,
    changed: (entry) => news.push(entry?.text ?? null),
  });
  const show = () => chat.timeline.messages.map(({ text, state, alias }) => `${alias}: ${text} (${state})`);
  return { session, chat, news, show };
}

test('CHAT a message is shown before it is sent, and sent as text-chat', () => {
  const { session, chat, show } = chatting();
  chat.send('hi');
  assert.deepEqual(show(), ['Bob: hi (pending)']);
  assert.equal(session.sent[0].type, 'text-chat');
  assert.deepEqual(JSON.parse(session.sent[0].data), { text: 'hi', sender: { id: 'bob-id', alias: 'Bob' }, sentOn: 42, localId: 'id-1' });
});

test('CHAT the echo before, after, or without the acknowledgement shows the message once', () => {
  const ways = {
    'echo, acknowledgement': (session) => { session.echo(0); session.sent[0].handler(); },
    'acknowledgement, echo': (session) => { session.sent[0].handler(); session.echo(0); },
    'acknowledgement only': (session) => session.sent[0].handler(),
    'echo only': (session) => session.echo(0),
  };
  for (const [name, happen] of Object.entries(ways)) {
    const { session, chat, show } = chatting();
    chat.send('hi');
    happen(session);
    assert.deepEqual(show(), ['Bob: hi (sent)'], name);
  }
});

test('CHAT a refused message fails with its reason and can be tried again under the same id', () => {
  const { session, chat, show } = chatting();
  chat.send('hi');
  session.sent[0].handler({ message: 'not permitted' });
  assert.deepEqual(show(), ['Bob: hi (failed)']);
  assert.equal(chat.failureOf('id-1'), 'not permitted');
  chat.retry('id-1');
  assert.deepEqual(show(), ['Bob: hi (pending)']);
  assert.equal(chat.failureOf('id-1'), null);
  assert.equal(session.sent[1].data, session.sent[0].data);
  session.echo(1);
  assert.deepEqual(show(), ['Bob: hi (sent)']);
});

test('CHAT others’ messages are news, one’s own are not', () => {
  const { session, chat, news, show } = chatting();
  chat.send('mine');
  session.echo(0);
  session.emit('signal', { type: 'signal:text-chat', data: '{"text":"theirs","sentOn":7}', from: ada });
  session.emit('signal', { type: 'signal:TextChat', data: 'bare', from: ada });
  assert.deepEqual(news.filter((text) => text !== null), ['theirs', 'bare']);
  assert.deepEqual(show(), ['Bob: mine (sent)', 'Ada: theirs (received)', 'Ada: bare (received)']);
});

test('SIG-7 a message by REST comes from the server, or from whom it names', () => {
  const { session, show } = chatting();
  session.emit('signal', { type: 'signal:text-chat', data: '{"text":"one"}', from: null });
  session.emit('signal', { type: 'signal:text-chat', data: '{"text":"two","sender":{"alias":"Desk"}}', from: null });
  assert.deepEqual(show(), ['Server: one (received)', 'Desk: two (received)']);
});

test('CHAT signals that are no messages change nothing, and none are heard after stop', () => {
  const { session, chat, news } = chatting();
  session.emit('signal', { type: 'signal', from: ada });
  session.emit('signal', { type: 'signal:typing', data: '{}', from: ada });
  chat.stop();
  session.emit('signal', { type: 'signal:TextChat', data: 'hi', from: ada });
  assert.deepEqual(news, []);
});

test('CHAT-5 an echo that carries the id that one had before a long loss completes the failed message', () => {
  const { session, chat, show } = chatting();
  chat.send('hi');
  session.connection = { connectionId: 'bob-again-id', data: 'Bob' };
  session.sent[0].handler({ code: 500, message: 'not known' });
  assert.deepEqual(show(), ['Bob: hi (failed)']);
  session.echo(0, bob);
  assert.deepEqual(show(), ['Bob: hi (sent)']);
});
