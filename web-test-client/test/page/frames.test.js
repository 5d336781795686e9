import assert from 'node:assert/strict';
import test from 'node:test';
import { entriesOf } from '../../page/inspector/frames.js';

test('WIRE-3 each line of a message is an entry with its seq, type, ends and size', () => {
  const line = '{"ev":"signal","seq":7,"from":"a","to":"b","type":"chat","data":"ü"}';
  const [signal, ack] = entriesOf('in', `${line}\n{"ev":"ack","id":2,"seq":7}\n`, 5);
  assert.deepEqual({ ...signal, message: null }, {
    direction: 'in', at: 5, seq: 7, type: 'signal:chat', from: 'a', to: 'b', size: line.length + 1, raw: line,
    message: null,
  });
  assert.equal(ack.type, 'ack');
});

test('the size of a line is in bytes of UTF-8', () => {
  const text = '{"ev":"a~\u007f\u0080ü\u07ff\u0800€\uffff😀"}';
  assert.equal(entriesOf('in', text, 0)[0].size, new TextEncoder().encode(text).length);
});

test('a token is hidden if the letters of its name are escaped', () => {
  const line = '{"op":"connect","\\u0074oken":"T1==hidden"}';
  assert.ok(!JSON.stringify(entriesOf('out', line, 0)).includes('hidden"'));
});

test('tokens and secrets are in no entry, also not in nested members', () => {
  const connect = JSON.stringify({ op: 'connect', token: 'T1==hidden', resume: { secret: 'hidden', after: 3 } });
  const connection = { connectionId: 'a' };
  const connected = JSON.stringify({ ev: 'connected', connection, resume: { secret: 'hidden' } });
  for (const entry of [...entriesOf('out', connect, 0), ...entriesOf('in', connected, 0)]) {
    assert.ok(!JSON.stringify(entry).includes('hidden"'), entry.raw);
    assert.ok(entry.raw.includes('(hidden)'));
  }
});

test('the word token in a text is not a secret', () => {
  const line = '{"ev":"signal","seq":1,"from":"a","data":"{\\"token\\":\\"x\\"}"}';
  assert.equal(entriesOf('in', line, 0)[0].raw, line);
});

test('a malformed line is an entry, and a binary message is none', () => {
  for (const line of ['{', '[]', 'null', '"text"', '17']) {
    const [entry] = entriesOf('in', line, 0);
    assert.deepEqual([entry.type, entry.raw, entry.message], ['malformed', line, null]);
  }
  assert.deepEqual(entriesOf('in', new ArrayBuffer(3), 0), []);
});
