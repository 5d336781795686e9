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
