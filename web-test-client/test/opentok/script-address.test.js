import assert from 'node:assert/strict';
import test from 'node:test';
import { apiKeyOfScript, publishOfAddress, publishOfScript, scriptAddress } from '../../client/script-address.js';

const page = { href: 'https://app.example/chat?x=1' };
const script = 'https://box.example/v2/js/opentok.min.js';

test('module: a classic script is document.currentScript', () => {
  assert.equal(scriptAddress({ currentScript: { src: script } }, page, 'Error\n    at https://other.example/a.js:1:1'), script);
});

for (const [browser, stack] of [
  ['Chrome', `Error\n    at ${script}:1:1234\n    at https://app.example/main.js:3:4`],
  ['Chrome, in a function', `Error\n    at f (${script}:12:3)\n    at ${script}:40:2`],
  ['Firefox', `@${script}:1:1234\n`],
  ['Firefox, in a function', `f@${script}:1:1234\n@${script}:2:1\n`],
  ['Safari', `module code@${script}:1:1234`],
]) {
  test(`module: in a module the stack has the address: ${browser}`, () => {
    assert.equal(scriptAddress({ currentScript: null }, page, stack), script);
  });
}

test('module: an address with a port and a query keeps both', () => {
  const address = 'http://127.0.0.1:8080/v2/js/opentok.js?apikey=100';
  assert.equal(scriptAddress({ currentScript: null }, page, `Error\n    at ${address}:5:6`), address);
  assert.equal(scriptAddress({ currentScript: null }, page, `Error\n    at ${address}:5`), address);
});

test('module: the address may be one of a package, with a version', () => {
  const address = 'https://box.example/npm/@vonage/client-sdk-video@latest/dist/js/opentok.js';
  for (const stack of [`@${address}:1:2`, `module code@${address}:1:2`, `Error\n    at f (${address}:1:2)`]) {
    assert.equal(scriptAddress({ currentScript: null }, page, stack), address);
  }
});

test('module: a script without an address belongs to the page', () => {
  for (const stack of [undefined, '', 'Error\n    at <anonymous>:1:1']) {
    assert.equal(scriptAddress({ currentScript: { src: '' } }, page, stack), page.href);
  }
});

test('api key: the API key in the script’s address', () => {
  assert.equal(apiKeyOfScript(`${script}?apikey=100`), '100');
  assert.equal(apiKeyOfScript(`${script}?x=1&apiKey=200#y`), '200');
  assert.equal(apiKeyOfScript(script), null);
});

/** A document with one script tag. `current` is `document.currentScript`. */
function documentWith(src, dataset, current = true) {
  const tag = { src, dataset };
  return { currentScript: current ? tag : null, scripts: [{ src: '', dataset: { publish: 'other' } }, tag] };
}

test('publish: the option in the address of the script, also in a module', () => {
  const address = `${script}?publish=local`;
  assert.equal(publishOfScript(documentWith(address, {})), 'local');
  for (const stack of [`Error\n    at ${address}:1:1234`, `module code@${address}:1:2`, `@${address}:1:2\n`]) {
    assert.equal(publishOfScript({ currentScript: null, scripts: [] }, stack), 'local');
    assert.equal(scriptAddress({ currentScript: null }, page, stack), address);
  }
  assert.equal(publishOfScript(documentWith(`${script}?apikey=1&publish=local#x`, {})), 'local');
  assert.equal(publishOfScript(documentWith(`${script}?republish=local`, {})), undefined);
  assert.equal(publishOfAddress('https://box.example/opentok/index.js?publish=local'), 'local');
  assert.equal(publishOfAddress(undefined), undefined);
});

test('publish: the option in the tag of the script, also in a module, whose tag has its address', () => {
  assert.equal(publishOfScript(documentWith(script, { publish: 'local' })), 'local');
  assert.equal(publishOfScript(documentWith(script, { publish: 'local' }, false), `@${script}:1:2`), 'local');
  assert.equal(publishOfScript(documentWith('https://other.example/a.js', { publish: 'x' }, false), `@${script}:1:2`), undefined);
});

test('publish: the address of the page is not the script’s', () => {
  assert.equal(publishOfScript({ currentScript: null, scripts: [] }, 'Error\n    at <anonymous>:1:1'), undefined);
  assert.equal(publishOfScript(documentWith('', { publish: 'local' })), 'local', 'a script that is inserted as text');
});
