import assert from 'node:assert/strict';
import test from 'node:test';
import { OwnRestrictions } from '../../client/own-restrictions.js';
import { vectorFolder } from '../../test-support/vectors.js';

const ACTS = {
  entered: (held, { restrictions, moderator }) => held.enter(restrictions, { isModerator: moderator === true }),
  restricted: (held, { restriction }) => held.restrict(restriction),
  unrestricted: (held, { kind }) => held.lift(kind),
  refused: (held, { restriction, retryAfter, at }) => held.refused(restriction, retryAfter, at),
  time: () => {},
};

for (const { name, rule, steps } of vectorFolder('restrictions')) {
  test(`${rule} ${name}`, () => {
    const held = new OwnRestrictions();
    for (const [index, step] of steps.entries()) {
      ACTS[step.do](held, step);
      if (step.holds !== undefined) assert.deepEqual(held.holding(step.at), step.holds, `step ${index + 1}`);
      if (step.next !== undefined) assert.equal(held.nextEnd(step.at), step.next, `step ${index + 1}`);
    }
  });
}
