import assert from 'node:assert/strict';
import test from 'node:test';
import { lastingUser } from '../../page/lasting-user.js';

/** The storage of a page. */
function storage(kept = {}) {
  return { kept, getItem: (key) => kept[key] ?? null, setItem: (key, value) => (kept[key] = value) };
}

test('REST-4 a reload and another tab of the page are the same user, and a second user of the page is another', () => {
  const shared = storage();
  const user = lastingUser('', shared);
  assert.match(user, /^page-[0-9a-f-]{36}$/);
  assert.equal(lastingUser('', shared), user);
  assert.notEqual(lastingUser('-2', shared), user);
  assert.notEqual(lastingUser('', storage()), user);
});

test('what is no user id in the storage is replaced', () => {
  for (const written of ['', 'a b', 'x'.repeat(129)]) {
    assert.match(lastingUser('', storage({ 'signalbox.user': written })), /^page-/);
  }
});

test('a browser that refuses storage has a user nevertheless', () => {
  const refusing = { getItem() { throw new Error('no'); } };
  assert.match(lastingUser('', refusing), /^page-/);
});
