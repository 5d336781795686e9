import assert from 'node:assert/strict';
import test from 'node:test';
import { HandClock } from '../../test-support/fakes/hand-clock.js';
import { MemorySession } from '../../test-support/memory-session.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { ChatTyping } from '../../text-chat/typing/chat-typing.js';
import { ACTIONS_FORM, encodeTyping } from '../../text-chat/wire/typing-signal.js';

// Swift's component has the same tests: `RestrictionTests`.

const NOW = 1_700_000_000_000;
const mute = { kind: 'mute', reason: 'Please stay on topic' };
const brief = { kind: 'mute', until: NOW + 60_000 };

/** A component whose user is on a connection of a session in memory. */
function chatting(options = {}) {
  const session = new MemorySession();
  const channel = session.connect('me', 'Me');
  const told = [];
  const chat = new TextChatComponent({
    ...options,
    channel,
    changed: (changes, activity) => activity?.kind === 'restrictionChanged' && told.push(chat.restriction),
  });
  const receive = (now = NOW, from = channel) => from.removeEvents().forEach((event) => chat.handle(event, now));
  receive();
  return { session, channel, chat, told, receive };
}

test('MOD-5 a muted user’s draft stays and cannot be sent, until the mute is lifted', async () => {
  const { channel, chat, told, receive } = chatting();
  chat.edit('hello');
  channel.restrict(mute);
  receive();
  assert.deepEqual(chat.restriction, mute);
  assert.equal(chat.canSend, false);
  const refusal = { reason: 'restricted', restriction: mute };
  assert.deepEqual(chat.refusal(), refusal);
  assert.deepEqual(chat.enqueue(NOW, '1'), refusal);
  assert.deepEqual(await chat.send(NOW, '1'), { outcome: 'refused', refusal });
  assert.equal(chat.draft, 'hello');
  assert.equal(chat.timeline.messageCount, 0);
  channel.lift('mute');
  receive();
  assert.equal(chat.canSend, true);
  assert.equal(chat.enqueue(NOW, '1'), null);
  assert.deepEqual(told, [mute, null]);
});

test('MOD-2 a mute ends at its moment without an event: the timer’s call finds it out', () => {
  const { channel, chat, receive } = chatting();
  channel.restrict(brief);
  receive();
  assert.equal(chat.nextRestrictionCheck(NOW), brief.until);
  assert.equal(chat.nextRestrictionCheck(brief.until), brief.until + 1000, 'this clock is ahead of the server’s');
  chat.advance(NOW + 59_999);
  assert.deepEqual(chat.restriction, brief);
  chat.advance(NOW + 60_000);
  assert.equal(chat.restriction, null);
  assert.equal(chat.nextRestrictionCheck(NOW), null);
});

test('MOD-2 sending finds out that a mute has ended, and that one has begun', () => {
  const { channel, chat, receive } = chatting();
  channel.restrict(brief);
  receive();
  chat.edit('hi');
  assert.equal(chat.enqueue(NOW + 59_999, '1').reason, 'restricted');
  assert.equal(chat.enqueue(NOW + 60_000, '1'), null);
  // A refused signal told the channel, which has no event for it.
  channel.restrictions = [mute];
  chat.edit('ho');
  assert.deepEqual(chat.enqueue(NOW + 60_001, '2'), { reason: 'restricted', restriction: mute });
});

test('MOD-5 another reason or end of a mute is told, and the same mute is not told twice', () => {
  const { channel, told, receive } = chatting();
  const later = { ...brief, until: brief.until + 1 };
  for (const each of [mute, { ...mute }, brief, { ...brief }, later, { kind: 'freeze', until: later.until }]) {
    channel.restrictions = [];
    channel.restrict(each);
    receive();
  }
  assert.deepEqual(told, [mute, brief, later, { kind: 'freeze', until: later.until }]);
});

test('MOD-5 a muted user sends no typing, and sees that of others; afterwards the next key begins anew', () => {
  const clock = new HandClock();
  const sent = [];
  const typing = new ChatTyping({ ...clock.options(), publish: async (signal) => void sent.push(signal) });
  const { session, channel, chat, receive } = chatting({ typing });
  chat.edit('h');
  assert.equal(sent.length, 1);
  channel.restrict(mute);
  receive();
  for (const text of ['he', '', 'hel']) {
    clock.advance(5000);
    chat.edit(text);
  }
  assert.equal(sent.length, 1);
  session.connect('bob', 'Bob').send(encodeTyping({ action: 'begin', n: 1 }, ACTIONS_FORM));
  receive();
  assert.equal(typing.current.typingCount, 1);
  channel.lift('mute');
  receive();
  assert.equal(sent.length, 1);
  clock.advance(5000);
  chat.edit('hell');
  assert.equal(sent.length, 2);
  typing.stop();
});

test('MOD-5 what holds at the connect counts, and what held on a connection that has ended does not', () => {
  const { session, channel, chat, receive } = chatting();
  channel.restrict(mute);
  const again = session.connect('again');
  again.restrict({ kind: 'freeze' });
  receive();
  assert.deepEqual(chat.restriction, mute);
  chat.channel = again;
  receive(NOW, again);
  assert.deepEqual(chat.restriction, { kind: 'freeze' });
  chat.handle({ kind: 'disconnected' }, NOW);
  chat.advance(NOW);
  assert.equal(chat.restriction, null);
});

test('MOD-5 a channel that knows no moderation restricts nobody', () => {
  const chat = new TextChatComponent({ channel: { connectionId: 'me', send: async () => {} } });
  chat.handle({ kind: 'connected', connectionId: 'me' }, NOW);
  chat.edit('hi');
  assert.equal(chat.restriction, null);
  assert.equal(chat.refusal(), null);
});
