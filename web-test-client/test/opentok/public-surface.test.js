// The test page is also an example of the library: it uses only the public API.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { declaredMembers } from '../../test-support/types/declarations.js';

const root = new URL('../../', import.meta.url);
const scriptsIn = (folder) =>
  readdirSync(new URL(folder, root), { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => `${folder}/${name}`);
const scripts = ['main.js', ...scriptsIn('page'), ...scriptsIn('text-chat')];
const source = (path) => readFileSync(new URL(path, root), 'utf8').replace(/^\s*\/\/.*$/gm, '');
const IMPORT = /\bfrom '([^']+)'|\bimport\(?\s*'([^']+)'/g;
const importsOf = (path) => [...source(path).matchAll(IMPORT)].map((found) => found[1] ?? found[2]);

const importsFrom = (paths, folders) => paths.flatMap(
  (path) => importsOf(path).filter((from) => folders.some((each) => from.includes(each))).map((from) => [path, from])
);

test('only page/library.js imports the library', () => {
  // A page with two users needs two libraries, and `index.js` has one.
  assert.deepEqual(importsFrom(scripts, ['opentok/', '/client/']), [
    ['page/library.js', '../client/browser.js'], ['page/library.js', '../opentok/api/ot.js'],
  ]);
});

test('the element imports of OpenTok’s names only what makes its session', () => {
  assert.deepEqual(importsFrom(scriptsIn('chat'), ['opentok/']), [
    ['chat/connection/own-session.js', '../../opentok/api/ot.js'],
  ]);
});

test('the test page imports only the entry point of the chat', () => {
  const imports = ['main.js', ...scriptsIn('page')].flatMap(
    (path) => importsOf(path).map((from) => new URL(from, new URL(path, root)).href)
  ).filter((file) => file.includes('text-chat'));
  assert.ok(imports.length > 0);
  assert.deepEqual([...new Set(imports)], [new URL('text-chat/index.js', root).href]);
});

test('the library imports nothing of the test page', () => {
  // The protocol's client knows nothing of OpenTok.
  for (const [folder, itsOwn] of [['client', ['client/']], ['opentok', ['opentok/', 'client/']]]) {
    const files = scriptsIn(folder);
    assert.ok(files.length > 15, `only ${files.length} files were found`);
    const isItsOwn = (address) => itsOwn.some((each) => address.startsWith(new URL(each, root).href));
    for (const path of files) {
      for (const from of importsOf(path)) {
        assert.ok(isItsOwn(new URL(from, new URL(path, root)).href), `${path} imports ${from}`);
      }
    }
  }
});

test('the test page uses only calls and properties that opentok.d.ts declares', () => {
  const surfaces = { OT: 'Library', session: 'Session', joined: 'Session' };
  let uses = 0;
  for (const path of scripts) {
    for (const [
      , subject, member,
    ] of source(path).matchAll(/(?<![\w./'-])(?:this\.#)?(OT|session|joined)\??\.(\w+)/g)) {
      assert.ok(declaredMembers(surfaces[subject]).has(member), `${path} uses ${subject}.${member}`);
      uses += 1;
    }
  }
  assert.ok(uses > 15, `only ${uses} uses were found`);
});
