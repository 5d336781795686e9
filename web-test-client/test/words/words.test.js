import assert from 'node:assert/strict';
import test from 'node:test';
import { CHAT_STRINGS } from '../../chat/strings/index.js';
import { hueOf, initialOf } from '../../chat/views/dom.js';
import { typingSentence } from '../../chat/words/typing-sentence.js';
import { Words } from '../../chat/words/words.js';
import { typingPhrase } from '../../text-chat/index.js';
import { vectorCases } from '../../test-support/vectors.js';

const words = (language, options) => new Words(language, CHAT_STRINGS, options);

test('a language tag chooses the table, whatever its region and its case', () => {
  const chosen = (tag) => words(tag).text('send');
  assert.deepEqual(['de', 'de-CH', 'DE-at', 'de_DE'].map(chosen), Array(4).fill('Senden'));
  assert.deepEqual(['pt', 'pt-BR', 'pt-PT', 'pt-AO'].map(chosen), Array(4).fill('Enviar'));
  assert.deepEqual(['zh', 'zh-CN', 'zh-Hans-TW', 'zh-SG'].map(chosen), Array(4).fill('发送'));
  assert.deepEqual(['zh-TW', 'zh-Hant', 'zh-HK', 'zh-Hant-CN'].map(chosen), Array(4).fill('傳送'));
});

test('a language without a table, and a tag that is none, are English as a whole', () => {
  for (const tag of ['it', 'he', 'x', '', null, undefined, 'not a tag', '日本語', 'constructor']) {
    const english = words(tag);
    assert.deepEqual([english.language, english.direction, english.text('send')], ['en', 'ltr', 'Send'], String(tag));
    assert.equal(english.relativeDay(0), 'Today');
  }
});

test('texts of the program have precedence key by key, with the plural rules of its language', () => {
  const own = { send: 'Wyślij', newMessages: { one: '{count} nowa', few: '{count} nowe', other: '{count} nowych' } };
  const polish = words('pl', { own });
  assert.deepEqual([polish.language, polish.text('send'), polish.text('chat')], ['pl', 'Wyślij', 'Chat']);
  assert.deepEqual([1, 3, 5].map((count) => polish.text('newMessages', { count })), ['1 nowa', '3 nowe', '5 nowych']);
  assert.equal(polish.text('charactersLeft', { count: 1 }), '1 character left', 'an English text has English plurals');
  assert.equal(words('ko', { own: { send: '보내기' } }).text('charactersLeft', { count: 1 }), '1 character left');
  assert.equal(words('he', { own: { send: 'שליחה' } }).direction, 'rtl');
  assert.equal(words('de', { own: { send: 7, chat: null, keys: { few: 'x' } } }).text('send'), 'Senden');
});

test('numbers, lists, days and times are those of the language', () => {
  assert.equal(words('de').text('dropped', { limit: 20_000, count: 1 }).slice(0, 30), 'Diese Seite behält 20.000 Nach');
  assert.equal(words('fr').list(['Ada', 'Bo']), 'Ada et Bo');
  assert.deepEqual(['de', 'fr', 'ja'].map((tag) => words(tag).relativeDay(-1)), ['Gestern', 'Hier', '昨日']);
  assert.match(words('en').time(Date.UTC(2026, 0, 1, 14)), /[AP]M$/);
  assert.match(words('en', { preferred: ['de', 'en-GB'] }).time(Date.UTC(2026, 0, 1, 14)), /^\d\d:\d\d$/);
  assert.match(words('en-US', { preferred: ['en-US-u-hc-h23'] }).time(0), /^\d\d:\d\d$/, 'the browser names the clock');
  assert.match(words('en-US', { preferred: ['en-GB'] }).time(0), /[AP]M$/, 'the page names the region');
});

test('a name does not reorder a sentence that runs the other way', () => {
  const type = (tag, name) => typingSentence(words(tag), typingPhrase([name]));
  assert.equal(type('ar', 'Ada'), '\u2068Ada\u2069 يكتب…');
  assert.equal(type('en', 'أحمد'), '\u2068أحمد\u2069 is typing…');
  assert.equal(type('en', '{count}'), '{count} is typing…', 'a name is no template');
});

test('the sentences about typing are those of the shared vectors', () => {
  for (const { name, names, count, limits, en, zh } of vectorCases('phrases/30-sentences.json')) {
    const phrase = typingPhrase(names, { count, limits });
    assert.equal(typingSentence(words('en'), phrase), en, name);
    assert.equal(typingSentence(words('zh'), phrase), zh, name);
  }
});

test('typing of one, two and three is written in the number of the language', () => {
  const people = ['A', 'B', 'C'];
  const sentences = (tag) => people.map((_, index) => typingSentence(words(tag), typingPhrase(people.slice(0, index + 1))));
  assert.deepEqual(sentences('de'), ['A schreibt …', 'A und B schreiben …', 'A, B und C schreiben …']);
  assert.deepEqual(
    sentences('ar').map((text) => text.replace(/[\u2066-\u2069]/g, '').split(' ').at(-1)),
    ['يكتب…', 'يكتبان…', 'يكتبون…'],
  );
});

test('users who have paused are told from users who type', () => {
  const paused = (names) => typingSentence(words('en'), typingPhrase(names), true);
  assert.deepEqual([paused(['Ada']), paused(['Ada', 'Bo'])], ['Ada has paused', 'Ada and Bo have paused']);
});

for (const { name, language, newMessages, typing } of vectorCases('view/words.json')) {
  test(`the plurals, numbers and lists of names in ${name} are those of the vector`, () => {
    for (const [count, text] of Object.entries(newMessages)) {
      assert.equal(words(language).text('newMessages', { count: Number(count) }), text);
    }
    for (const { names, count, text } of typing) {
      assert.equal(typingSentence(words(language), typingPhrase(names, { count })), text);
    }
  });
}

test('the initial and the colour of a person are those of the vectors', () => {
  for (const { name, id, initial, colour } of vectorCases('view/people.json')) {
    assert.deepEqual([initialOf(name), hueOf(id)], [initial, colour], name);
  }
});
