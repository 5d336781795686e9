import assert from 'node:assert/strict';
import test from 'node:test';
import { displayName } from '../../text-chat/display-name.js';

for (const [data, name] of [
  ['Ada', 'Ada'],
  ['  Ada  ', 'Ada'],
  ['name=Ada', 'Ada'],
  ['id=7&username=Ada', 'Ada'],
  ['role=a,name=Ada Lovelace', 'Ada Lovelace'],
  ['{"name":"Ada","id":7}', 'Ada'],
  ['{"id":7}', '{"id":7}'],
  ['{broken', '{broken'],
  ['', 'Guest 5f0c'],
  [undefined, 'Guest 5f0c'],
  ['x'.repeat(41), `${'x'.repeat(39)}…`],
  ['😀'.repeat(41), `${'😀'.repeat(39)}…`],
  ['😀'.repeat(40), '😀'.repeat(40)],
]) {
  test(`CHAT a connection with data ${JSON.stringify(data)?.slice(0, 40)} is called ${name.slice(0, 20)}`, () => {
    assert.equal(displayName({ data, connectionId: '5f0c-1234' }), name);
  });
}
