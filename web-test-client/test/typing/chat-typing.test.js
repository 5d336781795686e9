import assert from 'node:assert/strict';
import test from 'node:test';
import { HandClock } from '../../test-support/fakes/hand-clock.js';
import { MemorySession } from '../../test-support/memory-session.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { typingPolicy } from '../../text-chat/typing/typing-policy.js';
import { TYPING_PRESETS } from '../../text-chat/typing/typing-presets.js';
import { ChatTyping } from '../../text-chat/typing/chat-typing.js';

/** Two users who chat and type in one session in memory. */
function room({ preset = 'standard', names = ['ada', 'bob'] } = {}) {
  const session = new MemorySession();
  const clock = new HandClock();
  let lastNumber = 0;
  const people = names.map((name) => {
    const channel = session.connect(name);
    const snapshots = [];
    const typing = new ChatTyping({
      ...clock.options(),
      // Without linger the snapshot shows the true state.
      policy: typingPolicy(preset, { linger: null }),
      publish: (signal) => channel.send(signal),
      changed: (snapshot) => snapshots.push(snapshot),
    });
    const chat = new TextChatComponent({ channel, typing });
    return {
      name, channel, typing, chat, snapshots,
      receive: () => channel.removeEvents().forEach((event) => chat.handle(event, 42)),
      type: (text) => chat.edit(text),
      send: () => chat.send(42, String((lastNumber += 1))),
      said: () => channel.sent.map(({ type, data }) => (type === 'typing' ? JSON.parse(data).action : type)),
      sees: () => typing.current.typing.map(({ connectionId }) => connectionId),
    };
  });
  const receive = () => people.forEach((each) => each.receive());
  receive();
  for (const each of people) {
    for (const other of people) {
      each.chat.handle({ kind: 'connectionCreated', connection: other.channel.connection }, 42);
    }
  }
  return { session, clock, people, receive, [names[0]]: people[0], [names[1]]: people[1] };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('TYP-7 keys announce, silence pauses and finishes, and one timer is enough', () => {
  const { ada, bob, clock, receive } = room();
  ada.type('h');
  receive();
  assert.deepEqual([ada.said(), bob.sees(), ada.sees()], [['begin'], ['ada'], []]);
  assert.ok(clock.timers.size <= 2);
  clock.advance(5000);
  receive();
  assert.deepEqual([bob.sees(), bob.typing.current.pausedCount], [[], 1]);
  clock.advance(10_000);
  receive();
  assert.deepEqual(ada.said(), ['begin', 'pause', 'finish']);
  assert.equal(bob.typing.current.pausedCount, 0);
  assert.ok([...ada.channel.sent].every(({ onlineOnly }) => onlineOnly));
});

test('TYP-5 a message ends its sender’s typing, and carries the number of the last signal before it', async () => {
  const { ada, bob, receive } = room();
  ada.type('hi');
  receive();
  await ada.send();
  receive();
  assert.deepEqual(bob.sees(), []);
  assert.equal(JSON.parse(ada.channel.sent.at(-1).data).typingN, 1);
  assert.deepEqual(ada.said(), ['begin', 'text-chat']);
});

test('TYP-5 Layer’s preset sends finish first, and the message carries its number', async () => {
  const { ada } = room({ preset: 'layer' });
  ada.type('hi');
  await ada.send();
  assert.deepEqual(ada.said(), ['begin', 'finish', 'text-chat']);
  assert.equal(JSON.parse(ada.channel.sent.at(-1).data).typingN, 2);
});

test('TYP-5 a retried message carries the number that it had', async () => {
  const { ada, clock } = room();
  ada.type('hi');
  ada.channel.answers = [{ error: new Error('no') }];
  await ada.send();
  clock.advance(2000);
  ada.type('more');
  assert.equal(ada.typing.typingN, 2);
  await ada.chat.retry('1');
  const numbers = ada.channel.sent.filter(({ type }) => type === 'text-chat').map(
    ({ data }) => JSON.parse(data).typingN
  );
  assert.deepEqual(numbers, [1, 1]);
});

test('TYP-5 a begin that arrives after its message is dropped', () => {
  const { bob } = room();
  const from = { connectionId: 'ada' };
  bob.chat.handle({ kind: 'signal', type: 'text-chat', data: '{"text":"hi","typingN":3}', from, seq: 9 }, 42);
  bob.chat.handle({ kind: 'signal', type: 'typing', data: '{"action":"begin","n":3}', from, seq: null }, 42);
  assert.deepEqual(bob.sees(), []);
  bob.chat.handle({ kind: 'signal', type: 'typing', data: '{"action":"begin","n":4}', from, seq: null }, 42);
  assert.deepEqual(bob.sees(), ['ada']);
  // A message of another user does not end ada's typing.
  bob.chat.handle(
    { kind: 'signal', type: 'text-chat', data: '{"text":"yo"}', from: { connectionId: 'cy' }, seq: 10 }, 42
  );
  bob.chat.handle({ kind: 'signal', type: 'text-chat', data: '{"text":"by REST"}', from: null, seq: 11 }, 42);
  assert.deepEqual(bob.sees(), ['ada']);
});

test('TYP without typing a message carries no number', async () => {
  const session = new MemorySession();
  const channel = session.connect('ada');
  const chat = new TextChatComponent({ channel });
  chat.edit('hi');
  await chat.send(42, '1');
  assert.equal('typingN' in JSON.parse(channel.sent[0].data), false);
});

test('TYP-2 a failed signal is not sent again; the next key sends a new one', async () => {
  const { ada, clock } = room();
  ada.channel.answers = [{ error: new Error('no') }];
  ada.type('h');
  await settled();
  clock.advance(1500);
  assert.deepEqual(ada.said(), ['begin']);
  ada.type('hi');
  assert.deepEqual(ada.said(), ['begin', 'begin']);
});

test('TYP-9 a user who leaves is gone; a user who was away sees no typing users until signals arrive', () => {
  const { ada, bob, receive } = room();
  ada.type('h');
  receive();
  bob.chat.handle({ kind: 'connectionDestroyed', connection: ada.channel.connection }, 42);
  assert.deepEqual(bob.sees(), []);
  const other = room();
  other.ada.type('h');
  other.receive();
  other.bob.chat.handle({ kind: 'reconnecting' }, 42);
  other.bob.type('while away');
  assert.deepEqual(other.bob.said(), []);
  other.bob.chat.handle({ kind: 'reconnected', connectionId: 'bob' }, 42);
  assert.deepEqual(other.bob.sees(), []);
  other.bob.type('back');
  assert.deepEqual(other.bob.said(), ['begin']);
});

test('TYP-9 when the connection has ended, no user is shown, and nothing is sent', () => {
  const { ada, bob, receive } = room();
  ada.type('h');
  receive();
  bob.chat.handle({ kind: 'disconnected' }, 42);
  assert.deepEqual(bob.sees(), []);
  assert.equal(bob.snapshots.at(-1).typingCount, 0);
  bob.type('x');
  assert.deepEqual(bob.said(), []);
});

test('TYP-8 in a room of more than a hundred members, nothing is sent and no user is shown', () => {
  const { ada, bob, receive } = room();
  const visitor = (number) => ({ connectionId: `visitor ${number}` });
  ada.type('h');
  receive();
  assert.deepEqual(bob.sees(), ['ada']);
  for (let number = 0; number < 99; number += 1) {
    for (const each of [ada, bob]) each.chat.handle({ kind: 'connectionCreated', connection: visitor(number) }, 42);
  }
  assert.deepEqual(bob.sees(), []);
  ada.type('hello');
  bob.type('hello');
  assert.deepEqual(bob.said(), []);
  for (const each of [ada, bob]) each.chat.handle({ kind: 'connectionDestroyed', connection: visitor(0) }, 42);
  bob.type('hello again');
  assert.deepEqual(bob.said(), ['begin']);
});

test('TYP-1 with a recipient only that user sees the typing, and a change ends it for them', () => {
  const { people, receive, clock } = room({ names: ['ada', 'bob', 'cleo'] });
  const [ada, bob, cleo] = people;
  ada.typing.recipient = 'bob';
  ada.type('h');
  receive();
  assert.deepEqual([bob.sees(), cleo.sees()], [['ada'], []]);
  assert.deepEqual(ada.channel.sent.map(({ to }) => to), ['bob']);
  clock.advance(1500);
  ada.typing.recipient = null;
  receive();
  assert.deepEqual([bob.sees(), cleo.sees()], [[], []]);
  clock.advance(1500);
  ada.type('hi');
  receive();
  assert.deepEqual([bob.sees(), cleo.sees()], [['ada'], ['ada']]);
});

test('TYP a user who opts out finishes, sends nothing, and still sees others', () => {
  const { ada, bob, clock, receive } = room();
  ada.type('h');
  receive();
  clock.advance(1000);
  ada.typing.isOptedOut = true;
  receive();
  assert.deepEqual([ada.said(), bob.sees()], [['begin', 'finish'], []]);
  ada.type('hello');
  bob.type('hello');
  receive();
  assert.deepEqual([ada.said(), ada.sees()], [['begin', 'finish'], ['bob']]);
});

test('TYP-6 Easemob’s preset sends begin without a number, and the others read it', () => {
  const { ada, bob, receive } = room({ preset: 'easemob' });
  ada.type('h');
  receive();
  assert.deepEqual([ada.said(), bob.sees()], [['TypingBegin'], ['ada']]);
});

test('TYP-3 another preset finishes what was announced, and numbers continue', () => {
  const { ada, bob, clock, receive } = room();
  ada.type('h');
  receive();
  clock.advance(1000);
  ada.typing.policy = TYPING_PRESETS.layerWeb;
  ada.type('hi');
  receive();
  assert.deepEqual(ada.channel.sent.map(({ data }) => JSON.parse(data)), [
    { action: 'begin', n: 1 },
    { action: 'finish', n: 2 },
    { action: 'begin', n: 3 },
  ]);
  assert.deepEqual(bob.sees(), ['ada']);
});

test('TYP a draft that the program restores is no key', () => {
  const { ada } = room();
  ada.chat.restore({ messages: [], draft: 'unfinished' }, 42);
  ada.type('unfinished');
  assert.deepEqual(ada.said(), []);
  ada.type('unfinished b');
  assert.deepEqual(ada.said(), ['begin']);
});

test('TYP a stopped ChatTyping leaves no timer behind', () => {
  const { ada, bob, clock } = room();
  ada.type('h');
  ada.typing.stop();
  bob.typing.stop();
  assert.equal(clock.timers.size, 0);
});
