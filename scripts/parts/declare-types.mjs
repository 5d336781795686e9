#!/usr/bin/env node
// Writes text-chat/index.d.ts, the types of the chat without a page. `text-chat/types.d.ts` has the shapes of its values;
// TypeScript's compiler (Debian: node-typescript) derives the classes, functions and constants from their comments.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CHAT = fileURLToPath(new URL('../../web-test-client/text-chat/', import.meta.url));

/** The declarations that the compiler derives, by the names that `index.js` exports. */
export function derivedDeclarations() {
  const made = mkdtempSync(path.join(tmpdir(), 'types-'));
  try {
    // The shapes name three of the classes, which are no globals here. That is no fault in the file that is written.
    const { error } = spawnSync('tsc', [
      '--strict', '--allowJs', '--declaration', '--emitDeclarationOnly', '--target', 'es2022', '--moduleResolution', 'node',
      '--outDir', made, `${CHAT}index.js`, `${CHAT}types.d.ts`,
    ]);
    if (error) throw error;
    const exports = readFileSync(`${CHAT}index.js`, 'utf8').matchAll(/^export \{([^}]*)\} from '\.\/(.*)\.js';/gm);
    return new Map([...exports].flatMap(([, names, file]) => {
      const text = readFileSync(path.join(made, `${file}.d.ts`), 'utf8');
      return names.match(/\w+/g).map((name) => [name, declaration(text, name)]);
    }));
  } finally {
    rmSync(made, { recursive: true });
  }
}

/** With two spaces of indentation, as plain as a program may copy it, and without the types in the comments. */
function declaration(text, name) {
  const found = new RegExp(
    `^(?:/\\*\\*(?:(?!\\*/).)*\\*/\\n)?export (?:class ${name}\\b.*?^\\}|(?:const|function) ${name}\\b[^\n]*(?:\n[ }][^\n]*)*)`, 'ms'
  ).exec(text);
  if (!found) throw new Error(`tsc has declared no ${name}`);
  return found[0]
    .replace(/^ *#private;\n/gm, '')
    // The names of its members are no name of a parameter.
    .replace(/([(,] ?)\{ [\w, ]+ \}(?=\??: )/g, '$1options')
    .replace(/^( *)\/\*\*(.*?)\*\/\n/gms, (_, indent, comment) => {
      const lines = withoutTypes(comment).split('\n').map((line) => line.replace(/^ *\*? ?/, '').trimEnd());
      const said = lines.join('\n').trim().split('\n');
      if (said[0] === '') return '';
      if (said.length === 1) return `${indent}/** ${said[0]} */\n`;
      return `${indent}/**\n${said.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
    })
    .replace(/^(?: {4})+/gm, (indent) => indent.slice(indent.length / 2));
}

/** `@type {…}`, `@param {…} name` and the like. A type may have braces. */
function withoutTypes(comment) {
  const tag = /@(?:readonly|implements|type|param)\b ?/.exec(comment);
  if (!tag) return comment;
  let rest = comment.slice(tag.index + tag[0].length);
  if (rest.startsWith('{')) {
    let depth = 0;
    const end = [...rest].findIndex((letter) => (depth += { '{': 1, '}': -1 }[letter] ?? 0) === 0);
    rest = rest.slice(end + 1);
  }
  return comment.slice(0, tag.index) + withoutTypes(tag[0].startsWith('@param') ? rest.replace(/^ (\w+|\[\w+\]) ?/, '') : rest.trimStart());
}

export function declareTypes(derived = derivedDeclarations()) {
  const shapes = readFileSync(`${CHAT}types.d.ts`, 'utf8').replace(/^(?=interface |type )/gm, 'export ');
  const text = [shapes.trim(), ...derived.values(), ''].join('\n\n');
  // Several programs may do this at once.
  const made = `${CHAT}.index.d.ts.${process.pid}`;
  writeFileSync(made, text);
  renameSync(made, `${CHAT}index.d.ts`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) declareTypes();
