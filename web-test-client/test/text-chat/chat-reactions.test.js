// Reactions and read markers of a chat.
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeLineOf, runHistoryScript } from '../../test-support/scripts/history-script.js';
import { vectorFolder } from '../../test-support/vectors.js';

const SEEN = ['rows', 'unread', 'received', 'may', 'reactions', 'receipt', 'updates'];

// The Swift tests read the same cases.
for (const vector of [...vectorFolder('chat/reactions'), ...vectorFolder('chat/readers')]) {
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
