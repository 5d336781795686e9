// Messages that change: edits, deletes, replies, and what an absence has missed of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeLineOf, runHistoryScript } from '../../test-support/scripts/history-script.js';
import { vectorFolder } from '../../test-support/vectors.js';

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
