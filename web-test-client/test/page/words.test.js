import assert from 'node:assert/strict';
import test from 'node:test';
import { en } from '../../page/strings/en.js';
import { PAGE_TABLES } from '../../page/strings/index.js';
import { pageWords } from '../../page/words.js';

test('the page is in the first language of the browser that it has', async () => {
  const chosen = async (...languages) => {
    const words = await pageWords(languages);
    return [words.language, words.text('join')];
  };
  assert.deepEqual(await chosen('it', 'de-AT', 'fr'), ['de-AT', 'Beitreten']);
  assert.deepEqual(await chosen('zh-HK', 'en'), ['zh-HK', '加入']);
  assert.deepEqual(await chosen('en-GB', 'de'), ['en-GB', 'Join']);
  assert.deepEqual(await chosen('it', 'not a tag'), ['en', 'Join']);
  assert.deepEqual(await chosen(), ['en', 'Join']);
});

test('only the table of the language is loaded', async () => {
  const loaded = [];
  const noted = ([language, load]) => [language, () => (loaded.push(language), load())];
  await pageWords(['ja', 'de'], { tables: Object.fromEntries(Object.entries(PAGE_TABLES).map(noted)) });
  assert.deepEqual(loaded, ['ja']);
});

test('a table that does not come leaves the page English as a whole', async () => {
  const never = new Promise(() => {});
  for (const load of [() => never, () => Promise.reject(new Error('refused'))]) {
    const words = await pageWords(['de', 'ja'], { tables: { en: async () => en, de: load }, patience: 1 });
    assert.deepEqual([words.language, words.text('join'), words.relativeDay(0)], ['en', 'Join', 'Today']);
  }
});
