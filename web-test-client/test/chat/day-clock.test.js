import assert from 'node:assert/strict';
import test from 'node:test';
import { DayClock } from '../../chat/views/day-clock.js';

test('after the sleep of a computer, whose timers stand still, the days are right within a minute', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let changes = 0;
  const clock = new DayClock(() => (changes += 1));
  clock.run(new Date(2026, 2, 28, 9, 0).getTime(), true);
  context.mock.timers.tick(60_000);
  assert.equal(changes, 1);
});

test('the names of the days change when the day does, with one timer, and with none while nobody sees them', (context) => {
  const evening = new Date(2026, 2, 28, 23, 59, 50).getTime();
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: evening });
  let changes = 0;
  const clock = new DayClock(() => (changes += 1));
  clock.run(Date.now(), true);
  clock.run(Date.now(), true);
  context.mock.timers.tick(9999);
  assert.equal(changes, 0);
  context.mock.timers.tick(1);
  assert.equal(changes, 1);
  clock.run(Date.now(), true);
  clock.run(Date.now(), false);
  context.mock.timers.tick(48 * 3600_000);
  assert.equal(changes, 1);
});
