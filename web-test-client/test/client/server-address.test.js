import assert from 'node:assert/strict';
import test from 'node:test';
import { addressOfSession, serverOfScript, signalingAddress } from '../../client/server-address.js';
import { vectorCases } from '../../test-support/vectors.js';

const addresses = vectorCases('scripts/addresses.json').filter(({ bundle }) => bundle !== undefined);

test('WIRE-1 a script that the server offers belongs to it, and to the prefix that a proxy added', () => {
  assert.ok(addresses.length > 50, `only ${addresses.length} addresses were found`);
  for (const { path } of addresses) {
    assert.equal(serverOfScript(`https://box.example${path}?x=1`), 'https://box.example', path);
    assert.equal(serverOfScript(`https://box.example/signals${path}`), 'https://box.example/signals', path);
  }
});

for (const [script, server] of [
  ['https://box.example/opentok.js', 'https://box.example'],
  ['https://box.example/v2/js/opentok.min.js', 'https://box.example'],
  ['https://box.example/v2.6/js/opentok.js?x=1', 'https://box.example'],
  ['http://localhost:8080/opentok/index.js', 'http://localhost:8080'],
  ['https://box.example/signals/v2/js/opentok.min.js', 'https://box.example/signals'],
  ['https://box.example/signals/opentok/index.js', 'https://box.example/signals'],
  ['https://box.example/dist/opentok.min.js', 'https://box.example'],
  ['https://box.example/assets/app.js', 'https://box.example'],
  ['file:///home/ada/opentok/index.js', null],
  ['', null],
  [undefined, null],
]) {
  test(`WIRE-1 a script from ${script} belongs to ${server}`, () => assert.equal(serverOfScript(script), server));
}

for (const [server, page, address] of [
  ['https://box.example', 'https:', 'wss://box.example/v1/signaling'],
  ['http://box.example:8080/', 'https:', 'ws://box.example:8080/v1/signaling'],
  ['wss://box.example/signals', 'https:', 'wss://box.example/signals/v1/signaling'],
  ['ws://box.example/v1/signaling', 'http:', 'ws://box.example/v1/signaling'],
  ['//box.example', 'http:', 'ws://box.example/v1/signaling'],
  ['localhost:8080', 'http:', 'ws://localhost:8080/v1/signaling'],
  ['box.example', 'https:', 'wss://box.example/v1/signaling'],
  ['ftp://box.example', 'https:', null],
  ['', 'https:', null],
  [null, 'https:', null],
]) {
  test(
    `WIRE-1 the socket of ${server} on a ${page} page is ${address}`,
    () => assert.equal(signalingAddress(server, page), address),
  );
}

for (const { name, sessionId, query } of vectorCases('addresses/sessions.json')) {
  test(`WIRE-17 the session in the address: ${name}`, () => {
    const address = 'wss://box.example/prefix/v1/signaling';
    assert.equal(addressOfSession(address, sessionId), address + query);
  });
}

test('WIRE-17 without a server there is no address', () => assert.equal(addressOfSession(null, '1_x'), null));
