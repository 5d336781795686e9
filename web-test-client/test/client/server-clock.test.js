import assert from 'node:assert/strict';
import test from 'node:test';
import { ServerClock } from '../../client/server-clock.js';
import { vectorFolder } from '../../test-support/vectors.js';

const ACTS = {
  connected: (clock, { at, outcome, creationTime }) => clock.connected({ outcome, connection: { creationTime } }, at),
  refused: (clock, { at, until, retryAfter }) => clock.refused({ until }, retryAfter, at),
  time: () => {},
};

for (const { name, rule, steps } of vectorFolder('clock')) {
  test(`${rule} ${name}`, () => {
    const clock = new ServerClock();
    for (const [index, step] of steps.entries()) {
      ACTS[step.do](clock, step);
      if (step.server !== undefined) assert.equal(clock.at(step.at), step.server, `step ${index + 1}`);
    }
  });
}
