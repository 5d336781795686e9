// What a compiler says of programs in TypeScript that are written against `opentok.d.ts`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const usage = fileURLToPath(new URL('../test-support/usage.ts', import.meta.url));
const declarations = fileURLToPath(new URL('../opentok/opentok', import.meta.url));

/** Debian's package is node-typescript. */
function compile(file) {
  const { status, stdout, error } = spawnSync('tsc', ['--strict', '--noEmit', '--target', 'es2020', '--module', 'commonjs', file], { encoding: 'utf8' });
  if (error) throw error;
  return { status, complaints: stdout.trim() };
}

test('types: a program that uses the library as OpenTok’s is compiled without a complaint', () => {
  assert.deepEqual(compile(usage), { status: 0, complaints: '' });
});

test('types: what the library does not take is complained of', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const wrong = path.join(folder, 'wrong.ts');
  const program = readFileSync(usage, 'utf8').replaceAll('@ts-expect-error', '').replace("'../opentok/opentok'", JSON.stringify(declarations));
  writeFileSync(wrong, program);
  const { status, complaints } = compile(wrong);
  assert.notEqual(status, 0);
  assert.equal(complaints.split('\n').filter((line) => line.includes('wrong.ts(')).length, 4, complaints);
});
