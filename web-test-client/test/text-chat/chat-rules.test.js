import assert from 'node:assert/strict';
import test from 'node:test';
import { MemorySession } from '../../test-support/memory-session.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { TypingRoster } from '../../text-chat/typing/typing-roster.js';

/** Ada's component and Bob's connection in one session in memory. */
function adaAndBob() {
  const session = new MemorySession();
  const bob = session.connect('bob', 'Bob');
  const channel = session.connect('ada', 'Ada');
  const chat = new TextChatComponent({ channel });
  const receive = () => channel.removeEvents().forEach((event) => chat.handle(event, 42));
  let localId = 0;
  const send = (text) => {
    chat.edit(text);
    return chat.send(42, String((localId += 1)));
  };
  receive();
  return { bob, channel, chat, receive, send, texts: () => chat.timeline.messages.map(({ text }) => text) };
}

/** Lets all promises that are ready continue. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('CHAT-6 messages are in the order of the session, not of their senders’ clocks', async () => {
  const { bob, receive, texts } = adaAndBob();
  for (const [text, sentOn] of [['first', 3_000_000], ['second', 1_000_000], ['third', 2_000_000]]) {
    await bob.send({ type: 'text-chat', data: JSON.stringify({ text, sender: { id: 'bob' }, sentOn }) });
  }
  receive();
  assert.deepEqual(texts(), ['first', 'second', 'third']);
});

test('CHAT-8 messages leave one at a time, in the order in which they were written', async () => {
  const { channel, send } = adaAndBob();
  channel.holdsAnswers = true;
  const sending = ['1', '2', '3'].map(send);
  const left = () => channel.sent.map(({ data }) => JSON.parse(data).text);
  for (const expected of [['1'], ['1', '2'], ['1', '2', '3']]) {
    assert.deepEqual(left(), expected);
    channel.releaseAnswer();
    await settled();
  }
  assert.deepEqual((await Promise.all(sending)).map(({ outcome }) => outcome), ['sent', 'sent', 'sent']);
});

test('CHAT-8 a failed message is not overtaken until the user asks for it', async () => {
  const { channel, chat, send } = adaAndBob();
  channel.answers = [{ error: Object.assign(new Error('no'), { code: 403 }) }];
  assert.equal((await send('1')).outcome, 'failed');
  assert.deepEqual(await send('2'), { outcome: 'heldBack', by: '1' });
  assert.equal(channel.sent.length, 1);
  chat.passFailed();
  assert.equal((await chat.outcomeOf('2')).outcome, 'sent');
  assert.deepEqual(channel.sent.map(({ data }) => JSON.parse(data).text), ['1', '2']);
});

test('TYP-10 a receiver shows the connection that the server named, and never its own', () => {
  const roster = new TypingRoster({ ownConnection: 'ada' });
  assert.equal(roster.handle({ kind: 'signal', action: 'begin', n: 1, from: 'ada', user: 'Ada' }, 0), null);
  const shown = roster.handle({ kind: 'signal', action: 'begin', n: 1, from: 'bob', user: 'Bob' }, 0);
  assert.deepEqual(shown.typing.map(({ connectionId }) => connectionId), ['bob']);
});
