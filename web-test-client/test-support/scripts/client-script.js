import assert from 'node:assert/strict';
import { ClientState } from '../../client/client-state.js';
import { classify } from '../../client/wire/wire.js';

/** Effects are compared in their order within each of these groups; between groups the order has no meaning. */
const GROUPS = [
  ['openSocket', 'send', 'closeSocket'], ['connected', 'connectFailed', 'event'], ['succeeded', 'failed'],
];

/** Runs a script of `Tests/Vectors/client` against `ClientState`; throws where they differ. */
export function runScript({ random, steps }) {
  const state = new ClientState({ random: () => random });
  const translator = new Translator();
  for (const [index, { at, input, expect, state: stateName }] of steps.entries()) {
    const effects =
      input.is === 'time'
        ? state.advance(at)
        : translator.inputsOf(input).flatMap((each) => state.handle(each, at));
    const actual = translator.wordsOf(effects);
    const expected = expect.flatMap(repeated);
    const step = `step ${index + 1}, at ${at} ms: ${input.is}`;
    for (const group of GROUPS) {
      const among = (words) => words.filter((word) => group.includes(word.is));
      assert.deepEqual(among(actual), among(expected), step);
    }
    assert.equal(state.stateName, stateName, step);
  }
}

/** Translates between the names in the scripts and those of `ClientState`. */
class Translator {
  #sockets = 0;
  #connectionId;

  inputsOf({ socket = this.#sockets, times, ...input }) {
    switch (input.is) {
      case 'signal':
        if (times === undefined) return [input];
        return Array.from({ length: times }, (_, index) => ({ ...input, call: `${input.call}-${index + 1}` }));
      case 'received':
        return [{ ...classify(input.message), socket }];
      case 'socketOpened':
      case 'socketClosed':
        return [{ ...input, socket }];
      default:
        return [input];
    }
  }

  wordsOf(effects) {
    return effects.flatMap((effect) => this.#wordsOf(effect)).map(withoutAbsent);
  }

  #wordsOf(effect) {
    switch (effect.do) {
      case 'openSocket':
        this.#sockets = effect.socket;
        return [{ is: 'openSocket' }];
      case 'send':
        assert.equal(effect.socket, this.#sockets);
        return [{ is: 'send', message: effect.message }];
      case 'closeSocket':
        assert.equal(effect.socket, this.#sockets);
        return [{ is: 'closeSocket', code: effect.code }];
      case 'connectSucceeded':
        this.#connectionId = effect.welcome.connection.connectionId;
        return [{ is: 'connected', connectionId: this.#connectionId, outcome: effect.welcome.outcome }];
      case 'connectFailed':
        return [{ is: 'connectFailed', ...errorOf(effect.error) }];
      case 'connectionReplaced':
        this.#connectionId = effect.welcome.connection.connectionId;
        return [];
      case 'connectionResumed':
        return [];
      case 'callSucceeded':
        return [{ is: 'succeeded', call: effect.call, ...resultOf(effect.result) }];
      case 'callFailed':
        return [{ is: 'failed', call: effect.call, ...errorOf(effect.error) }];
      case 'emit':
        return [this.#wordOf(effect.event)];
      case 'warn':
        return [];
      default:
        throw new Error(`Cannot translate the effect ${effect.do}.`);
    }
  }

  #wordOf({ name, ...event }) {
    const { connection, connectionId, from, type, data, reason, outcome, missing, page, erasure } = event;
    const { action, restriction, kind, error, seq, ref, rel } = event;
    switch (name) {
      case 'reconnecting':
        return { is: 'event', name };
      case 'reconnected':
        return { is: 'event', name, outcome, connectionId: this.#connectionId, missing };
      case 'connectionCreated':
        return { is: 'event', name, connectionId: connection.connectionId };
      case 'connectionDestroyed':
        return { is: 'event', name, connectionId, reason };
      case 'connectionAway':
      case 'connectionBack':
        return { is: 'event', name, connectionId };
      case 'signal':
        return { is: 'event', name, from, type, data, senderData: connection?.data };
      case 'history':
        return { is: 'event', name, page: seqsOf(page) };
      case 'erased':
        return { is: 'event', name, ...erasure };
      case 'changed':
        return { is: 'event', name, seq, ref, rel, from, data, senderData: connection?.data };
      case 'moderated':
        return { is: 'event', name, seq: action.seq, action: action.action, user: action.user };
      case 'restricted':
        return { is: 'event', name, ...restriction };
      case 'unrestricted':
        return { is: 'event', name, kind };
      case 'disconnected':
        return { is: 'event', name, reason, restriction: (restriction ?? error?.restriction)?.kind };
      default:
        throw new Error(`Cannot translate the event ${name}.`);
    }
  }
}

function errorOf({ code, restriction, retryAfter }) {
  return { code, restriction: restriction?.kind, retryAfter };
}

function resultOf(result) {
  if (result === undefined) return {};
  if (Array.isArray(result)) return { restrictions: result.map(({ kind, ref }) => `${kind} ${ref}`) };
  return result.messages === undefined ? result : { page: seqsOf(result) };
}

function seqsOf({ messages }) {
  return messages.map(({ seq }) => seq);
}

/** Repeats an entry with `times` that often, with ids of the messages that rise by one. */
function repeated({ times = 1, ...word }) {
  return Array.from({ length: times }, (_, index) =>
    index === 0 ? word : { ...word, message: { ...word.message, id: word.message.id + index } },
  );
}

function withoutAbsent(word) {
  return Object.fromEntries(Object.entries(word).filter(([, value]) => value !== undefined));
}
