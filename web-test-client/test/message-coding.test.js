import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeSignal, encodeMessage } from '../text-chat/message-coding.js';

const ada = { connectionId: 'ada-id', data: 'Ada' };
const read = (data, from = ada, type = 'text-chat') => decodeSignal({ type, data, from, receivedAt: 42 });

test('CHAT a message is JSON with text, sender, sentOn and our localId; sentOn is an integer', () => {
  const text = encodeMessage({ text: 'hi "you"', senderId: 'ada-id', alias: 'Ada', sentAt: 1700000000000.7, localId: 'l1' });
  assert.deepEqual(JSON.parse(text), { text: 'hi "you"', sender: { id: 'ada-id', alias: 'Ada' }, sentOn: 1700000000001, localId: 'l1' });
});

test('CHAT what is written is read back', () => {
  const message = { text: 'hi\n😀', senderId: 'ada-id', alias: 'Ada', sentAt: 1700000000000, localId: 'l1' };
  assert.deepEqual(read(encodeMessage(message)), message);
});

test('CHAT any key order, fractional time, pretty printing and unknown keys are read', () => {
  const data = '{\n "customData": {"a": 1}, "sentOn": 1700000000000.25, "sender": {"alias": "A", "id": "x"}, "text": "hi"}';
  assert.deepEqual(read(data), { text: 'hi', senderId: 'ada-id', alias: 'Ada', sentAt: 1700000000000.25, localId: null });
});

test('CHAT everything but the text may be missing or of another type', () => {
  const bare = { connectionId: 'x', data: '' };
  for (const data of ['{"text":"hi"}', '{"text":"hi","sender":null,"sentOn":"now","localId":7}', '{"text":"hi","sender":"me","sentOn":9e99}']) {
    assert.deepEqual(read(data, bare), { text: 'hi', senderId: 'x', alias: null, sentAt: 42, localId: null });
  }
});

test('CHAT what has no text is no message', () => {
  for (const data of [undefined, '', 'not json', 'null', '[]', '5', '{}', '{"text":5}']) assert.equal(read(data), null, data);
});

test('G8 the sender is who the server says, whatever the data claims; nobody for a signal by REST', () => {
  const claims = '{"text":"hi","sender":{"id":"eve","alias":"Eve"}}';
  assert.deepEqual([read(claims).senderId, read(claims).alias], ['ada-id', 'Ada']);
  assert.deepEqual([read(claims, null).senderId, read(claims, null).alias], [null, 'Eve']);
});

test('CHAT bare text under TextChat is a message; other types are none', () => {
  assert.deepEqual(read('hi', ada, 'TextChat'), { text: 'hi', senderId: 'ada-id', alias: 'Ada', sentAt: 42, localId: null });
  assert.equal(read(undefined, ada, 'TextChat'), null);
  assert.equal(read('{"text":"hi"}', ada, 'chat'), null);
  assert.equal(decodeSignal({ data: '{"text":"hi"}', from: ada, receivedAt: 42 }), null);
});
