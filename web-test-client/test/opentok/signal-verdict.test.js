import assert from 'node:assert/strict';
import test from 'node:test';
import { signalVerdict } from '../../opentok/api/signal/signal-verdict.js';

const target = { id: 'a target' };
const code = (options) => signalVerdict(options, (to) => to === target)?.code ?? null;

const dataCases = [
  ['8190 ASCII characters', 'a'.repeat(8190), null],
  ['8191 ASCII characters', 'a'.repeat(8191), 413],
  ['4095 quotes', '"'.repeat(4095), null],
  ['4096 quotes', '"'.repeat(4096), 413],
  ['4095 emoji', '😀'.repeat(4095), null],
  ['4096 emoji', '😀'.repeat(4096), 413],
  ['1365 control characters', '\u0001'.repeat(1365), null],
  ['1366 control characters', '\u0001'.repeat(1366), 413],
  ['8190 euro signs', '€'.repeat(8190), null],
  ['8191 euro signs', '€'.repeat(8191), 413],
  ['the empty string', '', null],
  ['an object', { a: 1 }, null],
  ['an array', [1, 2], null],
  ['a number', 5, null],
  ['false', false, null],
  ['null', null, 400],
  ['undefined', undefined, 400],
  ['a function, which OpenTok clones to an empty object', () => {}, null],
  ['a big integer', 10n, 400],
];

for (const [name, data, expected] of dataCases) {
  test(`SIG-3 data: ${name} → ${expected ?? 'accepted'}`, () => assert.equal(code({ data }), expected));
}

test('SIG-3 data: a cycle → 400', () => {
  const data = {};
  data.self = data;
  assert.equal(code({ data }), 400);
});

const typeCases = [
  ['a.b', null],
  ['a-b_c~d.E9', null],
  ['a b', 400],
  ['a:b', 400],
  ['é', 400],
  ['a\n', 400],
  ['', 400],
  ['x'.repeat(128), null],
  ['x'.repeat(129), 413],
  [' '.repeat(129), 413],
  [5, null],
  [null, 400],
  [undefined, 400],
];

for (const [type, expected] of typeCases) {
  const isLong = typeof type === 'string' && type.length > 20;
  const shown = isLong ? `${JSON.stringify(type[0])} × ${type.length}` : JSON.stringify(type);
  test(`SIG-2 type: ${shown} → ${expected ?? 'accepted'}`, () => assert.equal(code({ type }), expected));
}

for (const to of [null, undefined, '', 'a-connection-id', { connectionId: 'x' }]) {
  test(`SIG-4 to: ${JSON.stringify(to)} → 400`, () => assert.equal(code({ to }), 400));
}

test('SIG-4 to: what counts as a target is accepted', () => assert.equal(code({ to: target }), null));

for (const name of ['retryAfterReconnect', 'onlineOnly']) {
  test(`SIG-1 ${name} is true or false, or absent`, () => {
    assert.equal(code({ [name]: true }), null);
    assert.equal(code({ [name]: false }), null);
    for (const value of [undefined, null, 1, 'true']) assert.equal(code({ [name]: value }), 400);
  });
}

test('SIG-1 no options is a signal', () => assert.equal(code({}), null));

test('SIG-1 only own properties count', () => {
  assert.equal(code(Object.create({ type: '', data: null, to: null, retryAfterReconnect: 3 })), null);
});

test('SIG-5 checks run in the order data, to, type, retryAfterReconnect', () => {
  const options = { retryAfterReconnect: 3, type: 'x'.repeat(129), to: null, data: 'a'.repeat(8191) };
  const messages = [];
  for (const name of ['data', 'to', 'type', 'retryAfterReconnect']) {
    messages.push(signalVerdict(options, () => false).message);
    delete options[name];
  }
  assert.match(messages[0], /data/);
  assert.match(messages[1], /target/);
  assert.match(messages[2], /type/);
  assert.match(messages[3], /retryAfterReconnect/);
  assert.equal(signalVerdict(options, () => false), null);
});
