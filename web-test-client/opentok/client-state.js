// The rules of one client, without a socket and without a clock: events and `now` go in, effects come out.
// `now` is monotonic, in milliseconds.
//
// Events, past facts:
//   connectRequested {apiKey, sessionId, token, options}      the application asks
//   signalRequested {tag, type?, data?, isJSON?, to?, onlineOnly?, retryAfterReconnect?}
//   forceDisconnectRequested {tag, connectionId}
//   disconnectRequested {}
//   socketOpened, socketClosed {code}, messagesReceived {messages}, each with the number of its socket
//   networkBack {}, pageShown {}                               signs that a try to come back is worth it now
//   pageLeft {}, pageStored {}                                 the page goes for good, or where browsers keep it for "back"
//
// Effects. Those for the shell are carried out in their order, and before the others of the same answer: what the
// application asks for when it hears of the others must not get onto the socket first.
//   openSocket, send {message}, closeSocket {code}             for the shell, each with the number of its socket
//   announce {happening}                                       something to tell the application, with a generation
//   settle {tag, error}                                        a request of the application is done; error may be null
//   refuse {error}                                             the connect failed
//   end {reason}                                               a connection that was announced is over
//   warn {message}                                             for whoever reads the log
//
// Sockets are numbered, and what comes late from an older one is dropped here. A generation is one time of being in the
// session, over however many sockets; leaving ends it. An announcement that a handler before it made stale, by leaving,
// is dropped by whoever carries it out.

import { Code, codeForApplication } from './errors.js';
import { isConnection, isWholeConnected, isWholeSignal } from './message-shapes.js';
import { askedWait, mayComeBackAfter, tryingTime, waitBefore } from './reconnect-policy.js';
import { RequestQueue } from './request-queue.js';

/** How long socket and server together may take to answer a connect (OpenTok's web client allows the same). */
export const CONNECT_TIMEOUT = 15_000;

/** So many heartbeats without a word mean that the other side is gone (HB-3). */
const SILENT_HEARTBEATS = 2;

/** How long an overdue ping may still take when there is reason to doubt the socket. */
const CHECK_TIME = 2_000;

const GOODBYE = 1000;
const HEARTBEAT_MISSED = 4001;
const FORCED_TO_DISCONNECT = 4502;

export class ClientState {
  /**
   * idle: no connection, and none wanted. Next: opening.
   * opening {connect, deadline}: a socket is being opened. Next: connecting, idle.
   * connecting {connect, requestId, deadline}: `connect` is on its way. Next: connected, idle.
   * connected {member, heardAt, checkUntil}: part of the session. Next: reconnecting, idle.
   * reconnecting {member, giveUpAt, attempt, step}: part of the session without a socket. Next: connected, idle.
   *   `step` is waiting {until, isAsked}, stored {} (the page is out of sight, until it is shown again), opening {deadline}
   *   or connecting {requestId, deadline}.
   *
   * `member` is what makes one part of the session: {connect, connectionId, peers, epoch, seq, offer, heartbeat, requests}.
   */
  #phase = { name: 'idle' };
  #generation = 0;
  #socket = 0;
  #lastRequestId = 0;
  #random;

  /** `random()` is from 0 to 1; waits before coming back are drawn from it. */
  constructor({ random }) {
    this.#random = random;
  }

  get phase() {
    return this.#phase.name;
  }

  get generation() {
    return this.#generation;
  }

  /** The last place in the session's order that this client has seen; null while not part of the session. */
  get seq() {
    return this.#phase.member?.seq ?? null;
  }

  /** When `advance` has something to do; null while there is nothing to wait for. */
  get nextDeadline() {
    switch (this.#phase.name) {
      case 'idle':
        return null;
      case 'opening':
      case 'connecting':
        return this.#phase.deadline;
      case 'connected': {
        const { member, heardAt, checkUntil } = this.#phase;
        return Math.min(heardAt + SILENT_HEARTBEATS * member.heartbeat, checkUntil ?? Infinity);
      }
      case 'reconnecting': {
        const { step, giveUpAt } = this.#phase;
        if (step.name === 'stored') return null;
        return Math.min(step.name === 'waiting' ? step.until : step.deadline, giveUpAt);
      }
    }
  }

  handle(event, now) {
    const effects = [];
    switch (event.event) {
      case 'connectRequested':
        this.#connect(event, now, effects);
        break;
      case 'signalRequested':
        this.#signal(event, effects);
        break;
      case 'forceDisconnectRequested':
        this.#forceDisconnect(event, effects);
        break;
      case 'disconnectRequested':
      case 'pageLeft':
        this.#disconnect(effects);
        break;
      case 'socketOpened':
        if (event.socket === this.#socket) this.#opened(effects);
        break;
      case 'messagesReceived':
        if (event.socket === this.#socket) this.#received(event.messages, now, effects);
        break;
      case 'socketClosed':
        if (event.socket === this.#socket) this.#closed(event.code, now, effects);
        break;
      case 'networkBack':
      case 'pageShown':
        this.#encouraged(event.event, now, effects);
        break;
      case 'pageStored':
        this.#store(now, effects);
        break;
      default:
        throw new Error(`no such event: ${event.event}`);
    }
    return effects;
  }

  /** Fires what is due. */
  advance(now) {
    const effects = [];
    const deadline = this.nextDeadline;
    if (deadline === null || now < deadline) return effects;
    switch (this.#phase.name) {
      case 'opening':
      case 'connecting':
        this.#failConnect(Code.connectFailed, 'The server did not answer in time.', effects);
        break;
      case 'connected': {
        const { heartbeat } = this.#phase.member;
        if (now - deadline >= heartbeat) {
          // The page itself was asleep (a closed lid, a debugger): what the server said meanwhile may still be unread
          // in the browser. It gets one more heartbeat to show up before this counts as silence.
          this.#phase.heardAt = now - (SILENT_HEARTBEATS - 1) * heartbeat;
          this.#phase.checkUntil = null;
        } else {
          this.#close(HEARTBEAT_MISSED, effects);
          this.#lose(now, effects);
        }
        break;
      }
      case 'reconnecting':
        if (now >= this.#phase.giveUpAt) {
          this.#abandonAttempt(GOODBYE, effects);
          this.#end('networkDisconnected', effects);
        } else if (this.#phase.step.name === 'waiting') {
          this.#tryToComeBack(now, effects);
        } else {
          this.#abandonAttempt(HEARTBEAT_MISSED, effects);
          this.#waitToComeBack(now);
        }
        break;
    }
    return effects;
  }

  // Requests of the application

  #connect({ apiKey, sessionId, token, options }, now, effects) {
    if (this.#phase.name !== 'idle') {
      effects.push({ do: 'warn', message: 'connect was called while already connecting or connected; it does nothing' });
      return;
    }
    this.#generation += 1;
    this.#lastRequestId = 0;
    const connect = { op: 'connect', apiKey, sessionId, token, ...(options ? { options } : {}) };
    this.#phase = { name: 'opening', connect, deadline: now + CONNECT_TIMEOUT };
    this.#openSocket(effects);
  }

  #signal({ tag, type, data, isJSON, to, onlineOnly, retryAfterReconnect }, effects) {
    // Absent means absent (WIRE-7).
    const message = { op: 'signal' };
    if (type !== undefined) message.type = type;
    if (data !== undefined) message.data = data;
    if (isJSON) message.json = true;
    if (to !== undefined) message.to = to;
    if (onlineOnly) message.onlineOnly = true;
    // G6: what is worth nothing later is not sent later.
    const isRepeatable = retryAfterReconnect !== false && !onlineOnly;
    this.#request({ kind: 'signal', tag, message, isRepeatable }, effects);
  }

  #forceDisconnect({ tag, connectionId }, effects) {
    const message = { op: 'forceDisconnect', connectionId };
    this.#request({ kind: 'forceDisconnect', tag, message, isRepeatable: true }, effects);
  }

  #request(request, effects) {
    switch (this.#phase.name) {
      case 'idle':
      case 'opening':
      case 'connecting':
        effects.push(notConnected(request, 'The session is not connected.'));
        return;
      case 'reconnecting':
        if (!request.isRepeatable) {
          effects.push(notConnected(request, 'The session is reconnecting.'));
          return;
        }
        break;
      case 'connected':
        break;
    }
    const { requests } = this.#phase.member;
    if (requests.isFull) {
      effects.push(settle(request.tag, Code.rateLimited, 'Too many requests are waiting for an answer.'));
      return;
    }
    requests.add(request);
    if (this.#phase.name === 'connected') this.#sendThoseWhoseTurnItIs(effects);
  }

  #disconnect(effects) {
    switch (this.#phase.name) {
      case 'idle':
        return;
      case 'opening':
      case 'connecting':
        this.#close(GOODBYE, effects);
        this.#phase = { name: 'idle' };
        break;
      case 'connected':
        this.#send({ op: 'disconnect', id: this.#nextRequestId() }, effects);
        // Closing needs no answer: to the server, this close alone means `clientDisconnected` (PRES-2).
        this.#close(GOODBYE, effects);
        this.#end('clientDisconnected', effects);
        break;
      case 'reconnecting':
        // Without a socket nobody can be told: the others see it when the time for coming back has passed (RES-12).
        this.#abandonAttempt(GOODBYE, effects);
        this.#end('clientDisconnected', effects);
        break;
    }
    this.#generation += 1;
  }

  // What the system and the page say

  #encouraged(sign, now, effects) {
    const phase = this.#phase;
    if (phase.name === 'connected') {
      // Whether the socket outlived the pause is not known. A ping that is overdue has little time left.
      if (now - phase.heardAt > phase.member.heartbeat) phase.checkUntil ??= now + CHECK_TIME;
      return;
    }
    if (phase.name !== 'reconnecting') return;
    switch (phase.step.name) {
      case 'waiting':
        // What the server asked for holds: it had a reason, and it asked each client for another wait.
        if (!phase.step.isAsked && now < phase.giveUpAt) this.#tryToComeBack(now, effects);
        break;
      case 'stored':
        if (sign !== 'pageShown') return;
        // For the page no time has passed. What is left of the connection, the server knows.
        phase.giveUpAt = now + tryingTime(phase.member.offer);
        this.#tryToComeBack(now, effects);
        break;
      case 'opening':
      case 'connecting':
        break;
    }
  }

  /** Browsers keep pages for "back" only without open sockets, and pages kept so cannot answer a heartbeat. */
  #store(now, effects) {
    switch (this.#phase.name) {
      case 'idle':
      case 'opening':
      case 'connecting':
        return;
      case 'connected':
        if (tryingTime(this.#phase.member.offer) === 0) return;
        this.#close(HEARTBEAT_MISSED, effects);
        this.#lose(now, effects);
        break;
      case 'reconnecting':
        this.#abandonAttempt(HEARTBEAT_MISSED, effects);
        break;
    }
    this.#phase.step = { name: 'stored' };
  }

  // What the socket says

  #opened(effects) {
    switch (this.#phase.name) {
      case 'opening': {
        const { connect, deadline } = this.#phase;
        const requestId = this.#nextRequestId();
        this.#phase = { name: 'connecting', connect, requestId, deadline };
        this.#send({ ...connect, id: requestId }, effects);
        break;
      }
      case 'reconnecting': {
        const { step, member } = this.#phase;
        if (step.name !== 'opening') return;
        const requestId = this.#nextRequestId();
        this.#phase.step = { name: 'connecting', requestId, deadline: step.deadline };
        const { connectionId, epoch, seq, offer } = member;
        const resume = { connectionId, secret: offer.secret, epoch, after: seq };
        this.#send({ ...member.connect, id: requestId, resume }, effects);
        break;
      }
      case 'idle':
      case 'connecting':
      case 'connected':
        break;
    }
  }

  #closed(code, now, effects) {
    switch (this.#phase.name) {
      case 'idle':
        break;
      case 'opening':
      case 'connecting':
        this.#failConnect(Code.connectFailed, `The server cannot be reached (close code ${code}).`, effects);
        break;
      case 'connected':
        if (mayComeBackAfter(code)) this.#lose(now, effects);
        else this.#end(reasonByCode(code), effects);
        break;
      case 'reconnecting':
        if (!this.#isTrying) return;
        if (mayComeBackAfter(code)) this.#waitToComeBack(now);
        else this.#end(reasonByCode(code), effects);
        break;
    }
  }

  #received(messages, now, effects) {
    if (this.#phase.name === 'connected') {
      this.#phase.heardAt = now;
      this.#phase.checkUntil = null;
    }
    for (const message of messages) {
      switch (this.#phase.name) {
        case 'idle':
        case 'opening':
          return;
        case 'connecting':
          this.#receivedWhileConnecting(message, now, effects);
          break;
        case 'connected':
          this.#receivedWhileConnected(message, now, effects);
          break;
        case 'reconnecting':
          if (this.#phase.step.name !== 'connecting') return;
          this.#receivedWhileReconnecting(message, now, effects);
          break;
      }
    }
  }

  #receivedWhileConnecting(message, now, effects) {
    const { connect, requestId } = this.#phase;
    switch (message?.ev) {
      case 'connected':
        if (message.id !== requestId) return;
        if (!isWholeConnected(message)) {
          this.#failConnect(Code.unexpectedServerResponse, 'The server answered what this client does not understand.', effects);
          return;
        }
        this.#phase = { name: 'connected', member: memberBy(message, connect, new RequestQueue()), heardAt: now, checkUntil: null };
        this.#announce({
          what: 'connected',
          connection: message.connection,
          connections: message.connections,
          capabilities: message.capabilities,
          role: message.role,
          outcome: message.outcome,
        }, effects);
        break;
      case 'error':
        // Without an id the server could not even read the request: the answer is meant for it all the same.
        if (message.id !== requestId && message.id !== undefined) return;
        this.#failConnect(codeForApplication('connect', message.code), sentence(message), effects);
        break;
      case undefined:
        this.#failConnect(Code.unexpectedServerResponse, 'The server answered what this client does not understand.', effects);
        break;
      default:
        // Unknown happenings are how the protocol grows (WIRE-6).
        break;
    }
  }

  #receivedWhileReconnecting(message, now, effects) {
    const { requestId } = this.#phase.step;
    switch (message?.ev) {
      case 'connected':
        if (message.id !== requestId) return;
        if (isWholeConnected(message)) this.#cameBack(message, now, effects);
        else this.#refusedToComeBack('the server answered what this client does not understand', effects);
        break;
      case 'error':
        if (message.id !== requestId && message.id !== undefined) return;
        if (message.retryable === true) {
          // A full session may have a place later.
          this.#abandonAttempt(HEARTBEAT_MISSED, effects);
          this.#waitToComeBack(now);
        } else {
          this.#refusedToComeBack(sentence(message), effects);
        }
        break;
      case 'disconnected':
        this.#sentAway(message, now, effects);
        break;
      case undefined:
        this.#refusedToComeBack('the server answered what this client does not understand', effects);
        break;
      default:
        break;
    }
  }

  #receivedWhileConnected(message, now, effects) {
    switch (message?.ev) {
      case 'signal':
        if (!isWholeSignal(message)) this.#warnOfShape(message, effects);
        else if (this.#isNew(message)) {
          const { from, connection, type, data, to } = message;
          this.#announce({ what: 'signal', from, connection, type, data, to, ...(message.json === true ? { isJSON: true } : {}) }, effects);
        }
        break;
      case 'connectionCreated':
        if (!isConnection(message.connection)) this.#warnOfShape(message, effects);
        else if (this.#isNew(message)) this.#joined(message.connection, effects);
        break;
      case 'connectionDestroyed':
        if (typeof message.connectionId !== 'string') this.#warnOfShape(message, effects);
        else if (this.#isNew(message)) this.#left(message.connectionId, message.reason, effects);
        break;
      case 'ack':
        // All before it that is meant for us came before it (SIG-6).
        this.#noteSeq(message.seq);
        this.#settleWaiting(message.id, effects);
        break;
      case 'error':
        this.#settleWaiting(message.id, effects, message);
        break;
      case 'ping':
        // All up to this place that is meant for us has been sent (HB-2), gaps included.
        this.#noteSeq(message.seq);
        this.#send({ op: 'pong' }, effects);
        break;
      case 'disconnected':
        this.#sentAway(message, now, effects);
        break;
      case undefined:
        this.#warnOfShape(message, effects);
        break;
      default:
        break;
    }
  }

  #joined(connection, effects) {
    this.#phase.member.peers.add(connection.connectionId);
    this.#announce({ what: 'connectionCreated', connection }, effects);
  }

  #left(connectionId, reason, effects) {
    this.#phase.member.peers.delete(connectionId);
    this.#announce({ what: 'connectionDestroyed', connectionId, reason }, effects);
  }

  #sentAway({ reconnect, reconnectAfter, reason }, now, effects) {
    if (reconnect !== true) {
      this.#close(GOODBYE, effects);
      this.#end(typeof reason === 'string' ? reason : 'networkDisconnected', effects);
      return;
    }
    // "Goodbye" would be the end of the connection (RES-10).
    this.#close(HEARTBEAT_MISSED, effects);
    if (this.#phase.name === 'connected') this.#lose(now, effects, askedWait(reconnectAfter));
    else this.#waitToComeBack(now, askedWait(reconnectAfter));
  }

  /** G3: an event that carries a place is taken once. Those without one (online-only) are taken as they come. */
  #isNew(message) {
    return message.seq === undefined || this.#noteSeq(message.seq);
  }

  /** Whether this place is beyond all seen so far; from now on it is not (RES-1). */
  #noteSeq(seq) {
    const { member } = this.#phase;
    if (!Number.isInteger(seq) || seq <= member.seq) return false;
    member.seq = seq;
    return true;
  }

  #settleWaiting(id, effects, refusal) {
    const request = this.#phase.member.requests.takeAnswered(id);
    if (!request) {
      if (refusal) effects.push({ do: 'warn', message: `the server reports: ${sentence(refusal)}` });
      return;
    }
    effects.push(
      refusal
        ? settle(request.tag, codeForApplication(request.kind, refusal.code), sentence(refusal))
        : { do: 'settle', tag: request.tag, error: null },
    );
    this.#sendThoseWhoseTurnItIs(effects);
  }

  #sendThoseWhoseTurnItIs(effects) {
    for (const { message, id } of this.#phase.member.requests.takeTurns(() => this.#nextRequestId())) {
      this.#send({ ...message, id }, effects);
    }
  }

  // Losing the socket and coming back (RES-1 to RES-13)

  /** The socket is gone, though nobody asked for it. The connection is not, if the server keeps it for a while. */
  #lose(now, effects, wait = null) {
    const { member } = this.#phase;
    const time = tryingTime(member.offer);
    if (time === 0) {
      this.#end('networkDisconnected', effects);
      return;
    }
    this.#phase = { name: 'reconnecting', member, giveUpAt: now + time, attempt: 0, step: null };
    this.#waitToComeBack(now, wait);
    this.#announce({ what: 'reconnecting' }, effects);
    for (const request of member.requests.takeUnrepeatable()) {
      effects.push(notConnected(request, 'The connection was lost before the server answered.'));
    }
  }

  #waitToComeBack(now, asked = null) {
    const { attempt } = this.#phase;
    this.#phase.attempt += 1;
    this.#phase.step = { name: 'waiting', until: now + (asked ?? waitBefore(attempt, this.#random())), isAsked: asked !== null };
  }

  #tryToComeBack(now, effects) {
    this.#phase.step = { name: 'opening', deadline: now + CONNECT_TIMEOUT };
    this.#openSocket(effects);
  }

  get #isTrying() {
    const { step } = this.#phase;
    return step.name === 'opening' || step.name === 'connecting';
  }

  #abandonAttempt(code, effects) {
    if (this.#isTrying) this.#close(code, effects);
  }

  #refusedToComeBack(why, effects) {
    effects.push({ do: 'warn', message: `coming back was refused: ${why}` });
    this.#close(GOODBYE, effects);
    this.#end('networkDisconnected', effects);
  }

  #cameBack(message, now, effects) {
    const before = this.#phase.member;
    const { requests } = before;
    const member = memberBy(message, before.connect, requests);
    const isSameOrder = message.epoch === before.epoch;
    if (isSameOrder) member.seq = Math.max(member.seq, before.seq);
    this.#phase = { name: 'connected', member, heardAt: now, checkUntil: null };
    if (message.outcome === 'resumed' && isSameOrder && member.connectionId === before.connectionId) {
      // The others were kept, and replayed events bring them up to date (RES-5).
      member.peers = before.peers;
      for (const { message: again, id } of requests.sent) this.#send({ ...again, id }, effects);
      this.#sendThoseWhoseTurnItIs(effects);
      // RES-6: to be heard at once on this socket ends the time in which an older attempt, or the older secret, could take
      // the connection away from it.
      if (effects.every((effect) => effect.do !== 'send')) this.#send({ op: 'pong' }, effects);
      this.#announce({ what: 'reconnected', outcome: 'resumed' }, effects);
      return;
    } else {
      const { connection, connections, capabilities, role } = message;
      this.#announce({ what: 'replaced', connection, capabilities, role }, effects);
      for (const each of before.peers) {
        if (!member.peers.has(each)) this.#announce({ what: 'connectionDestroyed', connectionId: each, reason: 'networkDisconnected' }, effects);
      }
      for (const each of connections) {
        if (!before.peers.has(each.connectionId)) this.#announce({ what: 'connectionCreated', connection: each }, effects);
      }
      this.#announce({ what: 'reconnected', outcome: message.outcome === 'recovered' && isSameOrder ? 'recovered' : 'lost' }, effects);
      for (const request of requests.takeSent()) {
        effects.push(notConnected(request, 'The connection was lost before the server answered; whether this arrived is not known.'));
      }
    }
    this.#sendThoseWhoseTurnItIs(effects);
  }

  // Endings

  #failConnect(code, message, effects) {
    this.#close(GOODBYE, effects);
    this.#phase = { name: 'idle' };
    effects.push({ do: 'refuse', error: { code, message } });
  }

  #end(reason, effects) {
    const { requests } = this.#phase.member;
    this.#phase = { name: 'idle' };
    for (const request of requests.takeAll()) {
      effects.push(notConnected(request, 'The connection ended before the server answered.'));
    }
    effects.push({ do: 'end', reason });
  }

  // Small things

  #openSocket(effects) {
    this.#socket += 1;
    effects.push({ do: 'openSocket', socket: this.#socket });
  }

  #send(message, effects) {
    effects.push({ do: 'send', socket: this.#socket, message });
  }

  #close(code, effects) {
    effects.push({ do: 'closeSocket', socket: this.#socket, code });
  }

  #announce(happening, effects) {
    effects.push({ do: 'announce', generation: this.#generation, happening });
  }

  #warnOfShape(message, effects) {
    effects.push({ do: 'warn', message: `a message of the server has the wrong shape: ${message?.ev ?? 'no event'}` });
  }

  /** They increase over all sockets of a connection (RES-9). */
  #nextRequestId() {
    this.#lastRequestId += 1;
    return this.#lastRequestId;
  }
}

function memberBy({ connection, connections, epoch, seq, resume, heartbeatSeconds }, connect, requests) {
  return {
    connect,
    connectionId: connection.connectionId,
    peers: new Set(connections.map((each) => each.connectionId)),
    epoch,
    seq,
    offer: resume,
    heartbeat: heartbeatSeconds * 1000,
    requests,
  };
}

function notConnected({ kind, tag }, message) {
  return settle(tag, kind === 'signal' ? Code.notConnected : Code.notConnectedToModerate, message);
}

function settle(tag, code, message) {
  return { do: 'settle', tag, error: { code, message } };
}

function sentence(error) {
  return typeof error.message === 'string' && error.message !== '' ? error.message : `error ${error.code}`;
}

/** What a close without a word before it means (LEAVE-4). */
function reasonByCode(code) {
  return code === FORCED_TO_DISCONNECT ? 'forceDisconnected' : 'networkDisconnected';
}
