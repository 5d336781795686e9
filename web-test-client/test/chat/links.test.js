import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { splitLinks } from '../../chat/links.js';

const HOSTILE = new URL('../../../Tests/Vectors/hostile/texts.json', import.meta.url);
const shown = (text) => splitLinks(text)[0].shown?.join('');
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

test('UTS 39: a host that mixes scripts, or looks like one in ASCII, is shown in ASCII', () => {
  for (const [text, expected] of [
    ['https://аpple.com/login', 'https://xn--pple-43d.com/login'], // Cyrillic а, the rest Latin
    ['https://аррӏе.com', 'https://xn--80ak6aa92e.com'], // wholly Cyrillic
    ['https://АРРӏЕ.com', 'https://xn--80ak6aa92e.com'], // capital letters
    ['https://0177.0.0.1', 'https://127.0.0.1'],
    ['https://аррӏе.com:8080/', 'https://xn--80ak6aa92e.com:8080/'],
    ['https://ɡoogle.com', 'https://xn--oogle-qmc.com'], // a Latin letter of phonetics
    ['https://lınkedin.com', 'https://xn--lnkedin-rfb.com'],
    ['https://γαιν.example', 'https://xn--mxadtq.example'],
    ['https://bank.comノlogin.example', 'https://bank.xn--comlogin-634g.example'],
    ['https://☃.example', 'https://xn--n3h.example'],
    ['https://a\u0336b.example', 'https://xn--ab-syb.example'],
    ['https://%D0%B0pple.com', 'https://xn--pple-43d.com'],
    ['https://bücher.аpple.com', 'https://xn--bcher-kva.xn--pple-43d.com'],
    ['https://ａｐｐｌｅ.com', 'https://apple.com'],
    ['https://2130706433/', 'https://127.0.0.1/'],
    ['https://0x7f.1:443/', 'https://127.0.0.1/'],
  ]) {
    assert.equal(shown(text), expected, text);
  }
});

test('UTS 39: a host in one script that looks like no other is shown as it is written', () => {
  for (const text of [
    'https://bücher.example/ä', 'https://пример.рф', 'https://пример.рф:8080/', 'https://παράδειγμα.gr', 'https://例え.jp',
    'https://日本語ひらカナ.jp', 'https://한국漢.kr', 'https://læger.dk', 'https://אתר.example/א', 'https://उदाहरण.in',
    'https://xn--pple-43d.com', 'https://EXAMPLE.org:8080/A', 'https://[::1]:80/', 'https://a-1.b-2.example',
  ]) {
    assert.equal(shown(text), text);
  }
});

test('the host that a link shows is the host that it opens', () => {
  for (const text of [
    'https://bank.example\\.attacker.example', 'https:////attacker.example/bank.example', 'https://@attacker.example',
    'https://bank.example?.attacker.example', 'https://bank.example#@attacker.example', 'http:/\\attacker.example',
  ]) {
    for (const part of splitLinks(text)) {
      if (part.shown) assert.equal(part.shown[1], new URL(part.address).host, text);
    }
  }
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
