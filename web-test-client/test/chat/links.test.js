import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { splitLinks } from '../../chat/text/links.js';
import { vectorCases } from '../../test-support/vectors.js';

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
    'java\tscript:alert(1)', 'blob:https//x', 'wss://example.org', 'xhttp://example.org', 'http:/x',
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
    ['https://bankノlogin.example', 'https://xn--banklogin-j74h.example'],
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

test('a link ends before a text that is glued to it, which would name another host', () => {
  for (const [text, expected] of [
    ['https://example.com을 보세요', 'https://example.com'], // Korean
    ['https://example.comを見て', 'https://example.com'], // Japanese
    ['https://example.comをlogin.example', 'https://example.com'],
    ['请看https://example.com谢谢', 'https://example.com'], // Chinese
    ['ดูhttps://example.comที่นี่', 'https://example.com'], // Thai
    ['https://example.comهنا', 'https://example.com'], // Arabic
    ['https://example.comपर', 'https://example.com'], // Hindi
    ['https://example.comздесь', 'https://example.com'],
    ['https://пример.рф을', 'https://пример.рф'],
    ['https://例え.jpです', 'https://例え.jp'],
    ['http://localhost를', 'http://localhost'],
    ['http://localhost:8080에서', 'http://localhost:8080'],
    ['http://127.0.0.1:80/에서', 'http://127.0.0.1:80/에서'],
    ['https://www.example.com을', 'https://www.example.com'],
    ['https://example.com/a을', 'https://example.com/a'],
    ['https://example.com/?q=a1に', 'https://example.com/?q=a1'],
    ['https://example.com/%E6%97%A5を', 'https://example.com/%E6%97%A5'],
    ['https://ja.example/wiki/東京2020年', 'https://ja.example/wiki/東京2020年'],
    ['https://ru.example/C-и-C++', 'https://ru.example/C-и-C++'],
    ['https://abc日本.jp/a', 'https://abc日本.jp/a'],
    ['https://www.abc日本.jp', 'https://www.abc日本.jp'],
    ['www.example.com을', 'www.example.com'],
    ['ada@example.com을', 'ada@example.com'],
  ]) {
    assert.deepEqual(addresses(text), [expected], text);
  }
});

test('a link ends at the marks of a sentence, quotes and brackets of every script', () => {
  for (const mark of '』〉》」】）〕］｝〗｡。、､，：；！？؟،؛۔।॥។။።»›”„“『〈《') {
    assert.deepEqual(addresses(`https://example.com/a${mark}b`), ['https://example.com/a'], mark);
    assert.deepEqual(addresses(`https://example.com${mark}`), ['https://example.com'], mark);
  }
  assert.deepEqual(addresses('https://example.com/it’s'), ['https://example.com/it’s']);
});

test('www. and addresses of mail are links', () => {
  for (const [text, expected, address] of [
    ['see www.example.org/a?b.', 'www.example.org/a?b', 'https://www.example.org/a?b'],
    ['看WWW.example.org。', 'WWW.example.org', 'https://www.example.org/'],
    ['(ada.lovelace+chat@mail.example.org)', 'ada.lovelace+chat@mail.example.org', null],
    ['寫信給ada@example.org吧', 'ada@example.org', null],
    ['write to ada@example.org.', 'ada@example.org', null],
  ]) {
    const [link, ...others] = splitLinks(text).filter((part) => 'address' in part);
    assert.deepEqual(others, [], text);
    assert.equal(link.text, expected);
    assert.equal(link.address, address ?? `mailto:${expected}`);
    assert.equal(link.shown.join(''), expected);
  }
  for (const text of [
    'www.', 'www.example', 'www..example.org', 'awww.example.org', 'www.bank.example@attacker.example', 'ada@localhost',
    'ada@example.orgü', 'adä@example.org', 'ada@bücher.example', 'a@b@example.org', 'ada@example.org@b.example',
    'mailto:ada@example.org', '@example.org', 'ada@-',
  ]) {
    assert.deepEqual(addresses(text), [], text);
  }
});

test('of a hostile text every part together is the text, and a link has one of the two schemes', () => {
  for (const text of JSON.parse(readFileSync(HOSTILE, 'utf8')).texts) {
    const parts = splitLinks(text);
    assert.equal(parts.map((part) => part.text).join(''), text);
    for (const { address } of parts) if (address !== undefined) assert.match(address, /^(?:https?:\/\/[^/]|mailto:[\w.+-]+@[a-z0-9.-]+$)/i);
  }
});

test('a long text without an end costs no more than its length', () => {
  const text = `https://example.org/${'('.repeat(8000)}${')'.repeat(8000)}`;
  assert.equal(splitLinks(text).map((part) => part.text).join(''), text);
  assert.equal(splitLinks(`https://example.org/${')'.repeat(8000)}`)[0].text, 'https://example.org/');
  for (const piece of ['a', 'a.', 'a@', 'www.', 'a를', 'https://a', '/를', '@a.']) {
    assert.equal(splitLinks(piece.repeat(8000)).map((part) => part.text).join('').length, piece.length * 8000);
  }
});

test('the links of the vectors, those that the Swift view leaves out, too', () => {
  for (const { text, links } of vectorCases('view/links.json')) assert.deepEqual(addresses(text), links, text);
});
