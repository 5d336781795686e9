// Compiles programs in TypeScript that use `opentok.d.ts`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const usage = fileURLToPath(new URL('../../test-support/types/usage.ts', import.meta.url));
const declarations = fileURLToPath(new URL('../../opentok/opentok', import.meta.url));

/** Debian's package is node-typescript. */
function compile(file, options = ['--module', 'commonjs']) {
  const { status, stdout, error } = spawnSync(
    'tsc', ['--strict', '--noEmit', '--target', 'es2020', ...options, file], { encoding: 'utf8' }
  );
  if (error) throw error;
  return { status, complaints: stdout.trim() };
}

test('types: a program that uses the library as OpenTok’s compiles without an error', () => {
  assert.deepEqual(compile(usage), { status: 0, complaints: '' });
});

test('types: the compiler rejects arguments that the library does not accept', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const wrong = path.join(folder, 'wrong.ts');
  const program = readFileSync(usage, 'utf8')
    .replaceAll('@ts-expect-error', '')
    .replace("'../../opentok/opentok'", JSON.stringify(declarations));
  writeFileSync(wrong, program);
  const { status, complaints } = compile(wrong);
  assert.notEqual(status, 0);
  assert.equal(complaints.split('\n').filter((line) => line.includes('wrong.ts(')).length, 7, complaints);
});

const application = fileURLToPath(new URL('../../test-support/types/application.ts', import.meta.url));
const bundled = ['--module', 'esnext', '--moduleResolution', 'node'];

for (const options of [['--module', 'commonjs'], bundled, [...bundled, '--esModuleInterop']]) {
  test(`types: a program for OpenTok’s declarations compiles with these: ${options.join(' ')}`, () => {
    assert.deepEqual(compile(application, options), { status: 0, complaints: '' });
  });
}

test('types: the default import and types by name', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = path.join(folder, 'named.ts');
  const library = JSON.stringify(declarations);
  writeFileSync(program, `import OT, { initSession } from ${library};
    import type { Session, OTError } from ${library};
    const session: Session = OT.initSession('1', '1_x');
    const same: OT.Session = initSession('1', '1_x');
    const failed = (error?: OTError) => console.log(error?.name, same === session);
    session.signal({ data: 'x' }, failed);
    declare global { interface Window { OT: typeof OT } }
    window.OT.initSession('1', '1_x');`);
  assert.deepEqual(compile(program, [...bundled, '--esModuleInterop']), { status: 0, complaints: '' });
});
