// docs/text-chat-web.md: its code is that of its complete page, which a browser test runs, or runs here.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as library from '../../text-chat/index.js';

const text = readFileSync(new URL('../../../docs/text-chat-web.md', import.meta.url), 'utf8');
const BLOCK = /^```(\w+)\n(.*?)^```$/gms;
const blocks = (wanted) => [...text.matchAll(BLOCK)].filter(([, name]) => name === wanted).map(([, , code]) => code);
const page = blocks('html').find((block) => block.startsWith('<!doctype html>'));
// A test of the package runs these imports.
const others = blocks('js').filter((block) => !page.includes(block) && !block.includes("from 'signalbox-client'"));

const AsyncFunction = (async () => {}).constructor;

/** Runs a block in which the library's exports have their names; returns what it logs. */
async function run(block) {
  const logged = [];
  const values = { ...library, console: { log: (...words) => logged.push(words) } };
  if (!block.includes('const chat =')) {
    values.chat = new library.TextChatComponent({ typing: new library.ChatTyping({ publish: async () => {} }) });
    values.messages = [];
    values.draft = 'kept';
    values.row = { id: 'message 1' };
  }
  await new AsyncFunction(...Object.keys(values), block)(...Object.values(values));
  return { logged, chat: values.chat };
}

test('text-chat-web.md: two blocks are of the page, and seven run by themselves', () => {
  assert.equal(blocks('js').filter((block) => page.includes(block)).length, 2);
  assert.equal(others.length, 7);
});

for (const block of others) {
  test(`text-chat-web.md: this code runs: ${block.split('\n')[0]}`, () => run(block));
}

test('text-chat-web.md: restored is the draft', async () => {
  const { chat } = await run(others.find((block) => block.startsWith('chat.restore(')));
  assert.equal(chat.draft, 'kept');
});

test('text-chat-web.md: a chat without a session sends and receives', async () => {
  const { logged } = await run(others.find((block) => block.startsWith('const chat =')));
  const [[type, data], [texts]] = logged;
  assert.equal(type, library.CHAT_TYPE);
  assert.equal(JSON.parse(data).text, 'hello');
  assert.deepEqual(texts.filter((each) => each !== undefined), ['hello', 'hi']);
});

test('text-chat-web.md: every name in code exists', () => {
  const known = new Set([...Object.keys(library), 'ChannelEvent', 'TextChat']);
  for (const [, name] of text.replace(/^```.*?^```$/gms, '').matchAll(/`([A-Z]\w*[a-z]\w*|[A-Z]+_[A-Z]+)`/g)) {
    assert.ok(known.has(name), name);
  }
});
