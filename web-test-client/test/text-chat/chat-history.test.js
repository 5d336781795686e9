import assert from 'node:assert/strict';
import test from 'node:test';
import { runHistoryScript } from '../../test-support/scripts/history-script.js';
import { vectorFolder } from '../../test-support/vectors.js';
import { HistoryReader } from '../../text-chat/history/history-reader.js';

// The Swift tests read the same cases.
for (const vector of vectorFolder('history')) {
  test(`${vector.rule ?? 'CHAT'} ${vector.name}`, () =>
    runHistoryScript(vector, (step, seen) => {
      const described = JSON.stringify(step);
      assert.deepEqual(seen.asks, step.asks ?? [], `asks: ${described}`);
      for (const name of ['rows', 'earlier', 'loading', 'unread', 'error', 'received']) {
        if (name in step) assert.deepEqual(seen[name], step[name], `${name}: ${described}`);
      }
    }));
}

test('CHAT-10 a page of missed messages fills no gap when the page of the connect has closed it', () => {
  const reader = new HistoryReader();
  const page = (...seqs) => ({ first: 1, last: seqs.at(-1), more: false, messages: seqs.map((seq) => ({ seq })) });
  const shown = { floor: 1, oldestSeq: 1, knows: () => true };
  reader.enter('a', { hasHistory: true, epoch: 'e' });
  reader.answer(reader.next(shown), page(1, 2), shown);
  reader.disconnected();
  reader.enter('b', { hasHistory: true, epoch: 'e' });
  const task = reader.next(shown);
  assert.deepEqual(task.request, { after: 2, limit: 200 });
  assert.deepEqual(reader.answerToConnect(page(3, 4), shown).closes, [2, Infinity]);
  const { closes, countsUnread, gapAt } = reader.answer(task, page(3, 4), shown);
  assert.deepEqual({ closes, countsUnread, gapAt }, { closes: null, countsUnread: true, gapAt: null });
  assert.equal(reader.lost(), 4);
});

test('CHAT-10 the answer to a page that was asked for before a loss comes too late, and the page is asked for anew', () => {
  const reader = new HistoryReader();
  reader.enter('a', { hasHistory: true, epoch: 'e' });
  const shown = { floor: null, oldestSeq: null, knows: () => false };
  const former = reader.next(shown);
  reader.received(5);
  assert.equal(reader.lost(), 5);
  assert.equal(reader.answer(former, { more: false, messages: [] }, shown), null);
  assert.equal(reader.next(shown).kind, 'newest');
});
