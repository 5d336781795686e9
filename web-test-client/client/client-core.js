import { CloseCode, Code } from './wire/codes.js';
import { PeerAbsences } from './peer-absences.js';
import { PendingRequests } from './pending-requests.js';
import { reconnectWindow, waitBefore } from './reconnect-policy.js';
import { Reconnection } from './reconnection.js';

/**
 * How long a connect or a reconnect attempt may take from opening the socket to `connected` (OpenTok's web client
 * allows the same), and how long the server may take from `disconnect` to its close.
 */
export const ANSWER_TIMEOUT = 15_000;

export const LOST_BEFORE_ANSWER = 'The connection was lost before the server answered.';

/** The fields of a `ClientState`, and the steps that several of its inputs share. */
export class ClientCore {
  /**
   * disconnected: no connection, and none wanted. Next: opening.
   * opening {connect, until}: a socket is being opened. Next: connecting, disconnected.
   * connecting {connect, requestId, until}: the connect has been sent. Next: connected, disconnected.
   * connected {terms, lastHeard, checkUntil}: in the session. Next: reconnecting, disconnecting, disconnected.
   * reconnecting {terms, reconnection}: in the session, without a usable socket. Next: connected, disconnected.
   * disconnecting {until}: `disconnect` has been sent. The server's `disconnected` or its close ends it.
   *   Next: disconnected, opening.
   *
   * `terms` is what the last `connected` says about staying and coming back: {connect, offer, heartbeat}.
   */
  phase = { name: 'disconnected' };
  /** Present while connected, reconnecting or disconnecting. */
  view = null;
  /** {welcome, others} between a `connected` and the last page of its list of connections (CON-11), else null. */
  arriving = null;
  absences = new PeerAbsences();
  pending = new PendingRequests();
  /** {id, request} of the page that the connect asked for, until the page is there (HIS-5), else null. */
  awaitedPage = null;
  lastRequestId = 0;
  /** The number of the newest socket. */
  socket = 0;
  /** The generation of the application, and that of effects. After `disconnect` effects still have the older one. */
  generation = 0;
  effectGeneration = 0;
  /** The effects of the input that is being handled. */
  effects = [];
  #random;

  constructor(random) {
    this.#random = random;
  }

  /** Sends as many waiting requests as the limit of unanswered ones allows. */
  sendPending() {
    if (this.phase.name !== 'connected') return;
    for (const message of this.pending.startSending(() => this.nextRequestId())) this.send(message);
  }

  useToken(token) {
    const { terms } = this.phase;
    if (terms) this.phase.terms = { ...terms, connect: { ...terms.connect, token } };
  }

  // Losses and endings

  /**
   * The socket is lost. The connection continues if the server keeps it for a while. `wait` is the wait that the server
   * asked for, or null.
   */
  loseSocket(now, wait = null) {
    const { terms } = this.phase;
    const window = reconnectWindow(terms.offer);
    if (window === 0) {
      this.end('networkDisconnected');
      return;
    }
    const until = now + (wait ?? waitBefore(0, this.#random()));
    this.phase = {
      name: 'reconnecting',
      terms,
      reconnection: new Reconnection({ until, isRequestedWait: wait !== null, giveUpAt: now + window }),
    };
    this.emit({ name: 'reconnecting' });
    this.pending.renewReads();
    for (const request of this.pending.removeUnrepeatable()) this.failNotConnected(request, LOST_BEFORE_ANSWER);
  }

  startAttempt(now) {
    this.phase.reconnection.open(now + ANSWER_TIMEOUT);
    this.openSocket();
  }

  /** The next attempt follows after a wait. */
  attemptFailed(now) {
    const { reconnection } = this.phase;
    reconnection.failureCount += 1;
    const until = now + waitBefore(reconnection.failureCount, this.#random());
    reconnection.wait({ until, isRequestedWait: false });
  }

  /** The server has asked for this wait before the next attempt. The attempt does not count as failed (RES-13). */
  attemptPostponed(now, wait) {
    this.phase.reconnection.wait({ until: now + wait, isRequestedWait: true });
  }

  /** Closes the socket of the attempt that is under way, if there is one. */
  leaveAttempt(code) {
    if (this.phase.reconnection.isTrying) this.closeSocket(code);
  }

  failConnect(code, message) {
    this.refuseConnect({ code, message });
  }

  refuseConnect(error) {
    this.phase = { name: 'disconnected' };
    this.add({ do: 'connectFailed', error });
  }

  /**
   * The connection is over: first every pending request fails, then the application gets `sessionDisconnected`. `error`
   * is why the server does not let the client come back, if it does not, and `restriction` a ban that has ended the
   * connection (MOD-3).
   */
  end(reason, error = null, restriction = null) {
    this.phase = { name: 'disconnected' };
    this.view = null;
    for (const request of this.pending.removeAll()) this.failNotConnected(request, LOST_BEFORE_ANSWER);
    const why = { ...(error === null ? {} : { error }), ...(restriction === null ? {} : { restriction }) };
    this.emit({ name: 'disconnected', reason, ...why });
  }

  /** Both codes mean "not connected": OpenTok has one for signals and one for moderation (LEAVE-2). */
  failNotConnected({ kind, call }, message) {
    const code = kind === 'forceDisconnect' ? Code.notConnectedToModerate : Code.notConnected;
    this.add({ do: 'callFailed', call, error: { code, message } });
  }

  // Effects

  add(effect) {
    this.effects.push({ ...effect, generation: this.effectGeneration });
  }

  openSocket() {
    this.socket += 1;
    this.arriving = null;
    this.effects.push({ do: 'openSocket', socket: this.socket });
  }

  send(message) {
    this.effects.push({ do: 'send', socket: this.socket, message });
  }

  closeSocket(code) {
    this.effects.push({ do: 'closeSocket', socket: this.socket, code });
  }

  emit(event) {
    this.add({ do: 'emit', event });
  }

  /** IDs increase over all sockets of a connection (RES-9). */
  nextRequestId() {
    this.lastRequestId += 1;
    return this.lastRequestId;
  }
}
