// G3 on a failing network: sockets break at random moments, with messages in transit in both directions.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ClientState } from '../../client/client-state.js';
import { CloseCode } from '../../client/wire/codes.js';
import { ModelServer } from '../../test-support/model-server.js';

const RUNS = 300;
const STEPS = 400;

/** A generator of random numbers: the same seed gives the same numbers (mulberry32). */
function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Trial {
  received = [];
  answers = new Map();
  sentCount = 0;
  resumeCount = 0;
  #random;
  #server = new ModelServer();
  #state;
  #now = 0;
  /** The socket, or null: the messages in transit to the server and to the client, the opening first. */
  #way = null;

  constructor(seed) {
    this.#random = generator(seed);
    this.#state = new ClientState({ random: this.#random });
    this.#handle({ is: 'connect', apiKey: '100', sessionId: '1_x', token: 'T1==' });
    while (this.#state.stateName !== 'connected') this.#carry();
  }

  get log() {
    return this.#server.log.map((event) => event.data);
  }

  step() {
    const dice = this.#random();
    if (dice < 0.3) this.#say();
    else if (dice < 0.85) this.#carry();
    else if (dice < 0.95) this.#passTime();
    else this.#breakSocket();
  }

  /** Delivers everything without further failures. */
  calmDown() {
    for (let count = 0; this.answers.size < this.sentCount; count += 1) {
      assert.ok(count < 100_000, 'the messages do not end');
      if (!this.#carry()) this.#passTime();
    }
    while (this.#carry());
  }

  #say() {
    this.sentCount += 1;
    this.#handle({ is: 'signal', call: this.sentCount, data: String(this.sentCount) });
  }

  #carry() {
    if (!this.#way) return false;
    const { socket, up, down } = this.#way;
    const goesUp = up.length > 0 && (down.length === 0 || this.#random() < 0.5);
    if (goesUp) {
      down.push(...this.#server.receive(up.shift()));
    } else if (down.length > 0) {
      const next = down.shift();
      this.#handle(next === 'open' ? { is: 'socketOpened', socket } : { is: 'received', socket, message: next });
    } else {
      return false;
    }
    return true;
  }

  #passTime() {
    if (!this.#state.stateName.startsWith('reconnecting')) return;
    this.#now = Math.max(this.#now, this.#state.nextDeadline);
    this.#perform(this.#state.advance(this.#now));
  }

  #breakSocket() {
    if (!this.#way) return;
    const { socket } = this.#way;
    this.#way = null;
    this.#handle({ is: 'socketClosed', socket, code: CloseCode.abnormal });
  }

  #handle(input) {
    this.#perform(this.#state.handle(input, this.#now));
  }

  #perform(effects) {
    for (const effect of effects) {
      switch (effect.do) {
        case 'openSocket':
          this.#way = { socket: effect.socket, up: [], down: ['open'] };
          break;
        case 'send':
          this.#way.up.push(effect.message);
          break;
        case 'closeSocket':
          this.#way = null;
          break;
        case 'callSucceeded':
        case 'callFailed':
          assert.equal(this.answers.has(effect.call), false, 'answered twice');
          this.answers.set(effect.call, effect.error ?? null);
          break;
        case 'connectSucceeded':
        case 'connectionResumed':
          break;
        case 'emit':
          if (effect.event.name === 'signal') this.received.push(effect.event.data);
          if (effect.event.name === 'reconnected') this.resumeCount += 1;
          break;
        default:
          assert.fail(effect.do);
      }
    }
  }
}

test('G3 each signal is delivered once, in the order of sending, and acknowledged once, whenever sockets break', () => {
  let resumeCount = 0;
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const trial = new Trial(seed);
    for (let count = 0; count < STEPS; count += 1) trial.step();
    trial.calmDown();
    const said = Array.from({ length: trial.sentCount }, (_, index) => String(index + 1));
    assert.deepEqual(trial.log, said, `carried out, seed ${seed}`);
    assert.deepEqual(trial.received, said, `received, seed ${seed}`);
    assert.ok([...trial.answers.values()].every((error) => error === null), `acknowledged, seed ${seed}`);
    resumeCount += trial.resumeCount;
  }
  assert.ok(resumeCount > RUNS, `only ${resumeCount} resumes happened`);
});
