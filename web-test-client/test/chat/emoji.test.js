import assert from 'node:assert/strict';
import test from 'node:test';
import { isOnlyEmoji } from '../../chat/text/emoji.js';

test('a few emoji alone are large, whatever they are made of', () => {
  for (const text of [
    '😀', '😀 😀\n😀', '👨‍👩‍👧', '👍🏽', '🇩🇪', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '❤', '❤️', '❤️‍🔥', '1️⃣', '☀️', '🧑🏽‍🚀🎉', '😀😀😀😀😀😀',
  ]) {
    assert.equal(isOnlyEmoji(text), true, text);
  }
});

test('a text is not large, and neither are many emoji', () => {
  for (const text of ['', ' ', 'a', '1', '12', '#', '😀 a', 'ok 👍', '©', '™', '\u200d', '\ufe0f', '😀'.repeat(7)]) {
    assert.equal(isOnlyEmoji(text), false, text);
  }
  assert.equal(isOnlyEmoji(`${'😀\u200d'.repeat(4000)}a`), false);
});
