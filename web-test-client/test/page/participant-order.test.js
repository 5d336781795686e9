import assert from 'node:assert/strict';
import test from 'node:test';
import { isFound, placeOf } from '../../page/participants/participant-order.js';

test('you are first, and the others are in the order of a dictionary', () => {
  const list = [];
  for (const [name, id] of [['Zoë', '1'], ['bob', '2'], ['Émile', '3'], ['Ada', '5'], ['Ada', '4'], ['Eva', '6']]) {
    const participant = { name, id, isMe: name === 'Zoë' };
    list.splice(placeOf(participant, list), 0, participant);
  }
  assert.deepEqual(list.map(({ name, id }) => name + id), ['Zoë1', 'Ada4', 'Ada5', 'bob2', 'Émile3', 'Eva6']);
  for (const [index, participant] of list.entries()) assert.equal(placeOf(participant, list), index);
});

test('the filter finds a part of a name, without capital letters and accents', () => {
  assert.ok(isFound('Émile Zola', ' emi'));
  assert.ok(isFound('Ａda', 'ada'));
  assert.ok(isFound('Ada', ''));
  assert.ok(!isFound('Ada', 'b'));
});
