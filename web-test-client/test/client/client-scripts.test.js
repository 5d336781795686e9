// The scripts of `Tests/Vectors/client`, which the Swift client runs, too.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { runScript } from '../../test-support/scripts/client-script.js';

for (const path of ['client/', 'client/changes/']) {
  const folder = new URL(`../../../Tests/Vectors/${path}`, import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const script = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
    test(`${script.rule} ${script.name} (${file})`, () => runScript(script));
  }
}
