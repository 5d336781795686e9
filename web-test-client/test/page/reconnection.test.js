import assert from 'node:assert/strict';
import test from 'node:test';
import { Reconnection } from '../../page/reconnection.js';

test('the report counts the missed messages up to the end of the replay', () => {
  const reconnection = new Reconnection();
  assert.equal(reconnection.text, null);
  reconnection.began(1000);
  reconnection.began(1200);
  reconnection.entered({ replayThrough: 5 });
  reconnection.reconnected('resumed', 1400);
  assert.equal(reconnection.text, 'Back in 0.4 s · 0 caught up · 0 lost');
  assert.deepEqual([4, 5, 6, null].map((seq) => reconnection.received(seq)), [true, true, false, false]);
  assert.equal(reconnection.text, 'Back in 0.4 s · 2 caught up · 0 lost');
});

test('RES-16 the report names how many events are lost, if the server knows it', () => {
  const reconnection = new Reconnection();
  reconnection.began(0);
  reconnection.entered({ missing: { first: 3, last: 7 } });
  reconnection.reconnected('lost', 2000);
  assert.equal(reconnection.text, 'Back in 2.0 s · 0 caught up · 5 events lost');
  reconnection.began(5000);
  reconnection.entered({});
  reconnection.reconnected('lost', 6000);
  assert.equal(reconnection.text, 'Back in 1.0 s · 0 caught up · earlier messages may be lost');
});

test('a new loss and the end of the connection remove the report', () => {
  const reconnection = new Reconnection();
  reconnection.began(0);
  reconnection.reconnected('resumed', 10);
  reconnection.began(20);
  assert.equal(reconnection.text, null);
  reconnection.reconnected('resumed', 30);
  reconnection.ended();
  assert.equal(reconnection.text, null);
  assert.equal(reconnection.received(1), false);
});
