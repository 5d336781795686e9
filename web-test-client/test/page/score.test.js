import assert from 'node:assert/strict';
import test from 'node:test';
import { Score } from '../../page/demo/score.js';

const NONE = { lost: 0, doubled: 0, reordered: 0, onTheWay: 0 };

/** A score with two ends that have entered the session at seq 2. */
function twoEnds() {
  const score = new Score();
  for (const name of ['left', 'right']) {
    score.entered(name, { connectionId: name, epoch: 'e', seq: 2, outcome: 'new' });
  }
  return score;
}

/** The left end sends `key`, which gets `seq`, and has its own echo and acknowledgement. */
function sendFromLeft(score, key, seq) {
  score.sent(key);
  score.received('left', key, seq);
  score.acknowledged('left', key);
}

function expect(score, expected) {
  const { lost, doubled, reordered, onTheWay } = score.result;
  assert.deepEqual({ lost, doubled, reordered, onTheWay }, { ...NONE, ...expected });
}

test('G3 a message that both ends receive once is a clean score', () => {
  const score = twoEnds();
  sendFromLeft(score, 'a', 3);
  expect(score, { onTheWay: 1 });
  score.received('right', 'a', 3);
  expect(score, {});
  assert.equal(score.result.sent, 1);
  assert.equal(score.result.acknowledged, 1);
});

test('G4 a message is lost once the end has reached a later position without it', () => {
  const score = twoEnds();
  sendFromLeft(score, 'a', 3);
  sendFromLeft(score, 'b', 4);
  score.received('right', 'b', 4);
  expect(score, { lost: 1 });
});

test('HB-2 a ping that states a later position makes a missing message lost', () => {
  const score = twoEnds();
  sendFromLeft(score, 'a', 3);
  score.reached('right', 3);
  expect(score, { lost: 1 });
});

test('a message that an end has passed before it is known to exist is lost', () => {
  const score = twoEnds();
  score.sent('a');
  score.sent('b');
  score.received('right', 'b', 4);
  score.received('left', 'a', 3);
  expect(score, { lost: 1, onTheWay: 1 });
});

test('G3 a message that an end receives twice is doubled, also at another seq', () => {
  const score = twoEnds();
  sendFromLeft(score, 'a', 3);
  score.received('right', 'a', 3);
  score.received('right', 'a', 3);
  expect(score, { doubled: 1 });
  const other = twoEnds();
  sendFromLeft(other, 'a', 3);
  other.received('right', 'a', 4);
  expect(other, { doubled: 1, lost: 1 });
});

test('G1 a message that comes after a later one is reordered', () => {
  const score = twoEnds();
  for (const key of ['a', 'b']) score.sent(key);
  score.received('left', 'b', 4);
  score.received('left', 'a', 3);
  assert.equal(score.result.reordered, 1);
});

test('G1 two messages at one seq are reordered', () => {
  const score = twoEnds();
  sendFromLeft(score, 'a', 3);
  score.sent('b');
  score.received('right', 'b', 3);
  assert.equal(score.result.reordered, 1);
});

test('SIG-6 an acknowledgement without the own message counts as lost until it arrives', () => {
  const score = twoEnds();
  score.sent('a');
  score.acknowledged('left', 'a');
  expect(score, { lost: 1 });
  score.received('left', 'a', 3);
  expect(score, { onTheWay: 1 });
});

test('RES-2 a resumed or recovered end still waits for what it missed', () => {
  for (const outcome of ['resumed', 'recovered']) {
    const score = twoEnds();
    sendFromLeft(score, 'a', 3);
    const connectionId = outcome === 'resumed' ? 'right' : 'right again';
    score.entered('right', { connectionId, epoch: 'e', seq: 2, outcome });
    expect(score, { onTheWay: 1 });
    score.received('right', 'a', 3);
    expect(score, {});
  }
});

test('RES-16 messages in the missing range are lost, and those behind it are on their way', () => {
  const score = twoEnds();
  sendFromLeft(score, 'a', 3);
  sendFromLeft(score, 'b', 4);
  const missing = { first: 3, last: 3 };
  score.entered('right', { connectionId: 'new', epoch: 'e', seq: 3, outcome: 'lost', missing });
  expect(score, { lost: 1, onTheWay: 1 });
  score.received('right', 'b', 4);
  expect(score, { lost: 1 });
});

test('a lost end of another epoch has lost what was on its way', () => {
  const score = twoEnds();
  sendFromLeft(score, 'a', 3);
  score.entered('right', { connectionId: 'new', epoch: 'f', seq: 1, outcome: 'lost' });
  expect(score, { lost: 1 });
});

test('nothing is due to an end that joined later or has left', () => {
  const score = new Score();
  score.entered('left', { connectionId: 'left', epoch: 'e', seq: 2, outcome: 'new' });
  sendFromLeft(score, 'a', 3);
  score.entered('right', { connectionId: 'right', epoch: 'e', seq: 4, outcome: 'new' });
  sendFromLeft(score, 'b', 5);
  score.left('right');
  expect(score, {});
});

test('a message that was sent again after an unknown fate, and one of others, are not judged', () => {
  const score = twoEnds();
  score.sent('a');
  score.sent('a');
  score.received('left', 'a', 3);
  score.received('left', 'a', 4);
  score.received('left', 'of others', 5);
  score.received('left', 'of others', 5);
  expect(score, {});
  assert.equal(score.result.sent, 1);
});
