import assert from 'node:assert/strict';
import test from 'node:test';
import { runSendingScript } from '../../test-support/scripts/sending-script.js';
import { vectorFolder } from '../../test-support/vectors.js';

// The Swift tests read the same cases.
for (const vector of vectorFolder('sending')) {
  test(`CHAT ${vector.name}`, async () => {
    const outcomes = await runSendingScript(vector, (step, seen) => {
      const described = JSON.stringify(step);
      assert.deepEqual(seen.sent, step.sent ?? [], `sent: ${described}`);
      assert.equal(seen.refused, step.refused ?? null, `refused: ${described}`);
      for (const name of ['rows', 'draft', 'obstacle']) {
        if (name in step) assert.deepEqual(seen[name], step[name], `${name}: ${described}`);
      }
    });
    assert.deepEqual(outcomes, vector.outcomes);
  });
}
