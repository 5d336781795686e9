import assert from 'node:assert/strict';
import test from 'node:test';
import { Reconnection } from '../../page/reconnection.js';
import { pageWords } from '../../page/words.js';

const words = await pageWords(['en']);

test('the report counts the missed messages up to the end of the replay', () => {
  const reconnection = new Reconnection();
  assert.equal(reconnection.textIn(words), null);
  reconnection.began(1000);
  reconnection.began(1200);
  reconnection.entered({ replayThrough: 5 });
  reconnection.reconnected('resumed', 1400);
  assert.equal(reconnection.textIn(words), 'Connected again after 0.4 seconds · nothing lost');
  assert.deepEqual([4, 5, 6, null].map((seq) => reconnection.received(seq)), [true, true, false, false]);
  assert.equal(reconnection.textIn(words), 'Connected again after 0.4 seconds · 2 missed messages loaded · nothing lost');
});

test('RES-16 the report says how many messages are lost at most, if the server knows it', () => {
  const reconnection = new Reconnection();
  reconnection.began(0);
  reconnection.entered({ missing: { first: 3, last: 7 } });
  reconnection.reconnected('lost', 2000);
  assert.equal(reconnection.textIn(words), 'Connected again after 2 seconds · at most 5 messages lost');
  reconnection.began(5000);
  reconnection.entered({});
  reconnection.reconnected('lost', 6000);
  assert.equal(reconnection.textIn(words), 'Connected again after 1 second · earlier messages may be lost');
});

test('a new loss and the end of the connection remove the report', () => {
  const reconnection = new Reconnection();
  reconnection.began(0);
  reconnection.reconnected('resumed', 10);
  reconnection.began(20);
  assert.equal(reconnection.textIn(words), null);
  reconnection.reconnected('resumed', 30);
  reconnection.ended();
  assert.equal(reconnection.textIn(words), null);
  assert.equal(reconnection.received(1), false);
});

test('the report is in the language of the reader', async () => {
  const reconnection = new Reconnection();
  reconnection.began(0);
  reconnection.entered({ replayThrough: 2 });
  reconnection.reconnected('resumed', 1500);
  reconnection.received(1);
  reconnection.received(2);
  const report = async (language) => reconnection.textIn(await pageWords([language])).replace(/[\u00a0\u2066-\u2069]/g, ' ');
  assert.equal(await report('de'), 'Wieder verbunden nach 1,5 Sekunden · 2 verpasste Nachrichten geladen · nichts verloren');
  assert.match(await report('ar-EG'), /^[^a-z]*حُمّلت رسالتان فائتتان[^a-z]*$/i);
});
