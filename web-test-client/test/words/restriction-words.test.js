import assert from 'node:assert/strict';
import test from 'node:test';
import { CHAT_STRINGS } from '../../chat/strings/index.js';
import { MODERATOR_STRINGS } from '../../chat/strings/moderators.js';
import { partWords } from '../../chat/words/part-words.js';
import { heldText, restrictionText } from '../../chat/words/restriction-words.js';
import { Words } from '../../chat/words/words.js';

/** As a moderator has them. */
const words = (language) => partWords(new Words(language, CHAT_STRINGS), MODERATOR_STRINGS, {});
const now = new Date(2026, 10, 26, 13, 0).getTime();
const today = new Date(2026, 10, 26, 14, 5).getTime();
const tomorrow = new Date(2026, 10, 27, 14, 5).getTime();

test('MOD-5 a user reads why they cannot write, until when, and the reason', () => {
  const text = (restriction) => restrictionText(words('en-GB'), restriction, now);
  assert.equal(text({ kind: 'mute' }), 'You cannot write: a moderator has muted you.');
  assert.equal(text({ kind: 'mute', until: today }), 'You cannot write until 14:05: a moderator has muted you.');
  assert.equal(
    text({ kind: 'freeze', until: tomorrow, reason: 'Break' }),
    'Only moderators can write until 27 Nov 2026, 14:05. Reason: Break',
  );
  assert.equal(text({ kind: 'ban', reason: '' }), 'You are banned from this chat.');
  assert.equal(text({ kind: 'quarantine' }), 'You cannot write at the moment.', 'of a later protocol');
});

test('MOD-6 a moderator reads whom a restriction concerns', () => {
  assert.equal(heldText(words('en-GB'), { kind: 'ban', until: today }, 'Ada', now), 'Ada is banned until 14:05');
  assert.equal(heldText(words('de'), { kind: 'mute' }, 'Ada', now), 'Ada kann nicht schreiben');
  assert.equal(heldText(words('en'), { kind: 'freeze' }, '', now), 'Only moderators can write');
});

test('a name that runs against the sentence does not reorder it', () => {
  assert.equal(heldText(words('en'), { kind: 'mute' }, 'عادل', now), '\u2068عادل\u2069 cannot write');
});

for (const language of Object.keys(CHAT_STRINGS)) {
  test(`a time of a mute and of a freeze is written as ${language} does`, () => {
    const time = { text: words(language).duration(600) };
    for (const key of ['mute', 'freezeFor', 'askFreezeFor', 'explainFreezeFor']) {
      const text = words(language).text(key, { time });
      assert.ok(text.includes(time.text), `${key}: ${text}`);
      assert.match(text, /[10١٠]/u);
      assert.doesNotMatch(text, /\{/);
    }
  });
}
