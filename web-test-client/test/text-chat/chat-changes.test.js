// Messages that change: edits, deletes, replies, and what an absence has missed of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeLineOf, runHistoryScript } from '../../test-support/scripts/history-script.js';
import { vectorFolder } from '../../test-support/vectors.js';
import { HistoryReader } from '../../text-chat/history/history-reader.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';

const SEEN = [
  'rows', 'earlier', 'loading', 'unread', 'error', 'received', 'draft', 'replyTarget', 'may', 'quotes', 'edited',
];

// The Swift tests read the same cases.
for (const vector of vectorFolder('chat/changes')) {
  test(`${vector.rule} ${vector.name}`, () =>
    runHistoryScript(vector, (step, seen) => {
      const described = JSON.stringify(step);
      // Absent: none.
      for (const name of ['asks', 'requests', 'outcomes']) {
        assert.deepEqual(seen[name], step[name] ?? [], `${name}: ${described}`);
      }
      for (const name of SEEN) if (name in step) assert.deepEqual(seen[name], step[name], `${name}: ${described}`);
    }, changeLineOf));
}

test('G5 a page is asked for anew when more than 1,000 changes have come while it was on its way', () => {
  const reader = new HistoryReader();
  const shown = { floor: null, oldestSeq: null, knows: () => false };
  const page = { more: false, messages: [] };
  reader.enter('a', { hasHistory: true, epoch: 'e', changes: ['edit'] });
  const task = reader.next(shown);
  for (let seq = 1; seq <= 1000; seq += 1) reader.changed({ seq, ref: 1, rel: 'edit', data: '' });
  assert.equal(reader.next(shown), null);
  reader.changed({ seq: 1001, ref: 1, rel: 'edit', data: '' });
  const again = reader.next(shown);
  assert.equal(again.kind, 'newest');
  assert.equal(reader.answer(task, page, shown), null);
  assert.notEqual(reader.answer(again, page, shown), null);
});

test('CHAT-13 the rows of an edit are updates, and an edit of what is not shown is told without rows', () => {
  const told = [];
  const channel = { connectionId: 'me', hasHistory: true, epoch: 'e', changes: ['edit'], history: () => new Promise(() => {}) };
  const chat = new TextChatComponent({ channel, changed: (changes, activity) => told.push([changes, activity?.kind]) });
  const from = { connectionId: 'b', data: 'Bob' };
  chat.handle({ kind: 'signal', seq: 5, from, type: 'text-chat', data: '{"text":"one"}' }, 0);
  told.length = 0;
  chat.handle({ kind: 'changed', seq: 6, ref: 5, rel: 'edit', data: '{"text":"two"}' }, 7);
  const [row] = chat.rows.slice(-1);
  assert.deepEqual(told, [[[{ update: row, at: chat.rows.length - 1 }], 'changed']]);
  assert.deepEqual([row.message.text, row.message.version, row.message.editedAt], ['two', 6, 7]);
  told.length = 0;
  chat.handle({ kind: 'changed', seq: 8, ref: 99, rel: 'edit', data: '{"text":"x"}' }, 7);
  assert.deepEqual(told, [[[], 'changed']]);
});

test('MOD-4 a muted user changes nothing', async () => {
  const muted = { kind: 'mute' };
  const channel = {
    connectionId: 'me', hasHistory: true, epoch: 'e', changes: ['edit', 'erase'], history: () => new Promise(() => {}),
    restriction: () => muted,
  };
  const chat = new TextChatComponent({ channel });
  chat.handle({ kind: 'signal', seq: 5, from: { connectionId: 'me' }, type: 'text-chat', data: '{"text":"one"}' }, 0);
  const { id } = chat.rows.at(-1);
  assert.deepEqual([chat.canEdit(id), chat.canDelete(id), chat.canReply(id)], [false, false, true]);
  await assert.rejects(chat.editMessage(id, 'two'), { reason: 'restricted', restriction: muted, code: null });
  await assert.rejects(chat.deleteMessage(id), { reason: 'restricted' });
});

test('CHAT-13 the name and the date of the first edition count against the length of an edit', async () => {
  const channel = {
    connectionId: 'me', hasHistory: true, epoch: 'e', changes: ['edit'], history: () => new Promise(() => {}),
    change: () => new Promise(() => {}),
  };
  const chat = new TextChatComponent({ channel });
  chat.composer.maxLength = 10_000;
  const whole = { text: 'one', sender: { id: 'me', alias: 'x'.repeat(1000) }, sentOn: 1_700_000_000_000, localId: '1' };
  chat.handle({ kind: 'signal', seq: 5, from: { connectionId: 'me' }, type: 'text-chat', data: JSON.stringify(whole) }, 0);
  const { id } = chat.rows.at(-1);
  const room = 8192 - JSON.stringify({ ...whole, text: '' }).length;
  await assert.rejects(chat.editMessage(id, 'x'.repeat(room + 1)), { reason: 'tooLong', excess: 1 });
  const done = chat.editMessage(id, 'x'.repeat(room));
  assert.equal(await Promise.race([done, 'asked']), 'asked');
});

test('CHAT-12 a message that was not sent keeps what it answers', () => {
  const channel = {
    connectionId: 'me', hasHistory: true, epoch: 'e', history: () => new Promise(() => {}), send: () => new Promise(() => {}),
  };
  const chat = new TextChatComponent({ channel });
  chat.handle({ kind: 'signal', seq: 5, from: { connectionId: 'b' }, type: 'text-chat', data: '{"text":"one"}' }, 0);
  chat.reply(chat.rows.at(-1).id);
  chat.edit('yes');
  assert.equal(chat.enqueue(0, '1'), null);
  const { unsent } = chat;
  assert.equal(unsent[0].replyTo, 5);
  const sent = [];
  const later = new TextChatComponent({ channel: { ...channel, send: ({ data }) => sent.push(data) } });
  later.takeUp(unsent.map((each) => ({ ...each, state: 'waiting' })), 0);
  assert.equal(JSON.parse(sent[0]).re, 5);
});

/** A chat that is connected as `me`, to a session that permits everything; `sent` has what it gave to the channel. */
function connectedChat(more = {}, options = {}) {
  const sent = [];
  const pending = () => new Promise(() => {});
  const keep = (kind) => (request) => (sent.push({ kind, ...request }), pending());
  const channel = {
    connectionId: 'me', hasHistory: true, epoch: 'e', changes: ['edit', 'erase'], history: pending,
    send: keep('send'), change: keep('change'), erase: keep('erase'), ...more,
  };
  return { chat: new TextChatComponent({ channel, ...options }), channel, sent };
}

const signal = (seq, content, from = { connectionId: 'me' }) =>
  ({ kind: 'signal', seq, from, type: 'text-chat', data: JSON.stringify(content) });

test('CHAT-13 an edit has no number of typing, which belongs to the first edition', () => {
  const { chat, sent } = connectedChat();
  chat.handle(signal(5, { text: 'one', typingN: 4 }), 0);
  chat.editMessage(chat.rows.at(-1).id, 'two');
  assert.equal('typingN' in JSON.parse(sent[0].data), false);
});

test('CHAT-13 the name in an edit is the name of its sender from then on', () => {
  const { chat } = connectedChat();
  const from = { connectionId: 'b', data: '' };
  chat.handle(signal(5, { text: 'one', sender: { alias: 'Bob' } }, from), 0);
  chat.handle({ kind: 'changed', seq: 6, ref: 5, rel: 'edit', data: '{"text":"two","sender":{"alias":"Robert"}}' }, 0);
  assert.equal(chat.names.nameOf({ senderId: 'b', alias: null }), 'Robert');
});

test('CHAT-13 a message that left as bare text is edited as bare text', () => {
  const { chat, sent } = connectedChat({}, { isAdaptive: true });
  chat.handle({ kind: 'signal', seq: 4, from: { connectionId: 'old' }, type: 'TextChat', data: 'hi' }, 0);
  chat.edit('ho');
  chat.enqueue(0, '1');
  assert.equal(sent[0].type, 'TextChat');
  chat.handle({ kind: 'signal', seq: 5, from: { connectionId: 'me' }, type: 'TextChat', data: 'ho' }, 0);
  const { id } = chat.rows.at(-1);
  // Bare text answers nothing.
  assert.equal(chat.canReply(id), false);
  chat.editMessage(id, 'hey');
  assert.equal(sent[1].data, 'hey');
});

test('CHG-5 a message that another run of the program has left is its user’s once the session has it', () => {
  const { chat, channel } = connectedChat({ connectionId: null, user: null });
  const unsent = { localId: '1', text: 'hi', alias: null, sentAt: 0, data: null, state: 'waiting', failure: null };
  chat.takeUp([unsent], 0);
  Object.assign(channel, { connectionId: 'me', user: 'u' });
  chat.handle({ kind: 'connected', connectionId: 'me' }, 0);
  chat.handle(signal(5, { text: 'hi', localId: '1' }, { connectionId: 'me', user: 'u' }), 0);
  channel.connectionId = 'me2';
  chat.handle({ kind: 'reconnected', connectionId: 'me2' }, 0);
  assert.equal(chat.canEdit(chat.rows.at(-1).id), true);
});

test('CHAT-12 at most 10 pages are loaded to find what a message answers', async () => {
  let count = 0;
  const history = async ({ before = 1000 }) => {
    count += 1;
    const kept = { seq: before - 1, from: { connectionId: 'b' }, type: 'text-chat', data: '{"text":"x","re":1}', time: 0 };
    return { first: 1, last: 999, more: true, messages: [kept] };
  };
  const { chat } = connectedChat({ history });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await chat.loadQuoted(chat.rows.at(-1).message), null);
  assert.equal(count, 11);
});

test('CHAT-9 an edited message of an earlier run is not shown twice', () => {
  const { chat } = connectedChat();
  chat.handle(signal(5, { text: 'one', localId: '1' }, { connectionId: 'b' }), 0);
  chat.handle({ kind: 'changed', seq: 6, ref: 5, rel: 'edit', data: '{"text":"two","localId":"1"}' }, 0);
  const { chat: later } = connectedChat();
  later.restore({ messages: chat.timeline.messages, draft: '' }, 0);
  later.handle(signal(5, { text: 'one', localId: '1' }, { connectionId: 'b' }), 0);
  assert.deepEqual(later.timeline.messages.map(({ text }) => text), ['two']);
});

test('CHAT-14 a guest who is not connected is told so, although a message is that of a former connection', async () => {
  const { chat, channel } = connectedChat();
  chat.handle(signal(5, { text: 'one' }), 0);
  Object.assign(channel, { connectionId: null, changes: null });
  chat.handle({ kind: 'disconnected' }, 0);
  const { id } = chat.rows.at(-1);
  await assert.rejects(chat.editMessage(id, 'two'), { reason: 'notConnected' });
  chat.channel = null;
  await assert.rejects(chat.deleteMessage(id), { reason: 'notConnected' });
});

test('CHG-10 the rows of another session stay, and those of an order without a history, too', async () => {
  const history = async () => ({ first: 9, last: 9, more: false, messages: [
    { seq: 9, from: { connectionId: 'b' }, type: 'text-chat', data: '{"text":"new"}', time: 0 },
  ] });
  const { chat, channel } = connectedChat({ hasHistory: false, epoch: 'e', changes: null, history });
  const texts = () => chat.timeline.messages.map(({ text }) => text);
  chat.handle(signal(5, { text: 'one' }), 0);
  // The operator has switched the history on.
  Object.assign(channel, { connectionId: 'me2', hasHistory: true, changes: [] });
  chat.handle({ kind: 'connected', connectionId: 'me2' }, 0);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(texts(), ['one', 'new']);
  chat.channel = { ...channel, connectionId: 'me3', epoch: 'f', history: async () => ({ more: false, messages: [] }) };
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(texts(), ['one', 'new']);
});
