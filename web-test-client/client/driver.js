import { ClientState } from './client-state.js';
import { causeOfFailedHandshake } from './failed-handshake.js';
import { CloseCode } from './wire/codes.js';
import { decodeMessages, encodeMessage } from './wire/wire.js';

export const SUBPROTOCOL = 'signalbox.v1';

const NO_WEBSOCKET =
  "This JavaScript runtime has no WebSocket. Use Node 22 or newer, or set globalThis.WebSocket = require('ws').";

const NO_SERVER =
  'The client has no valid address of a server. Call OT.setServer, or pass {server} to OT.initSession.';

/**
 * Executes the effects of a `ClientState`: owns the WebSocket and the timer, and contains no rules of its own.
 *
 * `environment` is what a browser offers: `WebSocket`, `fetch` (optional), `now()`, `setTimeout`, `clearTimeout`,
 * `random()`, `watch(report)`. `addressOf()` returns the WebSocket's address, or null. `perform(effect)` receives the
 * effects for the application. `effectFailed(error)` gets the error of an effect that throws: the effects behind it are
 * still executed, since each of them is the only answer to a call, or the only event of a change.
 */
export class Driver {
  #state;
  #environment;
  #addressOf;
  #perform;
  #effectFailed;
  #socket = null;
  #stopWatching = null;
  #timer = null;
  #timerDeadline = null;

  constructor(environment, addressOf, perform, effectFailed) {
    this.#state = new ClientState({ random: environment.random });
    this.#environment = environment;
    this.#addressOf = addressOf;
    this.#perform = perform;
    this.#effectFailed = effectFailed;
  }

  handle(input) {
    this.#run(this.#state.handle(input, this.#environment.now()));
  }

  /** Handles the inputs of one WebSocket message together: their answers go out before the application's requests. */
  #handleAll(inputs) {
    const now = this.#environment.now();
    this.#run(inputs.flatMap((input) => this.#state.handle(input, now)));
  }

  /** Executes the effects for the socket first, so that requests made in the application's handlers come after them. */
  #run(effects) {
    for (const effect of effects) this.#attempt(() => this.#executeOnSocket(effect));
    this.#watch();
    for (const effect of effects) this.#attempt(() => this.#executeForApplication(effect));
    this.#arm();
  }

  #attempt(act) {
    try {
      act();
    } catch (error) {
      this.#effectFailed(error);
    }
  }

  #executeOnSocket(effect) {
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

  #executeForApplication(effect) {
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
        // After a handler has disconnected, the application gets no more of these effects.
        if (effect.generation === this.#state.generation) this.#perform(effect);
    }
  }

  #open(number) {
    let socket;
    let address;
    try {
      const { WebSocket } = this.#environment;
      if (typeof WebSocket !== 'function') throw new TypeError(NO_WEBSOCKET);
      address = this.#addressOf();
      if (address === null) throw new TypeError(NO_SERVER);
      socket = new WebSocket(address, SUBPROTOCOL);
    } catch (error) {
      // No WebSocket, no address, or one that the page may not open sockets to. Report it later, as an unreachable
      // server is reported.
      this.#socket = null;
      const input = { is: 'socketFailed', socket: number, message: String(error?.message ?? error) };
      queueMicrotask(() => this.handle(input));
      return;
    }
    this.#socket = { socket, number };
    this.#listen(socket, number, address);
  }

  /**
   * The listeners stay for the whole life of the socket, also when the client has let go of it: with `ws`, an error
   * event to which nobody listens ends the process, and a close before the socket is open causes one.
   */
  #listen(socket, number, address) {
    let hasOpened = false;
    let hasEnded = false;
    const ended = (code) => {
      if (hasEnded) return;
      hasEnded = true;
      // The socket of the former connection may close when the next connection already opens its own.
      const isOpening = this.#state.stateName === 'opening' && this.#socket?.number === number;
      if (isOpening) this.#explainFailure(number, address, code);
      else this.handle({ is: 'socketClosed', socket: number, code });
    };
    socket.onopen = () => {
      hasOpened = true;
      this.handle({ is: 'socketOpened', socket: number });
    };
    socket.onmessage = ({ data }) => {
      const inputs = decodeMessages(typeof data === 'string' ? data : '');
      this.#handleAll(inputs.map((input) => ({ ...input, socket: number })));
    };
    socket.onerror = () => {
      // Node 22 emits no close event when a handshake fails.
      if (!hasOpened) ended(CloseCode.abnormal);
    };
    socket.onclose = ({ code }) => ended(code);
  }

  /** The first socket of a connection did not open: the application gets the cause instead of the close code. */
  #explainFailure(socket, address, code) {
    if (this.#environment.fetch === undefined) {
      this.handle({ is: 'socketClosed', socket, code });
      return;
    }
    causeOfFailedHandshake(this.#environment, address).then((message) => {
      this.handle(
        message === null ? { is: 'socketClosed', socket, code } : { is: 'socketFailed', socket, message },
      );
    });
  }

  #socketOf(number) {
    return this.#socket?.number === number ? this.#socket.socket : undefined;
  }

  /** Watches the page and the network, but only while there is a connection or an attempt. */
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
   * Sets the one timer. Each message moves the deadline later; the timer then stays, since firing early costs less than
   * a new timer for each message.
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
