// The rules of one client, without a socket and without a clock: events and `now` go in, effects come out.
// `now` is monotonic, in milliseconds.
//
// Events, past facts:
//   connectRequested {apiKey, sessionId, token, options}      the application asks
//   signalRequested {tag, type?, data?, to?, onlineOnly?}
//   forceDisconnectRequested {tag, connectionId}
//   disconnectRequested {}
//   socketOpened, socketClosed {code}, messagesReceived {messages}, each with the generation of its socket
//
// Effects, in the order in which they are to be carried out:
//   openSocket, send {message}, closeSocket {code}             for the shell, each with a generation
//   announce {happening}                                       something to tell the application, with a generation
//   settle {tag, error}                                        a request of the application is done; error may be null
//   refuse {error}                                             the connect failed
//   end {reason}                                               a connection that was announced is over
//   warn {message}                                             for whoever reads the log
//
// A generation is one attempt to be connected; leaving ends it. What comes late from an older one is dropped here; an
// announcement that a handler before it made stale, by leaving, is dropped by whoever carries it out.

import { Code, codeForApplication } from './errors.js';

/** How long socket and server together may take to answer a connect (OpenTok's web client allows the same). */
export const CONNECT_TIMEOUT = 15_000;

/** So many heartbeats without a word mean that the other side is gone (HB-3). */
const SILENT_HEARTBEATS = 2;

export class ClientState {
  /**
   * idle: no socket. Next: opening.
   * opening {connect, deadline}: a socket is being opened. Next: connecting, idle.
   * connecting {requestId, deadline}: `connect` is on its way. Next: connected, idle.
   * connected {heartbeat, heardAt, epoch, seq, resume, waiting}: part of the session. Next: idle.
   */
  #phase = { name: 'idle' };
  #generation = 0;
  #lastRequestId = 0;

  get phase() {
    return this.#phase.name;
  }

  get generation() {
    return this.#generation;
  }

  /** The last place in the session's order that this client has seen; null while not connected. */
  get seq() {
    return this.#phase.name === 'connected' ? this.#phase.seq : null;
  }

  /** When `advance` has something to do; null while there is nothing to wait for. */
  get nextDeadline() {
    switch (this.#phase.name) {
      case 'idle':
        return null;
      case 'opening':
      case 'connecting':
        return this.#phase.deadline;
      case 'connected':
        return this.#phase.heardAt + SILENT_HEARTBEATS * this.#phase.heartbeat;
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
        this.#disconnect(effects);
        break;
      case 'socketOpened':
        if (event.generation === this.#generation) this.#opened(effects);
        break;
      case 'messagesReceived':
        if (event.generation === this.#generation) this.#received(event.messages, now, effects);
        break;
      case 'socketClosed':
        if (event.generation === this.#generation) this.#closed(event.code, effects);
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
        const { heartbeat } = this.#phase;
        if (now - deadline >= heartbeat) {
          // The page itself was asleep (a closed lid, a debugger): what the server said meanwhile may still be unread
          // in the browser. It gets one more heartbeat to show up before this counts as silence.
          this.#phase.heardAt = now - (SILENT_HEARTBEATS - 1) * heartbeat;
        } else {
          effects.push({ do: 'closeSocket', generation: this.#generation, code: 4001 });
          this.#lose(effects);
        }
        break;
      }
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
    effects.push({ do: 'openSocket', generation: this.#generation });
  }

  #signal({ tag, type, data, to, onlineOnly }, effects) {
    if (this.#phase.name !== 'connected') {
      effects.push(settle(tag, Code.notConnected, 'The session is not connected.'));
      return;
    }
    // Absent means absent (WIRE-7).
    const message = { op: 'signal' };
    if (type !== undefined) message.type = type;
    if (data !== undefined) message.data = data;
    if (to !== undefined) message.to = to;
    if (onlineOnly) message.onlineOnly = true;
    this.#request('signal', tag, message, effects);
  }

  #forceDisconnect({ tag, connectionId }, effects) {
    if (this.#phase.name !== 'connected') {
      effects.push(settle(tag, Code.notConnectedToModerate, 'The session is not connected.'));
      return;
    }
    this.#request('forceDisconnect', tag, { op: 'forceDisconnect', connectionId }, effects);
  }

  #request(kind, tag, message, effects) {
    const id = this.#nextRequestId();
    this.#phase.waiting.set(id, { kind, tag });
    effects.push({ do: 'send', generation: this.#generation, message: { ...message, id } });
  }

  #disconnect(effects) {
    switch (this.#phase.name) {
      case 'idle':
        return;
      case 'opening':
      case 'connecting':
        effects.push({ do: 'closeSocket', generation: this.#generation, code: 1000 });
        this.#phase = { name: 'idle' };
        break;
      case 'connected':
        effects.push({ do: 'send', generation: this.#generation, message: { op: 'disconnect', id: this.#nextRequestId() } });
        // Closing needs no answer: to the server, this close alone means `clientDisconnected` (PRES-2).
        effects.push({ do: 'closeSocket', generation: this.#generation, code: 1000 });
        this.#end('clientDisconnected', effects);
        break;
    }
    this.#generation += 1;
  }

  // What the socket says

  #opened(effects) {
    if (this.#phase.name !== 'opening') return;
    const { connect, deadline } = this.#phase;
    const requestId = this.#nextRequestId();
    this.#phase = { name: 'connecting', requestId, deadline };
    effects.push({ do: 'send', generation: this.#generation, message: { ...connect, id: requestId } });
  }

  #closed(code, effects) {
    switch (this.#phase.name) {
      case 'idle':
        break;
      case 'opening':
      case 'connecting':
        this.#failConnect(Code.connectFailed, `The server cannot be reached (close code ${code}).`, effects);
        break;
      case 'connected':
        if (code === 4502) this.#end('forceDisconnected', effects);
        else this.#lose(effects);
        break;
    }
  }

  #received(messages, now, effects) {
    if (this.#phase.name === 'connected') this.#phase.heardAt = now;
    for (const message of messages) {
      switch (this.#phase.name) {
        case 'idle':
        case 'opening':
          return;
        case 'connecting':
          this.#receivedWhileConnecting(message, now, effects);
          break;
        case 'connected':
          this.#receivedWhileConnected(message, effects);
          break;
      }
    }
  }

  #receivedWhileConnecting(message, now, effects) {
    const { requestId } = this.#phase;
    switch (message?.ev) {
      case 'connected':
        if (message.id !== requestId) return;
        if (!isWholeConnected(message)) {
          this.#failConnect(Code.unexpectedServerResponse, 'The server answered what this client does not understand.', effects);
          return;
        }
        this.#phase = {
          name: 'connected',
          heartbeat: message.heartbeatSeconds * 1000,
          heardAt: now,
          epoch: message.epoch,
          seq: message.seq,
          resume: message.resume,
          waiting: new Map(),
        };
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

  #receivedWhileConnected(message, effects) {
    switch (message?.ev) {
      case 'signal':
        if (!isWholeSignal(message)) this.#warnOfShape(message, effects);
        else if (this.#isNew(message)) {
          const { from, connection, type, data, to } = message;
          this.#announce({ what: 'signal', from, connection, type, data, to }, effects);
        }
        break;
      case 'connectionCreated':
        if (!isConnection(message.connection)) this.#warnOfShape(message, effects);
        else if (this.#isNew(message)) this.#announce({ what: 'connectionCreated', connection: message.connection }, effects);
        break;
      case 'connectionDestroyed':
        if (typeof message.connectionId !== 'string') this.#warnOfShape(message, effects);
        else if (this.#isNew(message)) {
          const { connectionId, reason } = message;
          this.#announce({ what: 'connectionDestroyed', connectionId, reason }, effects);
        }
        break;
      case 'ack':
        this.#settleWaiting(message.id, effects);
        break;
      case 'error':
        this.#settleWaiting(message.id, effects, message);
        break;
      case 'ping':
        // All up to this place that is meant for us has been sent (HB-2), gaps included.
        if (Number.isInteger(message.seq) && message.seq > this.#phase.seq) this.#phase.seq = message.seq;
        effects.push({ do: 'send', generation: this.#generation, message: { op: 'pong' } });
        break;
      case 'disconnected':
        effects.push({ do: 'closeSocket', generation: this.#generation, code: 1000 });
        if (message.reconnect === true) this.#lose(effects);
        else this.#end(typeof message.reason === 'string' ? message.reason : 'networkDisconnected', effects);
        break;
      case undefined:
        this.#warnOfShape(message, effects);
        break;
      default:
        break;
    }
  }

  /** G3: an event that carries a place is taken once. Those without one (online-only) are taken as they come. */
  #isNew(message) {
    if (message.seq === undefined) return true;
    if (!Number.isInteger(message.seq) || message.seq <= this.#phase.seq) return false;
    this.#phase.seq = message.seq;
    return true;
  }

  #settleWaiting(id, effects, refusal) {
    const request = this.#phase.waiting.get(id);
    if (!request) {
      if (refusal) effects.push({ do: 'warn', message: `the server reports: ${sentence(refusal)}` });
      return;
    }
    this.#phase.waiting.delete(id);
    effects.push(
      refusal
        ? settle(request.tag, codeForApplication(request.kind, refusal.code), sentence(refusal))
        : { do: 'settle', tag: request.tag, error: null },
    );
  }

  // Endings

  #failConnect(code, message, effects) {
    effects.push({ do: 'closeSocket', generation: this.#generation, code: 1000 });
    this.#phase = { name: 'idle' };
    effects.push({ do: 'refuse', error: { code, message } });
  }

  /**
   * The socket is gone, though nobody asked for it. `signalbox.v1` cannot continue a connection on a new socket yet, so
   * this ends it, and whatever waits has failed. When it can, this is where the connection becomes one that comes back,
   * with `epoch`, `seq` and `resume` in its hands and its waiting signals kept.
   */
  #lose(effects) {
    this.#end('networkDisconnected', effects);
  }

  #end(reason, effects) {
    const { waiting } = this.#phase;
    this.#phase = { name: 'idle' };
    for (const { kind, tag } of waiting.values()) {
      const code = kind === 'signal' ? Code.notConnected : Code.notConnectedToModerate;
      effects.push(settle(tag, code, 'The connection ended before the server answered.'));
    }
    effects.push({ do: 'end', reason });
  }

  #announce(happening, effects) {
    effects.push({ do: 'announce', generation: this.#generation, happening });
  }

  #warnOfShape(message, effects) {
    effects.push({ do: 'warn', message: `a message of the server has the wrong shape: ${message?.ev ?? 'no event'}` });
  }

  #nextRequestId() {
    this.#lastRequestId += 1;
    return this.#lastRequestId;
  }
}

function settle(tag, code, message) {
  return { do: 'settle', tag, error: { code, message } };
}

function sentence(error) {
  return typeof error.message === 'string' && error.message !== '' ? error.message : `error ${error.code}`;
}

function isConnection(value) {
  return typeof value === 'object' && value !== null && typeof value.connectionId === 'string';
}

function isWholeConnected(message) {
  return (
    isConnection(message.connection) &&
    Array.isArray(message.connections) &&
    message.connections.every(isConnection) &&
    Number.isInteger(message.seq) &&
    typeof message.heartbeatSeconds === 'number' &&
    message.heartbeatSeconds > 0
  );
}

function isWholeSignal(message) {
  return (
    (message.from === null || typeof message.from === 'string') &&
    ['type', 'data', 'to'].every((name) => message[name] === undefined || typeof message[name] === 'string')
  );
}
