import assert from 'node:assert/strict';
import test from 'node:test';
import { FramePace } from '../../chat/views/frame-pace.js';

/** A page with frames by hand, and a pace that counts what it has shown. */
function page(t) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiting = [];
  globalThis.requestAnimationFrame = (callback) => waiting.push(callback);
  t.after(() => delete globalThis.requestAnimationFrame);
  const made = { shownCount: 0, frame: () => waiting.splice(0).forEach((callback) => callback()) };
  made.pace = new FramePace(() => (made.shownCount += 1));
  return made;
}

test('all changes before a frame are shown once, with the frame', (t) => {
  const made = page(t);
  for (let count = 0; count < 3; count += 1) made.pace.request(1);
  assert.equal(made.shownCount, 0);
  made.frame();
  made.frame();
  assert.equal(made.shownCount, 1);
  made.pace.request();
  made.frame();
  assert.equal(made.shownCount, 2);
});

test('after more rows than a user can read, the next frames are free for 120 ms', (t) => {
  const made = page(t);
  made.pace.request(11);
  made.frame();
  made.pace.request(1);
  made.frame();
  t.mock.timers.tick(119);
  made.frame();
  assert.equal(made.shownCount, 1);
  t.mock.timers.tick(1);
  made.frame();
  assert.equal(made.shownCount, 2);
  made.pace.request(10);
  made.frame();
  made.pace.request(1);
  made.frame();
  assert.equal(made.shownCount, 4);
});

test('a rest without changes ends without a frame', (t) => {
  const made = page(t);
  made.pace.request(11);
  made.frame();
  t.mock.timers.tick(120);
  made.frame();
  assert.equal(made.shownCount, 1);
  made.pace.request(1);
  made.frame();
  assert.equal(made.shownCount, 2);
});
