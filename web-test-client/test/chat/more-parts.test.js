// Files, cards and light markup: what is read from the data of strangers, and from texts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { cardOf, fileOf } from '../../chat/more/file-data.js';
import { blocksOf, spansOf } from '../../chat/more/light-markup.js';
import { MORE_STRINGS } from '../../chat/more/more-strings.js';
import { CHAT_STRINGS } from '../../chat/strings/index.js';

test('the texts of files are in each language of the element, with the same values', () => {
  assert.deepEqual(Object.keys(MORE_STRINGS).sort(), Object.keys(CHAT_STRINGS).sort());
  const valuesIn = (text) => [...text.matchAll(/\{\w+\}/g)].map(([each]) => each);
  for (const table of Object.values(MORE_STRINGS)) {
    assert.deepEqual(Object.keys(table), Object.keys(MORE_STRINGS.en));
    for (const [key, text] of Object.entries(table)) assert.deepEqual(valuesIn(text), valuesIn(MORE_STRINGS.en[key]), key);
  }
  const [, declared] = /type ChatFileTextKey =([^;]*);/.exec(readFileSync(new URL('../../chat/index.d.ts', import.meta.url), 'utf8'));
  assert.deepEqual([...declared.matchAll(/'(\w+)'/g)].map(([, key]) => key), Object.keys(MORE_STRINGS.en));
});

test('CHAT-11: a file has an address of https: and members of the right kind, or none', () => {
  const url = 'https://files.example/a.png';
  for (const wrong of [undefined, null, 5, 'http://files.example/a', 'javascript:1', 'https://a:b@files.example/', 'x']) {
    assert.equal(fileOf({ file: { url: wrong, name: 'a' } }), null, String(wrong));
  }
  for (const data of [null, {}, { file: null }, { file: 'x' }, { file: [] }]) assert.equal(fileOf(data), null);
  assert.deepEqual(fileOf({ file: { url, name: 'a\u202Egnp.exe', type: 'image/png', size: -1, width: 1e9, height: 5 } }), {
    url, name: 'a gnp.exe', type: 'image/png', size: null, width: null, height: null, isPicture: true,
  });
  assert.equal(fileOf({ file: { url, type: 'image/svg+xml' } }).isPicture, false);
  assert.equal(fileOf({ file: { url, name: ' ' } }).name, 'files.example');
});

test('CHAT-11: a card has a title and a link of https: that is in the text', () => {
  const card = { url: 'https://a.example/', title: 'A' };
  assert.deepEqual(cardOf({ card }, 'see https://a.example/'), { ...card, text: '', image: null });
  assert.equal(cardOf({ card }, 'see https://b.example/'), null);
  assert.equal(cardOf({ card: { ...card, title: ' ' } }, card.url), null);
  assert.equal(cardOf({ card: { ...card, url: 'http://a.example/' } }, 'http://a.example/'), null);
  assert.equal(cardOf({ card: { ...card, image: 'data:image/png,x' } }, card.url).image, null);
});

test('light markup keeps every character of a text that has none', () => {
  for (const text of ['2 * 3 * 4', 'snake_case_name', '****', '** a **', '``', '```\nopen', 'a*b*c', '_', '-x', '1.x']) {
    const blocks = blocksOf(text);
    assert.deepEqual(blocks, [{ kind: 'text', text }], text);
    assert.deepEqual(spansOf(text), [{ kind: 'text', text }], text);
  }
});

test('light markup of a long text costs a time that is linear', () => {
  for (const mark of ['*', '**', '_', '`', '```\n', '- a\n', '*a ', '_a ', '**a']) {
    const text = mark.repeat(20_000);
    const begin = performance.now();
    for (const block of blocksOf(text)) if (block.text !== undefined) spansOf(block.text);
    assert.ok(performance.now() - begin < 2000, mark);
  }
});
