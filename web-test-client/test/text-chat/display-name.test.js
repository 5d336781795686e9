import assert from 'node:assert/strict';
import test from 'node:test';
import { vectorFolder } from '../../test-support/vectors.js';
import { displayName } from '../../text-chat/display-name.js';

for (const { name, data, connectionId, shown } of vectorFolder('names')) {
  test(`CHAT ${name}`, () => {
    assert.equal(displayName({ data, connectionId }), shown);
  });
}

test('CHAT a connection without data is a guest, and without an id it has no number', () => {
  assert.equal(displayName({ data: undefined, connectionId: '5f0c-1234' }), 'Guest 2688');
  assert.equal(displayName({}), 'Guest');
});
