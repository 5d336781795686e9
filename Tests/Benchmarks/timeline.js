// Measures the cost of appending one message and making its changes, behind a short and behind a long history.
import { ChatTimeline } from '../../web-test-client/text-chat/timeline/chat-timeline.js';

function nanosecondsPerMessage(count, limit) {
  const runLength = 500;
  // The best of several runs, since other load on the machine only adds time.
  let best = Infinity;
  for (let run = 0; run < 15; run += 1) {
    const timeline = new ChatTimeline({ limit });
    for (let number = 0; number < count; number += 1) append(timeline, number);
    const before = process.hrtime.bigint();
    for (let number = count; number < count + runLength; number += 1) append(timeline, number);
    best = Math.min(best, Number(process.hrtime.bigint() - before) / runLength);
  }
  return Math.round(best);
}

function append(timeline, number) {
  const message = {
    text: `message ${number}`,
    senderId: number % 3 === 0 ? 'a' : 'b',
    localId: String(number),
    seq: number + 1,
    direction: 'received',
  };
  if (timeline.insert(message, number * 30_000).length === 0) throw new Error('nothing has changed');
}

nanosecondsPerMessage(1000, 1000);
for (const [name, isFull] of [['append', false], ['append, the oldest dropped', true]]) {
  const short = nanosecondsPerMessage(100, isFull ? 100 : Infinity);
  const long = nanosecondsPerMessage(10_000, isFull ? 10_000 : Infinity);
  console.log(`${name}: ${short} ns behind 100 messages, ${long} ns behind 10,000, ratio ${(long / short).toFixed(2)}`);
}
