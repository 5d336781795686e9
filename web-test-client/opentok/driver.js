import { ClientState } from './client-state.js';
import { decodeMessages, encodeMessage } from './wire.js';

export const SUBPROTOCOL = 'signalbox.v1';

/**
 * Puts the pure client state between one WebSocket at a time and one timer. It decides nothing: what concerns the
 * application goes to `perform`, the rest is done here.
 *
 * `environment` is what a browser offers: `WebSocket`, `now()`, `setTimeout`, `clearTimeout`, `random()`, `watch(hear)`.
 */
export class Driver {
  #state;
  #environment;
  #addressOf;
  #perform;
  #socket = null;
  #stopWatching = null;
  #timer = null;
  #timerDeadline = null;

  constructor(environment, addressOf, perform) {
    this.#state = new ClientState({ random: environment.random });
    this.#environment = environment;
    this.#addressOf = addressOf;
    this.#perform = perform;
  }

  get phase() {
    return this.#state.phase;
  }

  handle(event) {
    this.#run(this.#state.handle(event, this.#environment.now()));
  }

  /** First what concerns the socket: handlers of the application may ask for more, and that comes after it. */
  #run(effects) {
    for (const effect of effects) {
      switch (effect.do) {
        case 'openSocket':
          this.#open(effect.socket);
          break;
        case 'send':
          this.#socketOf(effect.socket)?.send(encodeMessage(effect.message));
          break;
        case 'closeSocket':
          this.#socketOf(effect.socket)?.close(effect.code);
          break;
      }
    }
    this.#watch();
    for (const effect of effects) {
      switch (effect.do) {
        case 'openSocket':
        case 'send':
        case 'closeSocket':
          break;
        case 'announce':
          // A handler that left the session in the middle of this batch does not want to hear the rest of it.
          if (effect.generation === this.#state.generation) this.#perform(effect);
          break;
        default:
          this.#perform(effect);
      }
    }
    this.#arm();
  }

  #open(number) {
    let socket;
    try {
      const address = this.#addressOf();
      if (address === null) throw new TypeError('no server address');
      socket = new this.#environment.WebSocket(address, SUBPROTOCOL);
    } catch {
      // A bad address, or a page that may not open sockets there: the same to the application as an unreachable server.
      // It comes later, as that one would.
      this.#socket = null;
      queueMicrotask(() => this.handle({ event: 'socketClosed', socket: number, code: 1006 }));
      return;
    }
    this.#socket = { socket, number };
    socket.onopen = () => this.handle({ event: 'socketOpened', socket: number });
    socket.onmessage = ({ data }) =>
      this.handle({ event: 'messagesReceived', socket: number, messages: typeof data === 'string' ? decodeMessages(data) : [] });
    socket.onclose = ({ code }) => this.handle({ event: 'socketClosed', socket: number, code });
  }

  #socketOf(number) {
    return this.#socket?.number === number ? this.#socket.socket : undefined;
  }

  /** What the system and the page say matters only while there is something to lose. */
  #watch() {
    const isIdle = this.#state.phase === 'idle';
    if (isIdle === (this.#stopWatching === null)) return;
    if (isIdle) {
      this.#stopWatching();
      this.#stopWatching = null;
    } else {
      this.#stopWatching = this.#environment.watch((event) => this.handle(event));
    }
  }

  /**
   * One timer. It is left alone while the deadline only moves away, as it does with every message heard: an early
   * firing costs less than a new timer per message.
   */
  #arm() {
    const { clearTimeout, setTimeout, now } = this.#environment;
    const deadline = this.#state.nextDeadline;
    if (deadline === null) {
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
      return;
    }
    if (this.#timer !== null && this.#timerDeadline <= deadline) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerDeadline = deadline;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#run(this.#state.advance(now()));
    }, Math.max(0, deadline - now()));
  }
}
