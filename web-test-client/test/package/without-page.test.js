// Programs that render pages on a server load the library and the element there, without a page. Loading has no effect
// then, whatever a runtime or a program defines of a page's globals.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

const LOADER = new URL('../../test-support/load-modules.js', import.meta.url);
const run = promisify(execFile);

/** Every module of the package and the entry points of its bundles, except those in the syntax of `require`. */
const modules = ['client', 'opentok', 'text-chat', 'chat'].flatMap((folder) => {
  const address = new URL(`../../${folder}/`, import.meta.url);
  return readdirSync(address, { recursive: true })
    .filter((name) => name.endsWith('.js') && name !== 'require.js')
    .map((name) => new URL(name, address).href);
});

const REFUSING = '{ get() {}, define() { throw new Error("defined"); } }';

/** Code that prepares the globals. */
const RUNTIMES = {
  'nothing of a page': '',
  'the window is the global object': 'globalThis.window = globalThis.self = globalThis',
  'document is undefined': 'globalThis.window = globalThis; globalThis.document = undefined',
  'document is null': 'globalThis.window = globalThis; globalThis.document = null',
  'an empty document and location':
    'globalThis.window = globalThis; globalThis.document = {}; globalThis.location = {}',
  'elements without a document': `globalThis.HTMLElement = class {}; globalThis.customElements = ${REFUSING}`,
  'elements with an empty document':
    `globalThis.HTMLElement = class {}; globalThis.document = {}; globalThis.customElements = ${REFUSING}`,
  'a registry without elements': `globalThis.document = {}; globalThis.customElements = ${REFUSING}`,
  'a page without a registry':
    'globalThis.window = globalThis; globalThis.HTMLElement = class {}; globalThis.customElements = undefined',
  'no socket, network, clock and navigator':
    'for (const name of ["WebSocket", "fetch", "performance", "navigator", "crypto"]) delete globalThis[name]',
  'no segmenter of texts': 'delete Intl.Segmenter',
};

for (const [name, prepare] of Object.entries(RUNTIMES)) {
  test(`loading a module has no effect where there is no page: ${name}`, async () => {
    const { stdout, stderr } = await run(process.execPath, [fileURLToPath(LOADER), prepare, ...modules]);
    assert.deepEqual(JSON.parse(stdout), { failures: [], added: [], count: modules.length });
    assert.equal(stderr, '');
  });
}

test('loading a module has no effect in a worker', async () => {
  const worker = new Worker(LOADER, { workerData: ['globalThis.self = globalThis', ...modules] });
  const [report] = await once(worker, 'message');
  assert.deepEqual(report, { failures: [], added: [], count: modules.length });
});

test('the modules of this test are those of the package', () => {
  assert.ok(modules.length > 70, String(modules.length));
  const entries = ['opentok/index.js', 'opentok/script.js', 'chat/index.js', 'chat/script.js', 'text-chat/index.js'];
  for (const entry of entries) {
    assert.ok(modules.some((address) => address.endsWith(`/web-test-client/${entry}`)), entry);
  }
});
