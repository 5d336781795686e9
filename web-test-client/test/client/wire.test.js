import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeMessages, encodeMessage } from '../../client/wire/wire.js';

const ping = (seq) => ({ is: 'received', message: { ev: 'ping', seq } });

test('WIRE-3 one object per line, in order, empty lines ignored', () => {
  assert.deepEqual(decodeMessages('{"ev":"ping","seq":1}\n\n{"ev":"ping","seq":2}\n'), [ping(1), ping(2)]);
});

test('G4 a line that is no event is malformed, and the lines around it are read', () => {
  const malformed = { is: 'receivedMalformed', event: null };
  const text = '{"ev":"ping","seq":1}\nnonsense\n[1]\nnull\n"x"\n{}\n{"ev":5}\n{"ev":"ping","seq":2}';
  assert.deepEqual(decodeMessages(text), [
    ping(1), ...Array(6).fill(malformed), ping(2),
  ]);
});

test('G4 an event without its members is malformed under its name', () => {
  assert.deepEqual(decodeMessages('{"ev":"signal","seq":3}'), [{ is: 'receivedMalformed', event: 'signal' }]);
});

test('WIRE-6 an event of a later protocol is unknown', () => {
  assert.deepEqual(decodeMessages('{"ev":"somethingNew","seq":9}'), [{ is: 'receivedUnknown' }]);
});

test('WIRE-3 no object spans lines, even with line breaks in its strings', () => {
  const message = { ev: 'signal', from: null, data: 'one\ntwo\u2028three\u0000' };
  const text = encodeMessage(message);
  assert.equal(text.includes('\n'), false);
  assert.deepEqual(decodeMessages(text), [{ is: 'received', message }]);
});

test('WIRE-4 halves of surrogate pairs become U+FFFD, whole pairs stay', () => {
  assert.equal(JSON.parse(encodeMessage({ data: '\ud800' })).data, '\uFFFD');
  assert.equal(JSON.parse(encodeMessage({ data: 'x\udc00\ud800y😀' })).data, 'x\uFFFD\uFFFDy😀');
});
