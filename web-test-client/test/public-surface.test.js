// The test page is also the example of how to use the library: it may use of it what everybody may.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { declaredMembers } from '../test-support/declarations.js';

const root = new URL('../', import.meta.url);
const scripts = ['main.js', ...['page', 'text-chat'].flatMap((folder) => readdirSync(new URL(folder, root)).map((name) => `${folder}/${name}`))];
const source = (path) => readFileSync(new URL(path, root), 'utf8').replace(/^\s*\/\/.*$/gm, '');
const importsOf = (path) => [...source(path).matchAll(/\bfrom '([^']+)'|\bimport\(?\s*'([^']+)'/g)].map((found) => found[1] ?? found[2]);

test('of the library the test page imports its entrance alone, and only main.js does', () => {
  const imports = scripts.flatMap((path) => importsOf(path).filter((from) => from.includes('opentok')).map((from) => [path, from]));
  // The second is the same module under another address: a page that is both ends of a conversation needs two libraries.
  assert.deepEqual(imports, [['main.js', './opentok/index.js'], ['main.js', './opentok/index.js?second']]);
});

test('the library imports nothing of the test page', () => {
  const library = new URL('opentok/', root);
  const files = readdirSync(library, { recursive: true }).filter((each) => each.endsWith('.js'));
  assert.ok(files.length > 20, `only ${files.length} files were found`);
  for (const name of files) {
    for (const from of importsOf(`opentok/${name}`)) {
      assert.ok(new URL(from, new URL(name, library)).href.startsWith(library.href), `${name} imports ${from}`);
    }
  }
});

test('the test page uses only calls and properties that opentok.d.ts declares', () => {
  const surfaces = { OT: 'Library', session: 'Session', joined: 'Session' };
  let uses = 0;
  for (const path of scripts) {
    for (const [, subject, member] of source(path).matchAll(/(?<![\w./'-])(?:this\.#)?(OT|session|joined)\??\.(\w+)/g)) {
      assert.ok(declaredMembers(surfaces[subject]).has(member), `${path} uses ${subject}.${member}`);
      uses += 1;
    }
  }
  assert.ok(uses > 15, `only ${uses} uses were found`);
});
