// `text-chat/index.d.ts` declares exactly what the entry point exports, and exactly the members of its classes. Each of
// them has a type: the compiler derives it from a comment, and gives what has none the type `any`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { declareTypes, derivedDeclarations } from '../../../scripts/parts/declare-types.mjs';
import * as chat from '../../text-chat/index.js';

const derived = derivedDeclarations();
declareTypes(derived);
const text = readFileSync(new URL('../../text-chat/index.d.ts', import.meta.url), 'utf8');

const typing = new chat.ChatTyping({ publish: async () => {} });
const session = { on() {}, off() {}, signal() {} };
const instances = {
  ChatTimeline: new chat.ChatTimeline(),
  ChatTyping: typing,
  Composer: new chat.Composer(),
  NameBook: new chat.NameBook(),
  SessionChannel: new chat.SessionChannel(session, () => {}),
  TextChatComponent: new chat.TextChatComponent({ typing }),
  TypingPolicyError: new chat.TypingPolicyError('unknown', 'x'),
};

/** The members that `index.d.ts` declares in a class or an interface. */
function declaredMembers(kind, name) {
  const found = new RegExp(`^export ${kind} ${name}\\b[^{\\n]*\\{\\n(.*?)^\\}`, 'ms').exec(text);
  assert.ok(found, `index.d.ts has no ${kind} ${name}`);
  return [...found[1].matchAll(/^  (?:readonly |get |set )?(\w+)\??[(<:]/gm)].map((member) => member[1]);
}

/** The members of an instance that a program can reach, except those of every object and every error. */
function membersOf(instance) {
  const common = [Object.prototype, Error.prototype];
  const names = new Set();
  for (let level = instance; !common.includes(level); level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  }
  for (const name of ['stack', 'message']) names.delete(name);
  return names;
}

test('chat types: index.d.ts declares exactly what index.js exports', () => {
  const declared = [...text.matchAll(/^export (?:class|const|function) (\w+)/gm)].map((found) => found[1]);
  assert.deepEqual(declared.sort(), Object.keys(chat).sort());
});

test('chat types: every public name and its parameters have a type', () => {
  for (const [name, declaration] of derived) {
    const code = declaration.replace(/\/\*\*.*?\*\//gs, '');
    assert.deepEqual(code.match(/^.*\bany\b.*$/gm), null, name);
  }
});

test('chat types: every class that is exported is compared', () => {
  const classes = Object.keys(chat).filter((name) => String(chat[name]).startsWith('class '));
  assert.deepEqual(Object.keys(instances).sort(), classes.sort());
});

for (const [name, instance] of Object.entries(instances)) {
  test(`chat types: index.d.ts declares exactly the members of ${name}`, () => {
    // Without a constructor in the declaration, the class has the one without arguments.
    const declared = new Set(['constructor', ...declaredMembers('class', name)]);
    assert.deepEqual([...declared].sort(), [...membersOf(instance)].sort());
  });
}

for (const [name, value] of Object.entries({
  GroupingRule: chat.STANDARD_RULE,
  TypingPolicy: chat.TYPING_PRESETS.standard,
  TypingSnapshot: typing.current,
  EditResult: instances.Composer.check(''),
  TypingPhrase: chat.typingPhrase([]),
})) {
  test(`chat types: index.d.ts declares exactly the members of a ${name}`, () => {
    assert.deepEqual(declaredMembers('interface', name).sort(), Object.keys(value).sort());
  });
}

test('chat types: index.d.ts declares exactly the members of a message and its row', () => {
  const timeline = new chat.ChatTimeline();
  timeline.isVisible = true;
  const from = { connectionId: 'a', data: 'Ada' };
  const content = chat.decodeSignal({ type: chat.BARE_TYPE, data: 'x', from, receivedAt: 0 });
  timeline.insert(content, 0);
  assert.deepEqual(declaredMembers('interface', 'MessageContent').sort(), Object.keys(content).sort());
  const message = [...declaredMembers('interface', 'MessageContent'), ...declaredMembers('interface', 'ChatMessage')];
  assert.deepEqual(message.sort(), Object.keys(timeline.messages[0]).sort());
  assert.deepEqual(declaredMembers('interface', 'MessageRow').sort(), Object.keys(timeline.rows[0]).sort());
});

test('chat types: the presets and the signal types have the declared names', () => {
  const presets = /TYPING_PRESETS: Readonly<Record<([^,]+),/.exec(text)[1].match(/\w+/g);
  assert.deepEqual(presets.sort(), Object.keys(chat.TYPING_PRESETS).sort());
  for (const name of ['CHAT_TYPE', 'BARE_TYPE']) assert.match(text, new RegExp(`const ${name}: '${chat[name]}';`));
});
