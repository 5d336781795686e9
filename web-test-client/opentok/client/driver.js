import { ClientState } from './client-state.js';
import { decodeMessages, encodeMessage } from './wire.js';

export const SUBPROTOCOL = 'signalbox.v1';

/**
 * Executes the effects of a `ClientState`: owns the WebSocket and the timer, and contains no rules of its own.
 *
 * `environment` is what a browser offers: `WebSocket`, `now()`, `setTimeout`, `clearTimeout`, `random()`, `watch(hear)`.
 * `addressOf()` returns the WebSocket's address, or null. `perform(effect)` receives the effects for the application.
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

  handle(input) {
    this.#run(this.#state.handle(input, this.#environment.now()));
  }

  /** The inputs of one WebSocket message count as one: their answers leave before the application's next requests. */
  #handleAll(inputs) {
    const now = this.#environment.now();
    this.#run(inputs.flatMap((input) => this.#state.handle(input, now)));
  }

  /** First the effects for the socket: handlers of the application may ask for more, and that comes after them. */
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
        case 'callSucceeded':
        case 'callFailed':
        case 'warn':
          this.#perform(effect);
          break;
        default:
          // A handler may leave in the middle of these effects, and hears no more of them.
          if (effect.generation === this.#state.generation) this.#perform(effect);
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
      // A bad address, or a page that may not open sockets there: the application hears of it as of an unreachable
      // server, and as late.
      this.#socket = null;
      queueMicrotask(() => this.handle({ is: 'socketFailed', socket: number, message: 'The socket cannot be opened.' }));
      return;
    }
    this.#socket = { socket, number };
    socket.onopen = () => this.handle({ is: 'socketOpened', socket: number });
    socket.onmessage = ({ data }) => {
      const inputs = decodeMessages(typeof data === 'string' ? data : '');
      this.#handleAll(inputs.map((input) => ({ ...input, socket: number })));
    };
    socket.onclose = ({ code }) => this.handle({ is: 'socketClosed', socket: number, code });
  }

  #socketOf(number) {
    return this.#socket?.number === number ? this.#socket.socket : undefined;
  }

  /** The page and the network matter only while there is something to lose. */
  #watch() {
    if (this.#state.isDisconnected === (this.#stopWatching === null)) return;
    if (this.#state.isDisconnected) {
      this.#stopWatching();
      this.#stopWatching = null;
    } else {
      this.#stopWatching = this.#environment.watch((input) => this.handle(input));
    }
  }

  /**
   * One timer. It stays while the deadline only moves away, as it does with every message: firing early costs less than a
   * new timer for each message.
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
