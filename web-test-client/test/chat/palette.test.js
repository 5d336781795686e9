// The element and the test page around it take their colours from one palette.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { CHAT_STYLE } from '../../chat/style/chat-style.js';
import { colours } from '../../chat/style/palette.js';

const PAGE_STYLE = readFileSync(new URL('../../style.css', import.meta.url), 'utf8');
const definitions = (text) => [...text.matchAll(/^\s*--([\w-]+): (.*);$/gm)].map(([, name, value]) => ({ name, value }));
const names = (text) => new Set(definitions(text).map(({ name }) => name));

test('each property that a style sheet reads is defined, in it or in the palette', () => {
  for (const style of [PAGE_STYLE, CHAT_STYLE]) {
    const known = names(style + colours('light'));
    const read = [...style.matchAll(/var\(--(?!signalbox-)([\w-]+)\)/g)].map(([, name]) => name);
    assert.ok(read.length > 30);
    assert.deepEqual(read.filter((name) => !known.has(name)), []);
  }
});

test('the test page has no colour of the palette a second time', () => {
  const own = new Set(definitions(PAGE_STYLE).map(({ value }) => value));
  const repeated = definitions(colours('light') + '\n' + colours('dark')).filter(({ value }) => own.has(value));
  assert.deepEqual(repeated, []);
});

test('each colour has a value in both schemes', () => {
  for (const scheme of ['light', 'dark']) assert.doesNotMatch(colours(scheme), /undefined/);
});
