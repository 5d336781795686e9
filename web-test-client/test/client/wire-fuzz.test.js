// Random bytes and changed messages of the server, as a broken proxy or a hostile server could send them. Nothing that
// arrives may throw in the decoder or in the client's state machine: an exception there would stop the whole client.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ClientState } from '../../client/client-state.js';
import { decodeMessages } from '../../client/wire/wire.js';
import { connectedMessage } from '../../test-support/fakes/fake-browser.js';
import { vectorCases } from '../../test-support/vectors.js';

const LINES = vectorCases('messages/server.json').map((each) => each.line);
const VALUES = [
  null, true, false, 0, -1, 1.5, 1e308, 9007199254740993, '', 'x', '\ud800', '__proto__', [], {}, [null], [[]], { ev: 'ping' },
  [{}], { connectionId: 1 }, { first: 2, last: 1 }, { toString: 1 },
];

/** Park and Miller's generator: the same numbers for the same seed. */
function randomNumbers(seed) {
  let state = seed + 1;
  return (count) => {
    state = (state * 48271) % 2147483647;
    return state % count;
  };
}

/** Replaces, removes or adds one member somewhere in the value. */
function changed(value, random) {
  if (typeof value !== 'object' || value === null || random(4) === 0) return VALUES[random(VALUES.length)];
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const names = Object.keys(copy);
  const name = names.length > 0 && random(8) > 0 ? names[random(names.length)] : 'seq';
  switch (random(4)) {
    case 0:
      delete copy[name];
      break;
    case 1:
      copy[name] = VALUES[random(VALUES.length)];
      break;
    default:
      copy[name] = changed(copy[name], random);
  }
  return copy;
}

/** The line with some characters replaced, removed or doubled. */
function damaged(line, random) {
  const characters = [...line];
  for (let count = random(4) + 1; count > 0; count -= 1) {
    const at = random(characters.length + 1);
    const inserted = ['', '\n', '"', '{', '}', '[', '\\', '\0', ',', '\ud800', 'null', '\\u0000'][random(12)];
    characters.splice(at, random(3), inserted);
  }
  return characters.join('');
}

function text(random) {
  const lines = Array.from({ length: random(3) + 1 }, () => {
    const line = LINES[random(LINES.length)];
    if (random(2) === 0) return damaged(line, random);
    try {
      return JSON.stringify(changed(JSON.parse(line), random));
    } catch {
      return line;
    }
  });
  return lines.join('\n');
}

test('G4 whatever the text is, each of its lines is an event, an unknown event or malformed', () => {
  const counts = { received: 0, receivedUnknown: 0, receivedMalformed: 0 };
  for (let seed = 0; seed < 10_000; seed += 1) {
    const given = text(randomNumbers(seed));
    const inputs = decodeMessages(given);
    assert.ok(inputs.length <= given.split('\n').length, `seed ${seed}`);
    for (const input of inputs) {
      assert.ok(input.is in counts, `seed ${seed}: ${input.is}`);
      counts[input.is] += 1;
      if (input.is === 'received') assert.equal(typeof input.message.ev, 'string', `seed ${seed}`);
    }
  }
  for (const [kind, count] of Object.entries(counts)) assert.ok(count > 500, `${kind}: ${count}`);
});

test('G4 whatever arrives, the client goes on: its state is one of its states, and its effects are complete', () => {
  let connectedCount = 0;
  for (let seed = 0; seed < 3_000; seed += 1) {
    const random = randomNumbers(seed);
    const state = new ClientState({ random: () => 0.5 });
    state.handle({ is: 'connect', apiKey: '100', sessionId: '1_x', token: 'T1==' }, 0);
    state.handle({ is: 'socketOpened', socket: 1 }, 0);
    if (random(4) > 0) {
      for (const input of decodeMessages(JSON.stringify(connectedMessage()))) state.handle({ ...input, socket: 1 }, 0);
      state.handle({ is: 'signal', call: 'one', type: 'chat', data: 'hello' }, 1);
      connectedCount += state.stateName === 'connected' ? 1 : 0;
    }
    let now = 1;
    for (let count = 0; count < 8; count += 1) {
      now += random(30_000);
      for (const input of decodeMessages(text(random))) {
        for (const effect of state.handle({ ...input, socket: 1 }, now)) {
          assert.equal(typeof effect.do, 'string', `seed ${seed}`);
          if (effect.do === 'send') assert.equal(typeof effect.message.op, 'string', `seed ${seed}`);
        }
      }
      state.advance(now);
      assert.match(state.stateName, /^(disconnected|opening|connecting|connected|disconnecting|reconnecting\/\w+)$/);
    }
  }
  assert.ok(connectedCount > 1000);
});
