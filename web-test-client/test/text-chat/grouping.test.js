import assert from 'node:assert/strict';
import test from 'node:test';
import { lineOf, messageOf } from '../../test-support/timeline-lines.js';
import { vectorFolder } from '../../test-support/vectors.js';
import { OPENTOK_RULE, STANDARD_RULE } from '../../text-chat/timeline/grouping-rule.js';
import { openTokRows } from '../../text-chat/timeline/open-tok-row.js';
import { ChatTimeline } from '../../text-chat/timeline/chat-timeline.js';

for (const { name, rule, messages, rows } of vectorFolder('grouping')) {
  test(`CHAT ${name}`, () => {
    const isOpenTok = rule === 'openTok';
    const timeline = new ChatTimeline({ rule: isOpenTok ? OPENTOK_RULE : STANDARD_RULE });
    timeline.isVisible = true;
    for (const each of messages) {
      const message = messageOf({ ...each, receivedAt: each.at });
      if (message.state === 'sent') timeline.insert(message, each.at ?? 0);
      else timeline.appendPending(message, each.at ?? 0);
    }
    const kinds = isOpenTok ? openTokRows(timeline.rows).map(({ kind }) => kind) : timeline.rows.map(lineOf);
    assert.deepEqual(kinds, rows);
  });
}

test('CHAT OpenTok’s rows carry their messages, and dividers none; each row has its own id', () => {
  const timeline = new ChatTimeline({ rule: OPENTOK_RULE });
  for (const senderId of ['a', 'b']) timeline.insert(messageOf({ senderId }), 0);
  const rows = openTokRows(timeline.rows);
  assert.deepEqual(rows.map(({ message }) => message?.senderId), ['a', undefined, 'b', undefined]);
  assert.equal(new Set(rows.map(({ id }) => id)).size, 4);
});
