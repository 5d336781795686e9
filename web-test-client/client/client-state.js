// A client's side of one connection, as rules without a socket and without a clock: inputs and `now` go in, effects
// come out. `now` is monotonic, in milliseconds.
//
// The Swift library has the same machine in `Sources/clients/SignalingClient/State`: the same states, inputs and effects. The
// scenarios in `Tests/Vectors/client` hold both to the same behaviour.
//
// Inputs:
//   connect {apiKey, sessionId, token, options}
//   signal {call, type?, data?, isJSON?, to?, onlineOnly?, retryAfterReconnect?}
//   forceDisconnect {call, connectionId}
//   refreshToken {call, token}
//   history {call, message}, erase {call, message}, moderate {call, message}     the message without `op` and `id`
//   change {call, message}, react {call, message}, reactors {call, message}, read {call, message}
//   streams {call, message}
//   restrictions {call}
//   disconnect {}
//   socketOpened {}, socketClosed {code}, socketFailed {message}     each with the number of its `socket`
//   received {message}, receivedUnknown {}, receivedMalformed {event}    each with the number of its `socket`
//   networkBack {}, pageShown {}                                browsers only: an attempt may succeed now
//   pageStored {}, pageLeft {}                                  browsers only: the page is kept for "back", or is left
//
// Effects. The driver executes those for the socket before the others of the same answer, each kind in its order. So a
// request that the application makes in a handler cannot overtake them.
//   openSocket, send {message}, closeSocket {code}              for the driver, each with the number of its `socket`
//   connectSucceeded {welcome}, connectFailed {error}           the answer to `connect`
//   connectionReplaced {welcome}                                back in the session as another connection (RES-2)
//   connectionResumed {welcome}                                 back in the session as the same connection
//   callSucceeded {call, result?}, callFailed {call, error}     the answer to a request. `result`: the page of a
//                                                               `history`, the list of `restrictions` or `reactors`, or
//                                                               `{seq}` of `moderate` and `change`. ERR-1 has what an
//                                                               error may have more
//   emit {event}                                                an event of the session, see `session.js`
//   warn {message}                                              for the log
//
// Sockets are numbered, and late inputs of an older socket are dropped here. A generation is one connection of the
// application, over however many sockets: `connect` begins it and `disconnect` ends it. The driver drops answers to
// `connect` and events of an older generation: after `disconnect` the application receives nothing more of that
// connection.

import { ClientCore } from './client-core.js';
import { noteSignOfLife, received, receivedMalformed } from './client-messages.js';
import { encouraged, pageLeft, pageStored } from './client-page.js';
import { ask, connect, disconnect, forceDisconnect, refreshToken, signal } from './client-requests.js';
import { socketClosed, socketFailed, socketOpened } from './client-socket.js';
import { CloseCode, Code } from './wire/codes.js';

export { ANSWER_TIMEOUT } from './client-core.js';

/** HB-3: the connection is lost after this many heartbeats without a message. */
const SILENT_HEARTBEATS = 2;

export class ClientState {
  /** Holds the state; `client-core.js` names the states and their successors. */
  #core;

  /** `random()` returns a number from 0 up to 1, for the jitter of reconnects (RES-13). */
  constructor({ random }) {
    this.#core = new ClientCore(random);
  }

  /** The state's name, as in the vectors; a reconnect also names its step. */
  get stateName() {
    const { name, reconnection } = this.#core.phase;
    return reconnection ? `${name}/${reconnection.step}` : name;
  }

  get isDisconnected() {
    return this.#core.phase.name === 'disconnected';
  }

  get generation() {
    return this.#core.generation;
  }

  /** The seq of the last event seen; null outside of a session. */
  get seq() {
    return this.#core.view?.seq ?? null;
  }

  /** When `advance` has to be called at the latest; null: not before the next input. */
  get nextDeadline() {
    switch (this.#core.phase.name) {
      case 'disconnected':
        return null;
      case 'opening':
      case 'connecting':
      case 'disconnecting':
        return this.#core.phase.until;
      case 'connected': {
        const { terms, lastHeard, checkUntil } = this.#core.phase;
        return Math.min(lastHeard + SILENT_HEARTBEATS * terms.heartbeat, checkUntil ?? Infinity);
      }
      case 'reconnecting':
        return this.#core.phase.reconnection.deadline;
    }
  }

  handle(input, now) {
    const isStale = input.socket !== undefined && input.socket !== this.#core.socket;
    return isStale ? [] : this.#collect(() => this.#apply(input, now));
  }

  /** Handles the deadlines that have passed. */
  advance(now) {
    const deadline = this.nextDeadline;
    return deadline === null || now < deadline ? [] : this.#collect(() => this.#expire(deadline, now));
  }

  #apply(input, now) {
    switch (input.is) {
      case 'connect':
        return connect(this.#core, input, now);
      case 'signal':
        return signal(this.#core, input);
      case 'forceDisconnect':
        return forceDisconnect(this.#core, input);
      case 'refreshToken':
        return refreshToken(this.#core, input);
      case 'history':
      case 'erase':
      case 'change':
      case 'react':
      case 'reactors':
      case 'read':
      case 'moderate':
      case 'restrictions':
      case 'streams':
        return ask(this.#core, input);
      case 'disconnect':
        return disconnect(this.#core, now);
      case 'socketOpened':
        return socketOpened(this.#core);
      case 'received':
        return received(this.#core, input.message, now);
      case 'receivedUnknown':
        return noteSignOfLife(this.#core, now);
      case 'receivedMalformed':
        return receivedMalformed(this.#core, input.event);
      case 'socketClosed':
        return socketClosed(this.#core, input.code, now);
      case 'socketFailed':
        return socketFailed(this.#core, input.message, now);
      case 'networkBack':
      case 'pageShown':
        return encouraged(this.#core, input.is, now);
      case 'pageStored':
        return pageStored(this.#core, now);
      case 'pageLeft':
        return pageLeft(this.#core);
      default:
        throw new Error(`Cannot handle the input ${input.is}: see the list in client-state.js.`);
    }
  }

  #expire(deadline, now) {
    switch (this.#core.phase.name) {
      case 'opening':
      case 'connecting':
        this.#core.closeSocket(CloseCode.normal);
        this.#core.failConnect(Code.connectFailed, 'The server did not answer in time.');
        break;
      case 'connected': {
        const { heartbeat } = this.#core.phase.terms;
        if (now - deadline >= heartbeat) {
          // The page itself was suspended (a closed lid, a debugger), and the browser may hold undelivered messages.
          // Wait one more heartbeat for them before this counts as silence.
          this.#core.phase.lastHeard = now - (SILENT_HEARTBEATS - 1) * heartbeat;
          this.#core.phase.checkUntil = null;
          break;
        }
        this.#core.closeSocket(CloseCode.heartbeatMissed);
        this.#core.loseSocket(now);
        break;
      }
      case 'reconnecting': {
        const { reconnection } = this.#core.phase;
        if (now >= reconnection.giveUpAt) {
          this.#core.leaveAttempt(CloseCode.normal);
          this.#core.end('networkDisconnected');
        } else if (reconnection.isTrying) {
          this.#core.leaveAttempt(CloseCode.heartbeatMissed);
          this.#core.attemptFailed(now);
        } else {
          this.#core.startAttempt(now);
        }
        break;
      }
      case 'disconnecting':
        this.#core.closeSocket(CloseCode.normal);
        this.#core.end('clientDisconnected');
        break;
    }
  }

  #collect(work) {
    this.#core.effects = [];
    work();
    return this.#core.effects;
  }
}
