import assert from 'node:assert/strict';
import test from 'node:test';
import { acceptsEdit, canSend, remaining } from '../text-chat/composer.js';

test('CHAT what is left is counted in UTF-16 units and may be negative', () => {
  assert.equal(remaining(''), 1000);
  assert.equal(remaining('😀', 10), 8);
  assert.equal(remaining('four', 3), -1);
});

test('CHAT an edit up to exactly the maximum is taken, one beyond it is refused whole', () => {
  assert.equal(acceptsEdit('1234', 0, '5', 5), true);
  assert.equal(acceptsEdit('1234', 0, '56', 5), false);
  assert.equal(acceptsEdit('1234', 2, '345', 5), true);
});

test('CHAT a text that is too long may always be shortened, and not replaced by something longer', () => {
  assert.equal(acceptsEdit('1234567', 1, '', 5), true);
  assert.equal(acceptsEdit('1234567', 1, '7', 5), true);
  assert.equal(acceptsEdit('1234567', 1, '78', 5), false);
});

test('CHAT nothing is not sent, blanks are', () => {
  assert.equal(canSend(''), false);
  assert.equal(canSend(' '), true);
  assert.equal(canSend('12345', 5), true);
  assert.equal(canSend('123456', 5), false);
});
