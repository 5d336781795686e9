import assert from 'node:assert/strict';
import test from 'node:test';
import { runHistoryScript } from '../../test-support/scripts/history-script.js';
import { vectorFolder } from '../../test-support/vectors.js';

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
