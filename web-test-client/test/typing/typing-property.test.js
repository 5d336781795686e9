// TYP case 27: random scenarios of two to four users who type to each other over a network that loses, delays and
// repeats signals.

import assert from 'node:assert/strict';
import test from 'node:test';
import { typingPolicy } from '../../text-chat/typing/typing-policy.js';
import { TypingRoster } from '../../text-chat/typing/typing-roster.js';
import { TypingSender } from '../../text-chat/typing/typing-sender.js';

const SCENARIOS = 20_000;
const PLAIN = typingPolicy('standard', { linger: null });
const [GAP, REFRESH, BEGIN_EXPIRY, PAUSE_EXPIRY] = [1000, 4000, 10_000, 15_000];

test('TYP case 27: in random scenarios every typing user stops being shown', () => {
  for (let seed = 1; seed <= SCENARIOS; seed += 1) {
    const { fault, trace } = runScenario(seed);
    assert.ok(fault === null, `seed ${seed}: ${fault}\n${trace.join('\n')}`);
  }
});

function runScenario(seed) {
  const random = generator(seed);
  const number = (from, to) => from + Math.floor(random() * (to - from + 1));
  const chance = (percent) => random() * 100 < percent;
  const trace = [];
  let fault = null;
  const expect = (isTrue, what) => {
    if (!isTrue) fault ??= what;
  };

  const randomPolicy = () =>
    typingPolicy('standard', {
      linger: chance(30) ? null : number(1, 2000),
      minimumShow: chance(40) ? null : number(1, BEGIN_EXPIRY),
    });
  const makePerson = (index, policy) => ({
    index,
    policy,
    sender: new TypingSender(),
    roster: new TypingRoster({ policy, ownConnection: `${index}.0` }),
    // The same roster without linger: the true state.
    truth: new TypingRoster({ policy: PLAIN, ownConnection: `${index}.0` }),
    typingSince: new Map(),
    stoppedAt: new Map(),
    generation: 0,
    text: '',
    isConnected: true,
    isOptedOut: false,
    lastKeyAt: -Infinity,
    lastSignalAt: -Infinity,
    standingBeginAt: -Infinity,
    receivedAt: { begin: -Infinity, pause: -Infinity, finish: -Infinity },
  });
  const people = Array.from({ length: number(2, 4) }, (_, index) => makePerson(index, randomPolicy()));
  const idOf = (person) => `${person.index}.${person.generation}`;
  let deliveries = [];

  const carry = (now, to, deliver, loss) => {
    if (chance(loss)) return;
    for (let copies = chance(10) ? 2 : 1; copies > 0; copies -= 1) {
      deliveries.push({ at: now + number(5, 900), to, deliver });
    }
  };
  const noteTruth = (person, at) => {
    const names = new Set(person.truth.current.typing.map(({ name }) => name));
    for (const name of names) {
      person.stoppedAt.delete(name);
      if (!person.typingSince.has(name)) person.typingSince.set(name, at);
    }
    for (const name of person.typingSince.keys()) {
      if (!names.has(name) && !person.stoppedAt.has(name)) person.stoppedAt.set(name, at);
    }
    return names;
  };
  // Applies the input to both rosters. A person shown as typing is typing, or stopped within the linger.
  const apply = (person, now, input, endOf = null) => {
    const snapshot = input(person.roster);
    for (let at = person.truth.nextDeadline; at !== null && at <= now; at = person.truth.nextDeadline) {
      person.truth.advance(at);
      noteTruth(person, at);
    }
    input(person.truth);
    const truly = noteTruth(person, now);
    const shown = new Set(person.roster.current.typing.map(({ name }) => name));
    for (const name of truly) expect(shown.has(name), 'a typing person is not shown');
    for (const name of shown) {
      if (truly.has(name)) continue;
      const { linger, minimumShow } = person.policy;
      const until = Math.max(
        person.stoppedAt.get(name) + (linger ?? 0), person.typingSince.get(name) + (minimumShow ?? 0)
      );
      expect(now < until, 'a person is shown for too long');
      expect(endOf !== name, 'a person is shown as typing beside their message');
    }
    for (const name of person.typingSince.keys()) if (!shown.has(name)) person.typingSince.delete(name);
    return snapshot;
  };
  const others = (person) => people.filter((other) => other !== person);
  const checkSent = (person, now, signals) => {
    for (const signal of signals) {
      trace.push(`${now}: ${person.index} signals ${signal.action} ${signal.n}`);
      expect(person.isConnected, 'a signal without a connection');
      expect(now - person.lastSignalAt >= GAP, 'two signals within a second');
      if (signal.action === 'begin') {
        expect(!person.isOptedOut, 'a begin after opting out');
        expect(now - person.lastKeyAt <= GAP, 'a begin without a key');
        expect(now - person.standingBeginAt >= REFRESH, 'a refresh too early');
      }
      person.lastSignalAt = now;
      person.standingBeginAt = signal.action === 'begin' ? now : -Infinity;
      const from = idOf(person);
      for (const other of people) {
        const deliver = (at) => {
          other.receivedAt[signal.action] = at;
          return apply(
            other, at, (roster) => roster.handle({ kind: 'signal', ...signal, from, user: `user ${person.index}` }, at)
          );
        };
        carry(now, other, deliver, 15);
      }
    }
  };
  const checkShown = (person, now, snapshot) => {
    const { typing, paused } = person.roster.current;
    const names = [...typing, ...paused].map(({ name }) => name);
    if (snapshot) trace.push(`${now}:   ${person.index} sees ${names.join(', ') || 'nobody'}`);
    expect(new Set(names).size === names.length, 'a person is shown twice');
    const longest = BEGIN_EXPIRY + (person.policy.linger ?? 0);
    expect(
      typing.length === 0 || now < person.receivedAt.begin + longest,
      'a person is shown as typing after expiry and linger',
    );
    expect(
      paused.length === 0 || now < person.receivedAt.pause + PAUSE_EXPIRY,
      'a person is shown as paused after the expiry',
    );
  };
  const steps = [
    [9, 'types', (person, now) => {
      person.text += 'a';
      person.lastKeyAt = now;
      checkSent(person, now, person.sender.handle({ kind: 'draftEdited', text: person.text }, now));
    }],
    [2, 'clears', (person, now) => {
      person.text = '';
      checkSent(person, now, person.sender.handle({ kind: 'draftEdited', text: '' }, now));
    }],
    [3, 'sends a message', (person, now) => {
      person.text = '';
      person.standingBeginAt = -Infinity;
      checkSent(person, now, person.sender.handle({ kind: 'messageSubmitted' }, now));
      const [from, n] = [idOf(person), person.sender.lastN];
      if (person.isConnected) {
        const end = `user ${person.index}`;
        for (const other of people) {
          carry(
            now,
            other,
            (at) => apply(other, at, (roster) => roster.handle({ kind: 'messageReceived', from, typingN: n }, at), end),
            0,
          );
        }
      }
    }],
    [1, 'pauses', (person, now) => {
      checkSent(person, now, person.sender.handle({ kind: 'send', action: 'pause' }, now));
    }],
    [1, 'leaves', (person, now) => checkSent(person, now, person.sender.handle({ kind: 'leave' }, now))],
    [1, 'opts out or in', (person, now) => {
      person.isOptedOut = !person.isOptedOut;
      checkSent(person, now, person.sender.handle({ kind: 'optedOut', value: person.isOptedOut }, now));
    }],
    [1, 'receives a failure', (person, now) => {
      person.standingBeginAt = -Infinity;
      checkSent(person, now, person.sender.handle({ kind: 'publishFailed', n: person.sender.lastN }, now));
    }],
    [2, 'loses or regains its connection', (person, now) => {
      person.isConnected = !person.isConnected;
      person.standingBeginAt = -Infinity;
      if (person.isConnected) {
        if (chance(50)) person.generation += 1;
        checkSent(person, now, person.sender.handle({ kind: 'connected', id: idOf(person) }, now));
        checkShown(
          person, now, apply(person, now, (roster) => roster.handle({ kind: 'connected', id: idOf(person) }, now))
        );
      } else {
        checkSent(person, now, person.sender.handle({ kind: 'connectionLost' }, now));
        const id = idOf(person);
        for (const other of others(person)) {
          carry(
            now, other, (at) => apply(other, at, (roster) => roster.handle({ kind: 'connectionDestroyed', id }, at)), 30
          );
        }
      }
    }],
  ];
  const dice = steps.flatMap(([weight, what, act]) => Array(weight).fill([what, act]));

  let left = number(6, 16);
  let nextStepAt = 0;
  for (let turns = 0; fault === null; turns += 1) {
    expect(turns < 3000, 'the scenario does not end');
    let next = left > 0 ? { at: nextStepAt } : { at: Infinity };
    for (const person of people) {
      const { sender, roster } = person;
      if (sender.nextDeadline !== null && sender.nextDeadline < next.at) {
        next = { at: sender.nextDeadline, person, sender };
      }
      if (roster.nextDeadline !== null && roster.nextDeadline < next.at) {
        next = { at: roster.nextDeadline, person, roster };
      }
    }
    for (const delivery of deliveries) if (delivery.at < next.at) next = { at: delivery.at, delivery };
    const { at, person, sender, roster, delivery } = next;
    if (at === Infinity) break;
    if (sender) checkSent(person, at, sender.advance(at));
    else if (roster) checkShown(person, at, apply(person, at, (each) => each.advance(at)));
    else if (delivery) {
      deliveries = deliveries.filter((other) => other !== delivery);
      checkShown(delivery.to, at, delivery.deliver(at));
    } else {
      left -= 1;
      nextStepAt = at + (chance(60) ? number(20, 900) : number(1000, 7000));
      const [what, act] = dice[number(0, dice.length - 1)];
      const person = people[number(0, people.length - 1)];
      trace.push(`${at}: ${person.index} ${what}`);
      act(person, at);
    }
  }
  for (const { roster } of people) {
    expect(roster.current.typingCount + roster.current.pausedCount === 0, 'a person is still shown at the end');
  }
  return { fault, trace };
}

/** A generator of random numbers below 1: the same seed gives the same numbers (mulberry32, public domain). */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
