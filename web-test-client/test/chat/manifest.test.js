// The Custom Elements Manifest describes the element to editors. It agrees with the element's code, its types and its
// page of documentation.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { ChatAttributes } from '../../chat/chat-attributes.js';
import { SignalboxChat } from '../../chat/index.js';
import { CHAT_STYLE } from '../../chat/style/chat-style.js';

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const element = read('chat/chat-element.js') + read('chat/room/chat-room.js') + read('chat/room/page-customs.js');
const views = ['views', 'parts', 'more', 'changes', 'reactions']
  .flatMap((folder) => readdirSync(new URL(`../../chat/${folder}/`, import.meta.url)).map((name) => read(`chat/${folder}/${name}`)))
  .join('');
const types = read('chat/index.d.ts');
const document = read('../docs/chat-element.md');
const names = (list) => list.map(({ name }) => name).sort();
const all = (text, pattern) => [...new Set([...text.matchAll(pattern)].map((match) => match[1]))].sort();

const manifest = JSON.parse(read('custom-elements.json'));
const [module] = manifest.modules;
const [chat] = module.declarations;
const fields = chat.members.filter(({ kind }) => kind === 'field');
const methods = chat.members.filter(({ kind }) => kind === 'method');

/** Members that only the test page uses, and those that the browser calls. */
const INTERNAL = new Set([
  'constructor', 'connectedCallback', 'disconnectedCallback', 'adoptedCallback', 'attributeChangedCallback',
  'adoptProperties', 'nameOf', 'showFacts', 'showNote', 'noteReading', 'openPersonMenu', 'textOfRestriction',
]);

const BASE = Object.getPrototypeOf(ChatAttributes.prototype);

/** The public members of the class and of its own bases, with their descriptors. */
function members() {
  const found = {};
  for (let level = SignalboxChat.prototype; level !== BASE; level = Object.getPrototypeOf(level)) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (!INTERNAL.has(name)) found[name] ??= descriptor;
    }
  }
  return Object.entries(found);
}

/** The first column of the table under this heading of the document. */
function column(heading, number = 1) {
  const section = document.split(`\n## ${heading}\n`)[1].split('\n## ')[0];
  const rows = section.split('\n').filter((line) => line.startsWith('|')).slice(2);
  return rows.flatMap((row) => all(row.split('|')[number], /`([\w-]+)[^`]*`/g)).sort();
}

test('the manifest names the module, the element and its class', () => {
  const packageFile = JSON.parse(read('package.json'));
  assert.equal(packageFile.customElements, './custom-elements.json');
  assert.ok(packageFile.files.includes('custom-elements.json'));
  assert.equal(packageFile.exports['./chat'].import, `./${module.path}`);
  const declaration = { name: 'SignalboxChat', module: module.path };
  assert.deepEqual(module.exports, [
    { kind: 'js', name: chat.name, declaration },
    { kind: 'custom-element-definition', name: chat.tagName, declaration },
  ]);
  assert.deepEqual([chat.name, chat.tagName, chat.customElement], [SignalboxChat.name, 'signalbox-chat', true]);
});

test('the manifest, the types and the document have the attributes of the element', () => {
  // The style sheet alone reads the scheme.
  assert.match(CHAT_STYLE, /\[scheme=/);
  assert.deepEqual(names(chat.attributes), [...SignalboxChat.observedAttributes, 'scheme'].sort());
  assert.deepEqual(column('Attributes'), names(chat.attributes));
  const declared = types.split('interface SignalboxChatAttributes {')[1].split('}')[0];
  // In JSX, `key` belongs to the framework.
  assert.deepEqual(all(declared, /^ {2}'?([\w-]+)'?\?:/gm), names(chat.attributes).filter((name) => name !== 'key'));
});

test('each attribute of the manifest has its property, except the older name of the key', () => {
  const ofAttributes = chat.attributes.filter(({ fieldName }) => fieldName).map((each) => [each.fieldName, each.name]);
  const ofFields = fields.filter(({ attribute }) => attribute).map((each) => [each.name, each.attribute]);
  assert.deepEqual(ofAttributes.sort(), ofFields.sort());
  assert.deepEqual(names(chat.attributes.filter(({ fieldName }) => !fieldName)), ['key']);
  assert.deepEqual(column('Attributes', 2), ofFields.map(([name]) => name).sort());
});

test('the manifest and the types have the properties and methods of the element', () => {
  const accessors = members().filter(([, { get, set }]) => get || set);
  assert.deepEqual(names(fields.filter((each) => !each.static)), accessors.map(([name]) => name).sort());
  for (const [name, { get, set }] of accessors) {
    assert.ok(get, `${name} can be read`);
    assert.equal(fields.find((each) => each.name === name).readonly ?? false, set === undefined, name);
  }
  assert.deepEqual(names(methods), members().filter(([, { value }]) => value).map(([name]) => name).sort());
  const statics = Object.keys(SignalboxChat).filter((name) => name !== 'observedAttributes');
  assert.deepEqual(names(fields.filter((each) => each.static)), statics);
  const [instance, constructor] = ['interface SignalboxChat extends HTMLElement {', 'const SignalboxChat: {']
    .map((start) => types.split(start)[1].split('\n}')[0]);
  const declared = instance + constructor;
  // `focus` is a method of each element.
  assert.deepEqual(
    all(declared, /^ {2}(?!readonly prototype)(?:readonly )?(\w+)[:(]/gm), names(chat.members).filter((name) => name !== 'focus'),
  );
  for (const { name, type } of fields) assert.ok(declared.includes(` ${name}: ${type.text};`), `${name}: ${type.text}`);
});

test('the manifest, the types and the document have the events of the element', () => {
  assert.deepEqual(names(chat.events), all(element, /#emit\('([\w-]+)'/g));
  assert.deepEqual(column('Events'), names(chat.events));
  for (const { name, type } of chat.events) assert.ok(types.includes(`'${name}': ${type.text};`), name);
});

test('the manifest and the document have the parts, slots and custom properties of the element', () => {
  const parts = all(views, /part: ['`]([^'`]*)['`]/g).join(' ').replace('${message.direction}', 'sent received');
  assert.deepEqual(names(chat.cssParts), all(parts, /([\w-]+)/g));
  const [named] = document.split('The parts for `::part()` are ')[1].split('.\n');
  assert.deepEqual(all(named, /`([\w-]+)`/g), names(chat.cssParts));
  assert.deepEqual(names(chat.slots), all(views, /make\('slot', \{ name: '(\w+)' \}/g));
  assert.deepEqual(column('Slots'), names(chat.slots));
  assert.deepEqual(names(chat.cssProperties), all(CHAT_STYLE, /var\((--signalbox-[\w-]+)/g));
  assert.deepEqual(column('Style'), names(chat.cssProperties));
  // The first value is that of the light scheme.
  for (const { name, default: value } of chat.cssProperties) {
    const start = CHAT_STYLE.indexOf(`var(${name}, `) + `var(${name}, `.length;
    assert.equal(CHAT_STYLE.slice(start, start + value.length + 1), `${value})`, name);
  }
});
