import assert from 'node:assert/strict';
import test from 'node:test';
import { messageParts } from '../../chat/text/message-parts.js';

const shown = (text, isOpen) => messageParts(text, isOpen).parts.map((part) => part.text).join('');
const isFolded = (text) => messageParts(text).isFolded;
const links = (text) => messageParts(text).parts.filter(({ address }) => address !== undefined);

test('blank lines at the ends go, whatever they are made of, and those in between are few', () => {
  assert.equal(shown(`\n\u200b\n \u2800\n  code\n${'\n'.repeat(990)}`), '  code');
  assert.equal(shown(`a${'\n'.repeat(990)}b`), 'a\n\n\n\nb');
  for (const end of ['\r\n', '\r', '\v', '\f', '\x85', '\u2028', '\u2029']) {
    assert.equal(shown(`a${end.repeat(300)}b${end}`), 'a\n\n\n\nb', JSON.stringify(end));
  }
  assert.equal(shown('a\n\n\nb'), 'a\n\n\nb');
  assert.equal(shown('\n'.repeat(990)), '');
});

test('a text of many lines is folded, also if its lines are long, wide, or indented', () => {
  const long = {
    lines: 'x\n'.repeat(400), letters: 'y'.repeat(8000), words: 'word '.repeat(1600), wide: '漢'.repeat(4000),
    tabs: `a${'\t'.repeat(4000)}b`,
  };
  for (const [name, text] of Object.entries(long)) {
    assert.ok(isFolded(text), name);
    assert.ok(shown(text).length <= 2000, name);
    assert.ok(text.startsWith(shown(text)), name);
    assert.equal(shown(text, true).trim(), text.trim(), name);
  }
  assert.ok(Math.abs(shown(long.lines).split('\n').length - 30) <= 1);
});

test('a text that is a little longer is whole', () => {
  for (const text of ['x\n'.repeat(33), 'y'.repeat(1800), '漢'.repeat(1000)]) assert.ok(!isFolded(text));
});

test('a link is never cut, and a text with very many is folded behind some', () => {
  const many = 'http://a.bc '.repeat(640);
  assert.equal(links(many).length, 50);
  assert.ok(isFolded(many));
  assert.equal(messageParts(many, true).parts.filter(({ address }) => address).length, 640);
  // What looks like an address costs as much as one.
  assert.ok(isFolded('http://user:word@a.bc '.repeat(300)));
  const address = `https://a.example/${'z'.repeat(3000)}`;
  const behind = `see ${address}`;
  assert.deepEqual([links(behind), shown(behind)], [[], 'see ']);
  assert.deepEqual([links(address), isFolded(address)], [[], true]);
});

test('no character is cut in two', () => {
  const { parts } = messageParts('😀'.repeat(4000));
  assert.doesNotMatch(parts[0].text, /[\uD800-\uDBFF]$/u);
});
