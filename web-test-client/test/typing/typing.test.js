import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { vectorCases, vectorFile } from '../../test-support/vectors.js';
import { runComponentScript } from '../../test-support/scripts/component-script.js';
import { runTypingScript } from '../../test-support/scripts/typing-script.js';
import { TYPING_ACTIONS, decodeTyping, encodeTyping } from '../../text-chat/wire/typing-signal.js';
import { TypingPolicyError, typingPolicy } from '../../text-chat/typing/typing-policy.js';
import { TYPING_PRESETS } from '../../text-chat/typing/typing-presets.js';
import { CONNECTION_LIMIT, TypingRoster } from '../../text-chat/typing/typing-roster.js';
import { typingChanges } from '../../text-chat/typing/typing-snapshot.js';
import { TypingIndicator } from '../../text-chat/typing/typing-indicator.js';
import { TypingSender } from '../../text-chat/typing/typing-sender.js';
import { typingPhrase, typingPhraseLadder, typingText } from '../../text-chat/typing/typing-phrase.js';

const checks = {
  script(vector) {
    const found = runTypingScript(vector);
    assert.deepEqual(found.signals, vector.signals);
    assert.deepEqual(found.snapshots, vector.snapshots);
    assert.deepEqual(found.unexpected, []);
    assert.ok(found.requests.every((request) => request.onlineOnly), 'online-only');
    assert.deepEqual(found.numbers, found.numbers.map((_, index) => index + 1));
  },
  async component(vector) {
    const found = await runComponentScript(vector);
    assert.deepEqual(found.signals, vector.signals);
    assert.deepEqual(found.snapshots, vector.snapshots);
  },
  values({ word, value }) {
    assert.equal(TYPING_ACTIONS[word], value);
  },
  read({ type, data, read }) {
    const found = decodeTyping({ type, data });
    assert.deepEqual(found, read && { action: read.action, n: read.n ?? null });
  },
  write({ wireForm, action, n, to, type, data }) {
    const request = encodeTyping({ action, n, to }, wireForm);
    const members = Object.entries({ type, data, onlineOnly: true, to }).filter(([, value]) => value !== undefined);
    assert.deepEqual(request, Object.fromEntries(members));
  },
  policy({ preset, changes, strict, refused, setting }) {
    const make = () => typingPolicy(preset, changes, { isStrict: strict });
    if (!refused) return make();
    assert.throws(
      make, (error) => error instanceof TypingPolicyError && error.code === refused && error.setting === setting
    );
  },
  preset({ name, settings }) {
    assert.deepEqual(TYPING_PRESETS[name], settings);
  },
  phrase({ names, count, limits, key, shown, others, en, zh }) {
    const found = typingPhrase(names, { count, limits });
    assert.deepEqual(found, { key, names: shown, count: others });
    assert.equal(typingText(found), en);
    assert.equal(typingText(found, 'zh-Hans-CN'), zh);
  },
  ladder({ names, count, limits, steps }) {
    assert.deepEqual(typingPhraseLadder(names, { count, limits }).map((step) => typingText(step, 'en')), steps);
  },
};

// Runs all files in the folders. Swift reads the same cases.
for (const folder of ['typing', 'phrases']) {
  const files = readdirSync(
    new URL(`../../../Tests/Vectors/${folder}/`, import.meta.url)
  ).filter((file) => file.endsWith('.json'));
  assert.ok(files.length > 0);
  for (const file of files) {
    const { case: number, kind } = vectorFile(`${folder}/${file}`);
    for (const vector of vectorCases(`${folder}/${file}`)) {
      test(`TYP case ${number}, ${file}: ${vector.name}`, () => checks[kind](vector));
    }
  }
}

test('TYP every preset has a vector', () => {
  const names = vectorCases('typing/33-presets.json').map(({ name }) => name);
  assert.deepEqual(Object.keys(TYPING_PRESETS), names);
});

test('TYP the presets are valid, and a changed copy leaves the preset as it was', () => {
  for (const name of Object.keys(TYPING_PRESETS)) assert.deepEqual(typingPolicy(name), TYPING_PRESETS[name]);
  assert.equal(typingPolicy('layer', { refresh: 4000 }).refresh, 4000);
  assert.equal(TYPING_PRESETS.layer.refresh, 5000);
});

test('TYP case 28: a setting has to be a number', () => {
  for (const value of [NaN, Infinity, '5000', undefined, null]) {
    assert.throws(() => typingPolicy('standard', { refresh: value }), TypingPolicyError, String(value));
  }
});

test('TYP case 28: unknown settings and values of another type are refused by name', () => {
  const refused = (base, changes, code, setting) =>
    assert.throws(
      () => typingPolicy(base, changes),
      (error) => error instanceof TypingPolicyError && error.code === code && error.setting === setting,
    );
  refused('standard', { refesh: 3000 }, 'unknown', 'refesh');
  refused('standrad', {}, 'unknown', 'preset');
  refused('toString', {}, 'unknown', 'preset');
  refused('standard', { isReciprocal: 'no' }, 'wrongKind', 'isReciprocal');
  refused('standard', { wireForm: 'TypingEnd' }, 'wrongKind', 'wireForm');
});

test('TYP case 26: ten thousand people who type are counted, fifty are named, and more are not followed', () => {
  const roster = new TypingRoster();
  for (let number = 0; number < CONNECTION_LIMIT + 500; number += 1) {
    roster.handle({ kind: 'signal', action: 'begin', n: 1, from: `c${number}`, user: null }, 0);
  }
  assert.equal(roster.current.typingCount, CONNECTION_LIMIT);
  assert.equal(roster.current.typing.length, 50);
  roster.handle({ kind: 'connectionDestroyed', id: 'c0' }, 1);
  assert.equal(roster.current.typing[0].connectionId, 'c1');
  assert.equal(roster.advance(10_000), null, 'they linger');
  assert.equal(roster.advance(11_500).typingCount, 0);
  assert.equal(roster.nextDeadline, null);
});

test('TYP case 26: remembered numbers make room for people who type', () => {
  const roster = new TypingRoster();
  for (let number = 0; number < CONNECTION_LIMIT; number += 1) {
    roster.handle({ kind: 'messageReceived', from: `c${number}`, typingN: 1 }, 0);
  }
  roster.handle({ kind: 'signal', action: 'begin', n: 1, from: 'new', user: 'Ada' }, 1);
  assert.equal(roster.current.typingCount, 1);
});

test('TYP case 25: two rosters with the same inputs have the same snapshot', () => {
  const rosters = [new TypingRoster(), new TypingRoster()];
  const seen = rosters.map((roster) => [
    roster.handle({ kind: 'signal', action: 'begin', n: 1, from: 'x', user: 'Ada' }, 0),
    roster.handle({ kind: 'signal', action: 'begin', n: 1, from: 'y', user: 'Bob' }, 5),
    roster.handle({ kind: 'messageReceived', from: 'x', typingN: 1 }, 7),
    roster.advance(20_000),
  ]);
  assert.deepEqual(seen[0], seen[1]);
});

test('TYP the changes between two snapshots: people who are gone, who paused, who type', () => {
  const roster = new TypingRoster({ policy: typingPolicy('standard', { linger: null }) });
  const before = roster.current;
  roster.handle({ kind: 'signal', action: 'begin', n: 1, from: 'x', user: 'Ada' }, 0);
  roster.handle({ kind: 'signal', action: 'begin', n: 1, from: 'y', user: 'Bob' }, 0);
  const both = roster.current;
  roster.handle({ kind: 'signal', action: 'pause', n: 2, from: 'x', user: 'Ada' }, 1);
  roster.handle({ kind: 'signal', action: 'finish', n: 2, from: 'y', user: 'Bob' }, 1);
  const said = (earlier, later) => typingChanges(earlier, later).map(({ typer, action }) => [typer.name, action]);
  assert.deepEqual(said(before, both), [['Ada', 'begin'], ['Bob', 'begin']]);
  assert.deepEqual(said(both, roster.current), [['Bob', 'finish'], ['Ada', 'pause']]);
  assert.deepEqual(said(roster.current, roster.current), []);
});

test('TYP case 19: two rooms do not affect each other', () => {
  const [old, next] = [1, 2].map(() => new TypingIndicator({ connection: 'me' }));
  assert.equal(old.handle({ kind: 'draftEdited', text: 'a' }, 0).length, 1);
  assert.deepEqual(old.handle({ kind: 'leave' }, 2000).map(({ send }) => decodeTyping(send).action), ['finish']);
  assert.deepEqual(next.advance(2000), []);
});

test('TYP-3 a new sender of a connection continues its numbers', () => {
  const sender = new TypingSender({ startingAfter: 41 });
  assert.deepEqual(sender.handle({ kind: 'send', action: 'begin' }, 0), [{ action: 'begin', n: 42, to: null }]);
  assert.throws(() => sender.handle({ kind: 'send', action: 'shout' }, 1), TypeError);
});
