// Programs of OpenTok's form, which write bare text and show every signal as text, in one session with this chat.
import assert from 'node:assert/strict';
import test from 'node:test';
import { HandClock } from '../../test-support/fakes/hand-clock.js';
import { MemorySession } from '../../test-support/memory-session.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { ChatTyping } from '../../text-chat/typing/chat-typing.js';

const NOW = 1_700_000_000_000;

/** A chat on a connection of its own. */
function join(session, id, options = { isAdaptive: true }) {
  const channel = session.connect(id, id);
  const clock = new HandClock();
  const typing = new ChatTyping({ publish: (signal) => channel.send(signal), ...clock.options() });
  const chat = new TextChatComponent({ ...options, channel, typing });
  const receive = () => channel.removeEvents().forEach((event) => chat.handle(event, NOW));
  let count = 0;
  receive();
  return {
    chat,
    channel,
    receive,
    async say(text) {
      receive();
      // Typing signals have an interval.
      clock.advance(60_000);
      channel.sent.length = 0;
      chat.edit(text);
      await chat.send(NOW, `${id}-${(count += 1)}`);
      return channel.sent.map(({ type }) => type);
    },
  };
}

const JSON_FORM = ['typing', 'text-chat'];
const BARE = ['TextChat'];

test('bare peers: with a program of OpenTok’s form messages are bare text without typing, until it has left', async () => {
  const session = new MemorySession();
  const program = session.connect('program', 'Program');
  const me = join(session, 'me');
  assert.deepEqual(await me.say('before'), JSON_FORM);
  await program.send({ type: 'TextChat', data: 'hello' });
  assert.deepEqual(await me.say('during'), BARE);
  assert.equal(me.channel.sent[0].data, 'during');
  me.receive();
  const states = me.chat.timeline.messages.map(({ text, direction, state }) => [text, direction, state]);
  assert.deepEqual(states, [['before', 'sent', 'sent'], ['hello', 'received', 'sent'], ['during', 'sent', 'sent']]);
  session.leave('program');
  assert.deepEqual(await me.say('after'), JSON_FORM);
});

test('bare peers: two chats do not keep each other at bare text when the program has left', async () => {
  const session = new MemorySession();
  const program = session.connect('program');
  const [ada, bob] = [join(session, 'ada'), join(session, 'bob')];
  await program.send({ type: 'TextChat', data: 'hello' });
  assert.deepEqual([await ada.say('1'), await bob.say('2')], [BARE, BARE]);
  session.leave('program');
  assert.deepEqual([await ada.say('3'), await bob.say('4')], [JSON_FORM, JSON_FORM]);
});

test('bare peers: one that has written JSON or typing reads it, whatever its messages are', async () => {
  const session = new MemorySession();
  const me = join(session, 'me');
  const other = join(session, 'other', { wireForm: 'TextChat' });
  assert.deepEqual(await other.say('with typing'), ['typing', 'TextChat']);
  assert.deepEqual(await me.say('hello'), JSON_FORM);
});

test('bare peers: a chat that does not adapt keeps its form, and each can change', async () => {
  const session = new MemorySession();
  const program = session.connect('program');
  const me = join(session, 'me', {});
  await program.send({ type: 'TextChat', data: 'hello' });
  assert.deepEqual(await me.say('1'), JSON_FORM);
  me.chat.isAdaptive = true;
  assert.deepEqual(await me.say('2'), BARE);
  me.chat.isAdaptive = false;
  assert.deepEqual(await me.say('3'), JSON_FORM);
});

test('bare peers: a message by REST, and one’s own bare text, are no program', async () => {
  const session = new MemorySession();
  const me = join(session, 'me', { isAdaptive: true, wireForm: 'TextChat' });
  assert.deepEqual(await me.say('mine'), ['typing', 'TextChat']);
  session.deliver({ type: 'TextChat', data: 'by REST' }, null);
  assert.deepEqual(await me.say('again'), ['typing', 'TextChat']);
});

test('bare peers: they are forgotten when the connection ends', async () => {
  const session = new MemorySession();
  const program = session.connect('program');
  const me = join(session, 'me');
  await program.send({ type: 'TextChat', data: 'hello' });
  assert.deepEqual(await me.say('during'), BARE);
  me.chat.handle({ kind: 'disconnected' }, NOW);
  me.chat.handle({ kind: 'connected', connectionId: 'me' }, NOW);
  assert.deepEqual(await me.say('after'), JSON_FORM);
});
