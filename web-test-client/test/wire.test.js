import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeMessages, encodeMessage } from '../opentok/wire.js';

test('WIRE-3 one object per line, in order, empty lines ignored', () => {
  assert.deepEqual(decodeMessages('{"ev":"a"}\n\n{"ev":"b"}\n'), [{ ev: 'a' }, { ev: 'b' }]);
});

test('WIRE-9 a line that is no JSON object is undefined, and the lines around it count', () => {
  assert.deepEqual(decodeMessages('{"ev":"a"}\nnonsense\n[1]\nnull\n"x"\n{"ev":"b"}'), [{ ev: 'a' }, undefined, undefined, undefined, undefined, { ev: 'b' }]);
});

test('WIRE-3 no object spans lines, whatever stands in its strings', () => {
  const text = encodeMessage({ op: 'signal', data: 'one\ntwo\u2028three\u0000' });
  assert.equal(text.includes('\n'), false);
  assert.deepEqual(decodeMessages(text), [{ op: 'signal', data: 'one\ntwo\u2028three\u0000' }]);
});

test('WIRE-4 halves of surrogate pairs become U+FFFD, whole pairs stay', () => {
  assert.equal(JSON.parse(encodeMessage({ data: '\ud800' })).data, '\uFFFD');
  assert.equal(JSON.parse(encodeMessage({ data: 'x\udc00\ud800y😀' })).data, 'x\uFFFD\uFFFDy😀');
});
