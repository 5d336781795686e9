import assert from 'node:assert/strict';
import { ClientState } from '../opentok/client-state.js';

/** Effects are compared in their order within each of these groups; between groups order means nothing. */
const GROUPS = [['openSocket', 'send', 'closeSocket'], ['connected', 'connectFailed', 'event'], ['succeeded', 'failed']];

/** Runs a script of `Tests/Vectors/client` against `ClientState`; throws where they differ. */
export function runScript({ random, steps }) {
  const state = new ClientState({ random: () => random });
  const translator = new Translator();
  for (const [place, { at, input, expect }] of steps.entries()) {
    const effects =
      input.is === 'time'
        ? state.advance(at)
        : translator.eventsOf(input).flatMap((event) => state.handle(event, at));
    const seen = translator.wordsOf(effects);
    const wanted = expect.flatMap(timesWritten);
    for (const group of GROUPS) {
      const among = (words) => words.filter((word) => group.includes(word.is));
      assert.deepEqual(among(seen), among(wanted), `step ${place + 1}, at ${at} ms: ${input.is}`);
    }
  }
}

/** Between the scripts' words and those of `ClientState`. */
class Translator {
  #sockets = 0;
  #connectionId;

  eventsOf({ is, socket = this.#sockets, times, ...details }) {
    switch (is) {
      case 'connect':
        return [{ event: 'connectRequested', ...details }];
      case 'signal': {
        const { call, ...signal } = details;
        if (times === undefined) return [{ event: 'signalRequested', tag: call, ...signal }];
        return Array.from({ length: times }, (_, index) => ({ event: 'signalRequested', tag: `${call}-${index + 1}`, ...signal }));
      }
      case 'forceDisconnect':
        return [{ event: 'forceDisconnectRequested', tag: details.call, connectionId: details.connectionId }];
      case 'disconnect':
        return [{ event: 'disconnectRequested' }];
      case 'socketOpened':
        return [{ event: 'socketOpened', socket }];
      case 'received':
        return [{ event: 'messagesReceived', socket, messages: [details.message] }];
      case 'socketClosed':
        return [{ event: 'socketClosed', socket, code: details.code }];
      case 'networkBack':
        return [{ event: 'networkBack' }];
      default:
        throw new Error(`no such input: ${is}`);
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
      case 'settle':
        return [effect.error ? { is: 'failed', call: effect.tag, code: effect.error.code } : { is: 'succeeded', call: effect.tag }];
      case 'refuse':
        return [{ is: 'connectFailed', code: effect.error.code }];
      case 'end':
        return [{ is: 'event', name: 'disconnected', reason: effect.reason }];
      case 'warn':
        return [];
      case 'announce':
        return this.#wordsOfHappening(effect.happening);
      default:
        throw new Error(`no such effect: ${effect.do}`);
    }
  }

  #wordsOfHappening({ what, ...happening }) {
    const { connection, connectionId, from, type, data, reason, outcome } = happening;
    switch (what) {
      case 'connected':
        this.#connectionId = connection.connectionId;
        return [{ is: 'connected', connectionId: this.#connectionId, outcome }];
      case 'replaced':
        this.#connectionId = connection.connectionId;
        return [];
      case 'reconnecting':
        return [{ is: 'event', name: what }];
      case 'reconnected':
        return [{ is: 'event', name: what, outcome, connectionId: this.#connectionId }];
      case 'connectionCreated':
        return [{ is: 'event', name: what, connectionId: connection.connectionId }];
      case 'connectionDestroyed':
        return [{ is: 'event', name: what, connectionId, reason }];
      case 'signal':
        return [{ is: 'event', name: what, from, type, data, senderData: connection?.data }];
      default:
        throw new Error(`no such happening: ${what}`);
    }
  }
}

function timesWritten({ times = 1, ...word }) {
  return Array.from({ length: times }, (_, index) =>
    index === 0 ? word : { ...word, message: { ...word.message, id: word.message.id + index } },
  );
}

function withoutAbsent(word) {
  return Object.fromEntries(Object.entries(word).filter(([, value]) => value !== undefined));
}
