// Programs test their pages in jsdom, which has no layout, no style sheets of a script, and no popovers. Its users add
// stand-ins for the observers and `matchMedia`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DEBIAN_PACKAGES } from '../../test-support/node-packages.js';

const PROGRAM = fileURLToPath(new URL('../../test-support/scripts/jsdom-page.cjs', import.meta.url));

test('in jsdom the element shows and sends messages, opens a menu, and leaves', async () => {
  // Packages of Debian find each other there, whichever Node runs them.
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], { env: { ...process.env, NODE_PATH: DEBIAN_PACKAGES } });
  assert.deepEqual(JSON.parse(stdout), {
    errors: [], send: 'Send', messages: ['hello https://a.example/', 'answer'], link: 'https://a.example/',
    menu: ['Command'], state: 'disconnected',
  });
});
