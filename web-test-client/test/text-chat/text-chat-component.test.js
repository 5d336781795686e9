import assert from 'node:assert/strict';
import test from 'node:test';
import { MemorySession } from '../../test-support/memory-session.js';
import { lineOf } from '../../test-support/timeline-lines.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';
import { ChatTyping } from '../../text-chat/typing/chat-typing.js';

const refusal = Object.assign(new Error('no'), { code: 403 });
const loss = Object.assign(new Error('lost'), { code: 500 });

/** A component on one connection of a session in memory, and Bob on another. */
function chatting(options = {}) {
  const session = new MemorySession();
  const bob = session.connect('bob', 'Bob');
  const channel = session.connect('me', 'Me');
  const received = [];
  const chat = new TextChatComponent({
    ...options, channel, changed: (changes, activity) => activity && received.push(activity),
  });
  chat.isVisible = true;
  let lastNumber = 0;
  const it = {
    session, bob, channel, chat, received,
    receive: () => channel.removeEvents().flatMap((event) => chat.handle(event, 42)),
    send(text) {
      assert.ok(chat.edit(text).isAccepted);
      return chat.send(42, String((lastNumber += 1)));
    },
    async say(data, type = 'TextChat', from = bob) {
      await from.send({ type, data });
      it.receive();
    },
    texts: () => chat.timeline.messages.map(({ text }) => text),
    states: () => chat.timeline.messages.map(({ state }) => state),
  };
  it.receive();
  return it;
}

/** Runs all pending promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('CHAT-5 an echo before, after or without the acknowledgement leads to one row, and the same row', async () => {
  for (const way of ['before', 'after', 'only the answer', 'only the echo']) {
    const it = chatting();
    it.channel.holdsAnswers = true;
    if (way === 'only the echo') it.channel.answers = [{ error: loss, arrives: true }];
    const result = it.send('hi');
    assert.deepEqual(it.states(), ['sending'], way);
    const [{ id }] = it.chat.rows;
    if (way === 'before' || way === 'only the echo') {
      it.receive();
      assert.deepEqual(it.states(), ['sent'], way);
    }
    it.channel.releaseAnswer();
    assert.deepEqual(await result, { outcome: 'sent' }, way);
    if (way === 'after') it.receive();
    await settled();
    assert.deepEqual(it.states(), ['sent'], way);
    assert.deepEqual(it.chat.rows.map((row) => row.id), [id], way);
    assert.equal(it.chat.timeline.messages[0].seq, 3, way);
  }
});

test('CHAT-5 an echo of bare text confirms the oldest message with that text, and never another sender’s', async () => {
  const it = chatting({ wireForm: 'TextChat' });
  it.channel.answers = [{ error: loss }];
  assert.equal((await it.send('hi')).outcome, 'failed');
  await it.say('hi');
  assert.deepEqual(it.states(), ['sent', 'failed']);
  await it.say('hi', 'TextChat', it.channel);
  assert.deepEqual(it.states(), ['sent', 'sent']);
});

test('an error of the page in `changed` is reported and stops no message', async (context) => {
  const reported = [];
  globalThis.reportError = (error) => reported.push(error.message);
  context.after(() => delete globalThis.reportError);
  const it = chatting();
  it.chat.changed = () => {
    throw new Error('a fault of the page');
  };
  assert.deepEqual(await it.send('one'), { outcome: 'sent' });
  it.receive();
  assert.deepEqual(await it.send('two'), { outcome: 'sent' });
  assert.deepEqual(it.texts(), ['one', 'two']);
  assert.ok(reported.length > 0 && reported.every((message) => message === 'a fault of the page'));
});

test('CHAT-4 a sender that claims another’s id or local id neither confirms nor hides a message', async () => {
  const it = chatting();
  it.channel.answers = [{ error: loss }];
  await it.send('hi');
  const mallory = it.session.connect('mallory');
  for (const id of ['me', 'bob']) {
    await it.say(`{"text":"forged","sender":{"id":"${id}"},"localId":"1"}`, 'text-chat', mallory);
  }
  await it.say('{"text":"honest","localId":"1"}', 'text-chat');
  assert.deepEqual(it.texts(), ['forged', 'honest', 'hi']);
  assert.deepEqual(it.chat.timeline.messages.map(({ senderId }) => senderId), ['mallory', 'bob', 'me']);
  assert.equal(it.states()[2], 'failed');
});

test('G3 messages replayed after a reconnect are shown once; two equal texts are two messages', async () => {
  const it = chatting();
  for (const data of ['hi', 'hi']) await it.bob.send({ type: 'TextChat', data });
  const events = it.channel.removeEvents();
  for (const event of [...events, { kind: 'reconnecting' }, { kind: 'reconnected' }, ...events]) {
    it.chat.handle(event, 42);
  }
  assert.deepEqual(it.texts(), ['hi', 'hi']);
});

test('CHAT messages go one at a time, in the order in which they were written; an echo lets the next go', async () => {
  const it = chatting();
  it.channel.holdsAnswers = true;
  const results = [it.send('1'), it.send('2'), it.send('3')];
  assert.equal(it.channel.sent.length, 1);
  it.channel.releaseAnswer();
  await settled();
  assert.equal(it.channel.sent.length, 2);
  it.receive();
  assert.equal(it.channel.sent.length, 3);
  it.channel.releaseAnswer();
  it.channel.releaseAnswer();
  for (const result of results) assert.deepEqual(await result, { outcome: 'sent' });
  assert.deepEqual(it.texts(), ['1', '2', '3']);
});

async function held() {
  const it = chatting();
  it.channel.answers = [{ error: refusal }];
  const first = await it.send('1');
  assert.deepEqual(first, { outcome: 'failed', failure: { code: 403, message: 'no' } });
  assert.deepEqual(await it.send('2'), { outcome: 'heldBack', by: '1' });
  assert.equal(it.channel.sent.length, 1);
  assert.equal(it.chat.obstacle, '1');
  return { it, second: it.chat.outcomeOf('2') };
}

test('CHAT a failed message holds back those behind it; a retry sends it first, in its row', async () => {
  const { it, second } = await held();
  const ids = it.chat.rows.map(({ id }) => id);
  assert.deepEqual(await it.chat.retry('1'), { outcome: 'sent' });
  assert.deepEqual(await second, { outcome: 'sent' });
  it.receive();
  assert.deepEqual(it.texts(), ['1', '2']);
  assert.deepEqual(it.chat.rows.map(({ id }) => id), ids);
  assert.deepEqual(it.channel.sent[1], it.channel.sent[0]);
  assert.deepEqual(await it.chat.retry('1'), { outcome: 'sent' });
  assert.deepEqual(await it.chat.retry('none'), { outcome: 'discarded' });
  assert.equal(it.channel.sent.length, 3);
});

test('CHAT discarding the failed message sends the others; a message in flight cannot be discarded', async () => {
  const { it, second } = await held();
  it.chat.discard('2');
  assert.equal(it.texts().length, 2);
  it.chat.discard('1');
  assert.deepEqual(await second, { outcome: 'sent' });
  assert.deepEqual(it.texts(), ['2']);
});

test('CHAT the others can pass a failed message, which stays', async () => {
  const { it, second } = await held();
  it.chat.passFailed();
  assert.deepEqual(await second, { outcome: 'sent' });
  assert.deepEqual(it.texts(), ['2', '1']);
});

test('CHAT a retried message waits for the one that has passed it', async () => {
  const { it, second } = await held();
  it.channel.holdsAnswers = true;
  it.chat.passFailed();
  const first = it.chat.retry('1');
  assert.equal(it.channel.sent.length, 2);
  it.channel.releaseAnswer();
  assert.deepEqual(await second, { outcome: 'sent' });
  it.channel.releaseAnswer();
  assert.deepEqual(await first, { outcome: 'sent' });
});

test('CHAT the seq of a new connection need not continue: its messages stand behind the earlier ones', async () => {
  const it = chatting();
  await it.say('a');
  it.channel.connectionId = 'me again';
  it.chat.handle({ kind: 'connected', connectionId: 'me again' }, 42);
  it.chat.handle({ kind: 'signal', type: 'TextChat', data: 'b', from: { connectionId: 'bob' }, seq: 1 }, 42);
  assert.deepEqual(it.texts(), ['a', 'b']);
});

test('CHAT nothing is sent while the channel reconnects; when it ends, waiting messages fail', async () => {
  const it = chatting();
  it.chat.handle({ kind: 'reconnecting' }, 42);
  const first = it.send('1');
  assert.equal(it.channel.sent.length, 0);
  it.chat.handle({ kind: 'reconnected' }, 42);
  assert.deepEqual(await first, { outcome: 'sent' });
  it.chat.handle({ kind: 'reconnecting' }, 42);
  const second = it.send('2');
  it.chat.handle({ kind: 'disconnected' }, 42);
  assert.equal((await second).outcome, 'failed');
  assert.deepEqual(await it.chat.retry('2'), { outcome: 'refused', refusal: { reason: 'notConnected' } });
  assert.deepEqual(await it.send('3'), { outcome: 'refused', refusal: { reason: 'notConnected' } });
  assert.equal(it.chat.draft, '3');
});

test('G5 at most 100 messages wait; beyond that the draft stays', async () => {
  const it = chatting();
  it.chat.handle({ kind: 'reconnecting' }, 42);
  for (let count = 0; count < 100; count += 1) it.send('x');
  assert.deepEqual(await it.send('one more'), { outcome: 'refused', refusal: { reason: 'tooManyWaiting' } });
  assert.equal(it.chat.draft, 'one more');
});

test('CHAT without a channel the delegate sends; a message that it refuses stays in the draft', async () => {
  let answer = false;
  const asked = [];
  const chat = new TextChatComponent({ onMessageReadyToSend: (message) => asked.push(message.text) && answer });
  chat.edit('hi');
  assert.deepEqual(await chat.send(42, '1'), { outcome: 'refused', refusal: { reason: 'byDelegate' } });
  assert.equal(chat.draft, 'hi');
  answer = true;
  assert.deepEqual(await chat.send(42, '1'), { outcome: 'sent' });
  assert.deepEqual([chat.draft, chat.rows.map(lineOf)], ['', ['hi sent single time']]);
  chat.edit('again');
  assert.deepEqual(await chat.send(42, '1'), { outcome: 'refused', refusal: { reason: 'localIdTaken' } });
  assert.deepEqual(asked, ['hi', 'hi']);
});

test('G4 a gap is shown where messages were lost, and the messages of the new connection follow it', async () => {
  const it = chatting();
  await it.say('a');
  it.chat.handle({ kind: 'lost' }, 42);
  it.chat.handle({ kind: 'connected', connectionId: 'me again' }, 42);
  it.chat.handle({ kind: 'signal', type: 'TextChat', data: 'b', from: { connectionId: 'bob' }, seq: 1 }, 42);
  assert.deepEqual(it.chat.rows.map(lineOf), ['a received single name time', 'gap', 'b received single name time']);
});

test('CHAT `changed` reports activities and unread counts', async () => {
  const it = chatting();
  it.received.length = 0;
  await it.send('hi');
  it.receive();
  await it.say('yo');
  await it.say('{}', 'typing');
  it.chat.handle({ kind: 'connectionDestroyed', connection: it.bob.connection }, 42);
  it.chat.isVisible = false;
  await it.say('unread');
  it.chat.markRead();
  assert.deepEqual(
    it.received.map(({ kind, text, from, count }) => [kind, text ?? from ?? count ?? ''].join(' ').trim()),
    [
      'draftEdited hi', 'messageSubmitted', 'messageReceived bob', 'otherSignal', 'connectionDestroyed',
      'messageReceived bob', 'unread 1', 'unread 0',
    ],
  );
});

test('CHAT a restart restores the draft; a message in flight has failed, and can be retried', async () => {
  const before = chatting();
  before.channel.holdsAnswers = true;
  before.chat.edit('lost');
  before.chat.send(42, 'a');
  before.chat.edit('unfinished');
  const it = chatting();
  it.chat.restore({ messages: before.chat.timeline.messages, draft: before.chat.draft }, 42);
  assert.equal(it.chat.draft, 'unfinished');
  assert.deepEqual(it.states(), ['failed']);
  assert.deepEqual(await it.send('new'), { outcome: 'sent' });
  assert.deepEqual(await it.chat.retry('a'), { outcome: 'sent' });
  assert.deepEqual(it.texts(), ['new', 'lost']);
});

test('CHAT-8 messages that waited for a reconnect leave over the channel that replaces the old one', async () => {
  for (const between of [undefined, null]) {
    const it = chatting();
    it.chat.handle({ kind: 'reconnecting' }, 42);
    const result = it.send('hi');
    assert.deepEqual(it.channel.sent, []);
    const next = it.session.connect('me again', 'Me');
    if (between === null) it.chat.channel = null;
    it.chat.channel = next;
    assert.deepEqual(await result, { outcome: 'sent' });
    assert.equal(next.sent.length, 1);
  }
});

test('typing goes on over a channel that replaces one that was reconnecting', () => {
  const connections = [];
  const typing = {
    typingN: null,
    get connection() {
      return connections.at(-1);
    },
    handle: (event) => event.kind === 'connected' && connections.push(event.id),
    receive() {},
    leave() {},
  };
  const it = chatting({ typing });
  it.chat.handle({ kind: 'reconnecting' }, 42);
  it.chat.channel = it.session.connect('me again', 'Me');
  assert.equal(connections.at(-1), 'me again');
});

test('CHAT-8 a message without an answer does not hold up the next one when a page of the history has it', async () => {
  const it = chatting();
  it.channel.holdsAnswers = true;
  it.send('one');
  it.send('two');
  const [{ type, data }] = it.channel.sent;
  const kept = { seq: 3, from: { connectionId: 'me' }, type, data, time: 1 };
  const history = async () => ({ first: 3, last: 3, more: false, messages: [kept] });
  Object.assign(it.channel, { hasHistory: true, epoch: 'e', history, connectionId: 'again' });
  it.chat.handle({ kind: 'reconnecting' }, 42);
  it.chat.handle({ kind: 'reconnected', connectionId: 'again' }, 42);
  await settled();
  assert.deepEqual(it.states(), ['sent', 'sending']);
  assert.equal(it.channel.sent.length, 2);
});

test('a connection that no event has told of is known when a message leaves', () => {
  const typing = new ChatTyping({ publish: async () => {} });
  const channel = { connectionId: null, send: async () => {} };
  const chat = new TextChatComponent({ channel, typing });
  chat.restore({ messages: [], draft: 'x' }, 42);
  channel.connectionId = 'me';
  assert.equal(chat.enqueue(42, '1'), null);
  assert.equal(typing.connection, 'me');
  assert.deepEqual(chat.ownConnectionIds, ['me']);
});

test('CHAT-11 a program sends data with its own text, and the draft stays', async () => {
  const it = chatting({ wireForm: 'text-chat' });
  it.chat.edit('half a sentence');
  const data = { file: { url: 'https://files.example/a.png' }, broken: '\ud800' };
  assert.deepEqual(await it.chat.send(42, 'one', { text: 'a.png', data }), { outcome: 'sent' });
  assert.equal(it.chat.draft, 'half a sentence');
  const { data: received } = JSON.parse(it.session.log?.at(-1)?.data ?? it.channel.sent.at(-1).data);
  assert.deepEqual(received, { file: { url: 'https://files.example/a.png' }, broken: '\ufffd' });
  data.file.url = 'https://other.example';
  assert.equal(it.chat.timeline.messages[0].data.file.url, 'https://files.example/a.png');
  await it.chat.send(42, 'two', { data: { order: 7 } });
  assert.equal(it.chat.draft, '');
  assert.equal(it.chat.timeline.messages[1].text, 'half a sentence');
});

test('CHAT-11 data that is too long is refused, and data that is no object throws', async () => {
  const it = chatting({ wireForm: 'text-chat' });
  const data = { a: 'x'.repeat(4096) };
  const { outcome, refusal } = await it.chat.send(42, 'one', { text: 'a', data });
  assert.deepEqual([outcome, refusal], ['refused', { reason: 'dataTooLong', excess: 8 }]);
  for (const wrong of ['text', [1], 5, () => {}]) {
    assert.throws(() => it.chat.enqueue(42, 'two', { text: 'a', data: wrong }), TypeError);
  }
  assert.deepEqual(it.texts(), []);
});

test('CHAT-8 a later run takes up what is not sent: once, in order, and what may have arrived waits for the user', async () => {
  const first = chatting();
  first.channel.holdsAnswers = true;
  for (const text of ['leaving', 'waiting', 'waiting, too']) first.send(text);
  const kept = JSON.parse(JSON.stringify(first.chat.unsent));
  assert.deepEqual(kept.map(({ text, state }) => [text, state]),
    [['leaving', 'leaving'], ['waiting', 'waiting'], ['waiting, too', 'waiting']]);

  const marked = [];
  const next = chatting({ handOver: (localId) => {
    marked.push(localId);
    return Promise.resolve();
  } });
  next.chat.takeUp(kept, 50);
  next.chat.takeUp(kept, 50);
  await settled();
  next.receive();
  await settled();
  next.receive();
  assert.deepEqual(next.states().toSorted(), ['failed', 'sent', 'sent']);
  assert.deepEqual(next.texts(), ['waiting', 'waiting, too', 'leaving']);
  assert.deepEqual(marked, ['2', '3']);
  assert.deepEqual(next.chat.unsent.map(({ text, state, failure }) => [text, state, failure.code]), [['leaving', 'failed', 500]]);
  // The user tries again, and it is the same message.
  next.chat.retry('1');
  await settled();
  next.receive();
  assert.deepEqual([next.states(), next.chat.unsent], [['sent', 'sent', 'sent'], []]);
});

test('CHAT-8 what a later run takes up waits for a connection', async () => {
  const chat = new TextChatComponent({ channel: { connectionId: null, send: () => assert.fail('not connected') } });
  chat.takeUp([{ localId: 'a', text: 'hi', alias: null, sentAt: 1, state: 'waiting', failure: null }], 2);
  await settled();
  assert.deepEqual(chat.unsent.map(({ state }) => state), ['waiting']);
});
