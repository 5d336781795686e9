// Compiles programs in TypeScript that use `<signalbox-chat>`, with and without React.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { declareTypes } from '../../../scripts/parts/declare-types.mjs';
import { CHANGE_STRINGS } from '../../chat/changes/change-strings.js';
import { REACTION_STRINGS } from '../../chat/reactions/reaction-strings.js';
import { MODERATOR_STRINGS } from '../../chat/strings/moderators.js';
import { en } from '../../chat/strings/en.js';
import { DEBIAN_PACKAGES } from '../../test-support/node-packages.js';

declareTypes();

const support = (name) => fileURLToPath(new URL(`../../test-support/types/${name}`, import.meta.url));

/** Debian's package of the types is node-react. React 19 is not in Debian. */
const REACT = { 18: `${DEBIAN_PACKAGES}/@types/react`, 19: support('react-19') };

/** Compiles a file of `test-support/types`, with these changes of its text, and returns the compiler's complaints. */
function compile(t, name, options = {}, change = (text) => text) {
  const folder = mkdtempSync(path.join(tmpdir(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const sources = fileURLToPath(new URL('../..', import.meta.url));
  const text = change(readFileSync(support(name), 'utf8')).replaceAll("from '../../", `from '${sources}`);
  writeFileSync(path.join(folder, name), text);
  const compilerOptions = {
    strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], module: 'esnext',
    moduleResolution: 'node', types: [], ...options,
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [name] }));
  const { stdout, error } = spawnSync('tsc', ['--project', folder, '--pretty', 'false'], { encoding: 'utf8' });
  if (error) throw error;
  return stdout.trim();
}

/** The options of a program with this version of React. Debian has not all types that React's own need. */
function react(version) {
  const paths = { react: [REACT[version]], 'react/jsx-runtime': [`${REACT[version]}/jsx-runtime`] };
  return { jsx: 'react-jsx', paths, skipLibCheck: true };
}

const PROGRAMS = [['chat-usage.ts', {}], ['chat-react-19.tsx', react(19)], ['chat-react-18.tsx', react(18)]];

for (const [name, options] of PROGRAMS) {
  test(`types of the element: ${name} compiles without an error`, (t) => {
    assert.equal(compile(t, name, options), '');
  });

  test(`types of the element: the compiler reports each mistake in ${name}`, (t) => {
    const source = readFileSync(support(name), 'utf8');
    const complaints = compile(t, name, options, (text) => text.replaceAll('@ts-expect-error', ''));
    const mistakes = source.split('\n').flatMap((line, index) => (/@ts-expect-error /.test(line) ? [index + 2] : []));
    const reported = [...complaints.matchAll(/\((\d+),\d+\): error/g)].map((match) => Number(match[1]));
    assert.deepEqual(reported, mistakes, complaints);
  });
}

test('types of the element: they have exactly the keys of its texts, those with a count apart', () => {
  const declarations = readFileSync(new URL('../../chat/index.d.ts', import.meta.url), 'utf8');
  const keysOf = (type) => {
    const [, union] = new RegExp(`^export type ${type} =([^;]*);`, 'm').exec(declarations);
    return [...union.matchAll(/'(\w+)'/g)].map(([, key]) => key).sort();
  };
  const isCounted = (key) => typeof en[key] === 'object';
  assert.deepEqual(keysOf('ChatTextKey'), Object.keys(en).filter((key) => !isCounted(key)).sort());
  assert.deepEqual(keysOf('ChatPluralKey'), Object.keys(en).filter(isCounted).sort());
  assert.deepEqual(keysOf('ChatChangeTextKey'), Object.keys(CHANGE_STRINGS.en).sort());
  const countedReactions = ['reacted', 'reactedToo'];
  assert.deepEqual(keysOf('ChatReactionPluralKey'), countedReactions);
  const reactions = [...keysOf('ChatReactionTextKey'), ...countedReactions].sort();
  assert.deepEqual(reactions, Object.keys(REACTION_STRINGS.en).sort());
  assert.deepEqual(keysOf('ChatModeratorTextKey'), Object.keys(MODERATOR_STRINGS.en).sort());
});

test('types of the element: a program without the declarations of the DOM compiles', (t) => {
  const program = "import { SignalboxChat } from '../../chat/index.js';\nexport class Mine extends SignalboxChat {}\n"
    + 'export const state = (chat: SignalboxChat): string => chat.state + SignalboxChat.defaultServer;\n';
  assert.equal(compile(t, 'chat-usage.ts', { lib: ['es2020'] }, () => program), '');
});

test('types of the element: a program without React knows no JSX because of the element', (t) => {
  const asks = (text) => `${text}\ndeclare const elements: JSX.IntrinsicElements;\nconsole.log(elements);\n`;
  assert.match(compile(t, 'chat-usage.ts', {}, asks), /^[^\n]*chat-usage\.ts[^\n]* Cannot find namespace 'JSX'\.$/);
});
