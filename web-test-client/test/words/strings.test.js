import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { FILE, textsOfSwift } from '../../../scripts/parts/write-texts.mjs';
import { CHANGE_STRINGS } from '../../chat/changes/change-strings.js';
import { MORE_STRINGS } from '../../chat/more/more-strings.js';
import { CHAT_STRINGS } from '../../chat/strings/index.js';
import { MODERATOR_STRINGS } from '../../chat/strings/moderators.js';
import { REACTION_STRINGS } from '../../chat/reactions/reaction-strings.js';
import { PAGE_TABLES } from '../../page/strings/index.js';

const PAGE_STRINGS = {};
for (const [language, load] of Object.entries(PAGE_TABLES)) PAGE_STRINGS[language] = await load();

/** Texts of the plural categories in which a language writes the number as a word, or not at all. */
const WORDED = new Set(['zero', 'one', 'two']);
/** Texts that may leave out a value: Chinese calls the other one in a chat of two by no name. */
const OPTIONAL = new Set(['partner']);

/** The texts of the chat, and of those of its parts that load when they are needed. */
const OF_CHAT = {
  chat: CHAT_STRINGS, moderators: MODERATOR_STRINGS, changes: CHANGE_STRINGS, reactions: REACTION_STRINGS,
  files: MORE_STRINGS,
};

const formsOf = (text) => (typeof text === 'string' ? { other: text } : text);
const valuesIn = (text) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort();

function everyTable() {
  const of = (view, tables) => Object.entries(tables).map(([language, table]) => [view, tables, language, table]);
  return [...Object.entries(OF_CHAT).flatMap(([name, tables]) => of(name, tables)), ...of('page', PAGE_STRINGS)];
}

for (const [view, tables, language, table] of everyTable()) {
  test(`the texts of the ${view} in ${language} have the keys of the English ones, in the same order`, () => {
    assert.deepEqual(Object.keys(table), Object.keys(tables.en));
  });

  test(`the texts of the ${view} in ${language} have the values of the English ones, and are not empty`, () => {
    for (const [key, english] of Object.entries(tables.en)) {
      assert.equal(typeof table[key], typeof english, `${key} has a count in both or in neither`);
      const wanted = valuesIn(formsOf(english).other);
      for (const [category, text] of Object.entries(formsOf(table[key]))) {
        assert.notEqual(text.trim(), '', key);
        const missing = wanted.filter((name) => !valuesIn(text).includes(name));
        const mayLack = OPTIONAL.has(key) || (WORDED.has(category) && missing.every((name) => name === 'count'));
        assert.ok(missing.length === 0 || mayLack, `${key}, ${category}: lacks ${missing}`);
        assert.deepEqual(valuesIn(text).filter((name) => !wanted.includes(name)), [], `${key}, ${category}`);
      }
    }
  });

  test(`the texts of the ${view} with a count in ${language} have the plural categories of the language`, () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const [key, text] of Object.entries(table)) {
      if (typeof text === 'string') continue;
      assert.deepEqual(Object.keys(text).sort(), [...pluralCategories].sort(), key);
    }
  });
}

for (const language of Object.keys(CHAT_STRINGS)) {
  const tables = Object.values(OF_CHAT).map((each) => each[language]);

  test(`the texts of the chat in ${language} have no code, seq, token or milliseconds`, () => {
    for (const [key, text] of tables.flatMap(Object.entries)) {
      for (const form of Object.values(formsOf(text))) assert.doesNotMatch(form, /\d|\bseq\b|token|\bms\b|code/i, key);
    }
  });
}

test('no part of the chat has a text that the chat has, too', () => {
  const keys = Object.values(OF_CHAT).flatMap(({ en }) => Object.keys(en));
  assert.deepEqual(keys.filter((key, index) => keys.indexOf(key) !== index), []);
});

test('the texts of the Swift view are those of the chat: run scripts/parts/write-texts.mjs', () => {
  assert.equal(readFileSync(FILE, 'utf8'), textsOfSwift());
});
