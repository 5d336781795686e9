import assert from 'node:assert/strict';
import test from 'node:test';
import { vectorFolder } from '../../test-support/vectors.js';
import { Composer } from '../../text-chat/sending/composer.js';
import { TextChatComponent } from '../../text-chat/text-chat-component.js';

for (const vector of vectorFolder('length')) {
  test(`CHAT ${vector.name}`, () => {
    const { maxLength, unit, sendsBlankText, form } = vector;
    const { repeat } = vector.text;
    const text = Array.isArray(repeat) ? repeat[0].repeat(repeat[1]) : vector.text;
    const chat = new TextChatComponent({
      composer: new Composer({ maxLength, unit, sendsBlankText }),
      channel: { connectionId: vector.isConnected === false ? null : 'me' },
      wireForm: form,
    });
    chat.senderId = 'me';
    const result = chat.edit(text);
    if (vector.excess !== undefined) {
      assert.deepEqual(result, { isAccepted: false, excess: vector.excess, remaining: maxLength });
      assert.equal(chat.draft, '');
      return;
    }
    assert.equal(result.isAccepted, true);
    if (vector.lowered !== undefined) chat.composer.maxLength = vector.lowered;
    assert.equal(chat.remaining, vector.remaining);
    if (vector.refusal === undefined) return;
    assert.deepEqual(chat.refusal(), refusalOf(vector.refusal));
    assert.equal(chat.canSend, vector.refusal === null);
  });
}

function refusalOf(written) {
  if (written === null) return null;
  if (typeof written === 'string') return { reason: written };
  const [[reason, excess]] = Object.entries(written);
  return { reason, excess };
}

test('CHAT the longest text is 1000 graphemes by default', () => {
  const composer = new Composer();
  assert.deepEqual([composer.maxLength, composer.unit], [1000, 'graphemes']);
});

test('CHAT a lowered limit trims nothing: remaining is negative, and only edits within the limit are accepted', () => {
  const composer = new Composer();
  composer.edit('hello');
  composer.maxLength = 3;
  assert.deepEqual([composer.text, composer.remaining], ['hello', -2]);
  assert.deepEqual(composer.edit('hell'), { isAccepted: false, excess: 1, remaining: -2 });
  assert.equal(composer.edit('hel').remaining, 0);
  composer.maxLength = -5;
  assert.equal(composer.maxLength, 0);
  assert.equal(composer.edit('').isAccepted, true);
});
