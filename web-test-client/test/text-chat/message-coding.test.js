import assert from 'node:assert/strict';
import test from 'node:test';
import { vectorCases } from '../../test-support/vectors.js';
import { CHAT_TYPE, decodeSignal, encodeMessage } from '../../text-chat/wire/chat-wire-form.js';

for (const { name, signal, now, message, messageData = null } of vectorCases('chat/received.json')) {
  test(`CHAT ${name}`, () => {
    const from = signal.from === undefined ? null : {
      connectionId: signal.from, data: signal.senderData ?? '', user: signal.user ?? null,
    };
    const read = decodeSignal({ type: signal.type, data: signal.data, from, receivedAt: now });
    if (message === null) {
      assert.equal(read, null);
      return;
    }
    const { text, senderId, user, alias, sentAt, localId } = read;
    assert.deepEqual({ text, senderId, user, alias, sentAt, localId }, { user: null, ...message });
    assert.deepEqual(read.data, messageData);
  });
}

const message = { text: 'hi\n"😀"', senderId: 'ada-id', alias: 'Ada', sentAt: 1700000000000, localId: 'l1' };
const ada = { connectionId: 'ada-id', data: 'Ada' };

test('CHAT-1 a message is JSON with text, sender, sentOn and localId; sentOn is an integer', () => {
  const text = encodeMessage({ ...message, text: 'hi "you"', sentAt: 1700000000000.7 });
  assert.equal(
    text, '{"text":"hi \\"you\\"","sender":{"id":"ada-id","alias":"Ada"},"sentOn":1700000000001,"localId":"l1"}'
  );
});

test('CHAT a written message is read back; members without a value are not written', () => {
  for (const type of ['text-chat', 'TextChat']) {
    const read = decodeSignal({ type, data: encodeMessage(message, type), from: ada, receivedAt: 1700000000000 });
    assert.equal(read.text, message.text);
    assert.equal(read.localId, type === 'text-chat' ? 'l1' : null);
  }
  assert.equal(encodeMessage({ text: 'hi' }), '{"text":"hi","sender":{}}');
});

test('WIRE-4 a lone surrogate is replaced before it is sent', () => {
  assert.equal(encodeMessage({ text: 'a\ud800b😀' }), '{"text":"a\ufffdb😀","sender":{}}');
  assert.equal(encodeMessage({ text: '\udc00' }, 'TextChat'), '\ufffd');
});

test('CHAT a signal without a type is no message', () => {
  assert.equal(decodeSignal({ data: '{"text":"hi"}', from: ada, receivedAt: 42 }), null);
});

test('CHAT-12 without a seq, too, what a message answers is a seq', () => {
  const reOf = (re) => decodeSignal({ type: CHAT_TYPE, data: JSON.stringify({ text: 'x', re }), from: null, receivedAt: 0 }).replyTo;
  assert.deepEqual([1, 2 ** 53, 2 ** 54, 1.5, '1', 0].map(reOf), [1, 2 ** 53, null, null, null, null]);
});
