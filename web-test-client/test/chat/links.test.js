import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { splitLinks } from '../../chat/links.js';

const HOSTILE = new URL('../../../Tests/Vectors/hostile/texts.json', import.meta.url);
const addresses = (text) => splitLinks(text).filter((part) => 'address' in part).map((part) => part.text);

test('addresses with http and https are links, and the text stays as it is', () => {
  const text = 'see https://example.org/a?b=1#c, http://localhost:8080 and HTTPS://EXAMPLE.org';
  assert.deepEqual(addresses(text), ['https://example.org/a?b=1#c', 'http://localhost:8080', 'HTTPS://EXAMPLE.org']);
  assert.equal(splitLinks(text).map((part) => part.text).join(''), text);
});

test('no other scheme is a link', () => {
  for (const text of [
    'javascript:alert(1)', 'data:text/html,<b>', 'ftp://example.org', 'file:///etc/passwd', 'vbscript:x',
    'java\tscript:alert(1)', 'blob:https//x', 'wss://example.org', 'xhttp://example.org', 'www.example.org', 'http:/x',
  ]) {
    assert.deepEqual(addresses(text), [], text);
  }
});

test('a scheme inside another address does not smuggle one in', () => {
  for (const { address } of splitLinks('javascript:https://example.org/%0aalert(1)').filter((part) => part.address)) {
    assert.ok(address.startsWith('https://example.org/'));
  }
});

test('an address that hides its host behind a user name is no link', () => {
  assert.deepEqual(addresses('https://bank.example@attacker.example/ https://a:b@attacker.example'), []);
});

test('marks of the sentence around an address do not belong to it', () => {
  for (const [text, expected] of [
    ['(https://example.org/a)', 'https://example.org/a'],
    ['https://example.org/a_(b)', 'https://example.org/a_(b)'],
    ['Is it https://example.org/?!', 'https://example.org/'],
    ['看https://example.org/路径。然后', 'https://example.org/路径'],
    ['（https://example.org/a）', 'https://example.org/a'],
    ['"https://example.org"', 'https://example.org'],
    ['https://example.org...', 'https://example.org'],
  ]) {
    assert.deepEqual(addresses(text), [expected], text);
  }
});

test('of a hostile text every part together is the text, and a link has one of the two schemes', () => {
  for (const text of JSON.parse(readFileSync(HOSTILE, 'utf8')).texts) {
    const parts = splitLinks(text);
    assert.equal(parts.map((part) => part.text).join(''), text);
    for (const { address } of parts) if (address !== undefined) assert.match(address, /^https?:\/\/[^/]/);
  }
});

test('a long text without an end costs no more than its length', () => {
  const text = `https://example.org/${'('.repeat(8000)}${')'.repeat(8000)}`;
  assert.equal(splitLinks(text).map((part) => part.text).join(''), text);
  assert.equal(splitLinks(`https://example.org/${')'.repeat(8000)}`)[0].text, 'https://example.org/');
});
