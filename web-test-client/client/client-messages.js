// The inputs of a `ClientState` that come from the server.

import { LOST_BEFORE_ANSWER } from './client-core.js';
import { CloseCode, Code } from './wire/codes.js';
import { PeerAbsences } from './peer-absences.js';
import { READS } from './pending-requests.js';
import { requestedWait, TOKEN_EXPIRED } from './reconnect-policy.js';
import { SessionView } from './session-view.js';

const LONGEST_HEARTBEAT_SECONDS = 3600;

/** HB-3: any text message is a sign of life. */
export function noteSignOfLife(core, now) {
  if (core.phase.name !== 'connected') return;
  core.phase.lastHeard = now;
  core.phase.checkUntil = null;
}

/** Ends the connection: the line may have been an event, and the client must not miss one silently (G4). */
export function receivedMalformed(core, event) {
  const name = core.phase.name;
  if (name === 'disconnected' || (name === 'reconnecting' && !core.phase.reconnection.isTrying)) return;
  const message = `The server sent a malformed message${event ? `: ${event}` : ''}.`;
  core.add({ do: 'warn', message });
  core.closeSocket(CloseCode.normal);
  if (name === 'opening' || name === 'connecting') core.failConnect(Code.unexpectedServerResponse, message);
  else core.end(name === 'disconnecting' ? 'clientDisconnected' : 'networkDisconnected');
}

export function received(core, message, now) {
  noteSignOfLife(core, now);
  switch (message.ev) {
    case 'connected':
      core.arriving = null;
      if (!(message.connectionCount > message.connections.length)) return welcomed(core, message, now);
      // CON-11: the list of connections follows in pages.
      core.arriving = { welcome: message, others: [] };
      return;
    case 'connections':
      return listed(core, message, now);
    case 'error':
      return refused(core, message, now);
    case 'disconnected':
      return dismissed(core, message, now);
  }
  if (core.phase.name !== 'connected' && core.phase.name !== 'disconnecting') return;
  receivedInSession(core, message);
  tellAbsences(core);
}

/** A page of the list that belongs to the `connected` before it. The client's own connection is the newest. */
function listed(core, { connections, rest }, now) {
  if (core.arriving === null) return;
  const { welcome, others } = core.arriving;
  others.push(...connections);
  if (rest > 0) return;
  core.arriving = null;
  welcomed(core, { ...welcome, connections: [...others, ...welcome.connections] }, now);
}

function receivedInSession(core, message) {
  switch (message.ev) {
    case 'ack': {
      // The server has sent everything before this seq that is meant for this client (SIG-6).
      core.view.advance(message.seq);
      const request = core.pending.removeAnswered(message.id);
      if (!request) return;
      // CON-12: later connects show the newer token.
      if (request.kind === 'refreshToken') core.useToken(request.message.token);
      if (READS.has(request.kind)) failOtherKind(core, request);
      else if (request.kind === 'moderate' || request.kind === 'change') succeed(core, request, { seq: message.seq ?? null });
      else succeed(core, request);
      core.sendPending();
      break;
    }
    case 'signal': {
      if (!core.view.accept(message.seq)) return;
      const { seq, from, connection, type, data, to, json } = message;
      core.emit({ name: 'signal', seq, from, connection, type, data, to, ...(json === true ? { isJSON: true } : {}) });
      break;
    }
    case 'change': {
      if (!core.view.accept(message.seq)) return;
      const { seq, ref, rel, from, connection, data, json } = message;
      core.emit({ name: 'changed', seq, ref, rel, from, connection, data, ...(json === true ? { isJSON: true } : {}) });
      break;
    }
    case 'reactions': {
      if (!core.view.accept(message.seq)) return;
      const { seq, ref, reactions } = message;
      core.emit({ name: 'reactions', seq, ref, reactions });
      break;
    }
    case 'reacted': {
      if (!core.view.accept(message.seq)) return;
      const { seq, ref, keys } = message;
      core.emit({ name: 'reacted', seq, ref, keys });
      break;
    }
    case 'read':
      core.emit({ name: 'read', user: message.user, through: message.through });
      break;
    case 'reactors':
      answered(core, 'reactors', message.id, message.reactors);
      break;
    case 'history':
      pageArrived(core, message);
      break;
    case 'erased':
      if (!core.view.accept(message.seq)) return;
      core.emit({ name: 'erased', erasure: erasureOf(message) });
      break;
    case 'moderated': {
      if (!core.view.accept(message.seq)) return;
      const { ev, ...action } = message;
      core.emit({ name: 'moderated', action });
      break;
    }
    case 'restricted': {
      if (!core.view.accept(message.seq)) return;
      const { ev, seq, ...restriction } = message;
      core.emit({ name: 'restricted', restriction });
      break;
    }
    case 'unrestricted':
      if (!core.view.accept(message.seq)) return;
      core.emit({ name: 'unrestricted', kind: message.kind });
      break;
    case 'restrictions':
      answered(core, 'restrictions', message.id, message.restrictions);
      break;
    case 'connectionCreated':
      if (!core.view.accept(message.seq)) return;
      core.view.add(message.connection.connectionId);
      core.emit({ name: 'connectionCreated', connection: message.connection });
      break;
    case 'connectionDestroyed':
      if (!core.view.accept(message.seq) || !core.view.remove(message.connectionId)) return;
      core.absences.forget(message.connectionId);
      core.emit({ name: 'connectionDestroyed', connectionId: message.connectionId, reason: message.reason });
      break;
    case 'streams': {
      if (!core.view.accept(message.seq)) return;
      const { connection, streams, reason } = message;
      core.emit({ name: 'streams', connection, streams, ...(reason === undefined ? {} : { reason }) });
      break;
    }
    case 'connectionAway':
      core.absences.add(message.connectionId);
      break;
    case 'connectionBack':
      core.absences.remove(message.connectionId);
      break;
    case 'ping':
      // HB-2: the same holds for a ping.
      core.view.advance(message.seq);
      core.send({ op: 'pong' });
      break;
  }
}

/** A page does not change the client's position: it may be older or newer than the last event (HIS-4). */
function pageArrived(core, { id, error, ...page }) {
  if (id === core.awaitedPage?.id) {
    core.awaitedPage = null;
    if (error) core.add({ do: 'warn', message: `the server cannot read the history: ${sentence(error)}` });
    else core.emit({ name: 'history', page });
    return;
  }
  if (!error) return answered(core, 'history', id, page);
  const request = core.pending.removeAnswered(id);
  if (!request) return;
  if (request.kind !== 'history') failOtherKind(core, request);
  else core.add({ do: 'callFailed', call: request.call, error: errorOf(error) });
  core.sendPending();
}

/** A read of this kind has its answer. */
function answered(core, kind, id, result) {
  const request = core.pending.removeAnswered(id);
  if (!request) return;
  if (request.kind === kind) succeed(core, request, result);
  else failOtherKind(core, request);
  core.sendPending();
}

function succeed(core, { call }, result) {
  core.add({ do: 'callSucceeded', call, ...(result === undefined ? {} : { result }) });
}

function failOtherKind(core, { call }) {
  const message = "The server's answer is that to another kind of request.";
  core.add({ do: 'callFailed', call, error: { code: Code.unexpectedServerResponse, message } });
}

/** That of a user ends where it is in the order: the user may write again behind it. */
function erasureOf({ seq, ref, through, user }) {
  if (user !== undefined) return { user, before: seq };
  return ref === undefined ? { through } : { ref };
}

/** HIS-5: the server answers the option of a connect unless the connection is resumed, or may not read. */
function awaitPage(core, { id, history }) {
  const { history: option } = core.phase.terms.connect.options;
  core.awaitedPage = option && history === true ? { id, request: requestOf(option) } : null;
}

/** The option of a connect as the members of a `history` request. */
function requestOf({ last, ...request }) {
  return last === undefined ? request : { limit: last };
}

/** The server ends this socket (LEAVE-4). Its reason has precedence over the close code that follows. */
function dismissed(core, { reconnect, reconnectAfter, reason, restriction = null }, now) {
  switch (core.phase.name) {
    case 'connected':
      break;
    case 'opening':
    case 'connecting':
      core.closeSocket(CloseCode.normal);
      core.failConnect(Code.connectFailed, 'The server is stopping or busy. Connect again.');
      return;
    case 'reconnecting':
      if (core.phase.reconnection.isTrying) break;
      return;
    case 'disconnecting':
      core.closeSocket(CloseCode.normal);
      core.end('clientDisconnected');
      return;
    default:
      return;
  }
  if (reconnect !== true) {
    core.closeSocket(CloseCode.normal);
    const why = typeof reason === 'string' ? reason : 'networkDisconnected';
    // The close code, which would tell more, comes too late for a client that acts at once (LEAVE-4). Of the reasons for
    // which a server ends a well-behaved client's connection for good, only TOK-9 looks like this.
    core.end(why, why === 'networkDisconnected' ? TOKEN_EXPIRED : null, restriction);
    return;
  }
  // A close with `normal` would end the connection (RES-10).
  core.closeSocket(CloseCode.heartbeatMissed);
  const wait = requestedWait(reconnectAfter);
  if (core.phase.name === 'connected') core.loseSocket(now, wait);
  else if (wait === null) core.attemptFailed(now);
  else core.attemptPostponed(now, wait);
}

function refused(core, message, now) {
  const error = errorOf(message);
  // Without an id the server could not read the request: the error still answers it.
  const answers = (requestId) => message.id === undefined || message.id === requestId;
  switch (core.phase.name) {
    case 'connecting':
      if (!answers(core.phase.requestId)) return;
      core.closeSocket(CloseCode.normal);
      core.refuseConnect(error);
      break;
    case 'reconnecting': {
      const { reconnection } = core.phase;
      if (reconnection.step !== 'connecting' || !answers(reconnection.requestId)) return;
      if (message.retryable === true) {
        core.closeSocket(CloseCode.heartbeatMissed);
        core.attemptFailed(now);
        return;
      }
      core.add({ do: 'warn', message: `the server refused the reconnect: ${error.message}` });
      core.closeSocket(CloseCode.normal);
      core.end('networkDisconnected', error);
      break;
    }
    case 'connected':
    case 'disconnecting': {
      if (message.id !== undefined && message.id === core.awaitedPage?.id) core.awaitedPage = null;
      const request = core.pending.removeAnswered(message.id);
      if (!request) {
        core.add({ do: 'warn', message: `the server reports: ${error.message}` });
        return;
      }
      core.add({ do: 'callFailed', call: request.call, error });
      core.sendPending();
      break;
    }
  }
}

function welcomed(core, welcome, now) {
  switch (core.phase.name) {
    case 'connecting': {
      const { connect, requestId } = core.phase;
      if (welcome.id !== requestId) return;
      enter(core, welcome, connect, now);
      core.view = new SessionView(welcome);
      awaitPage(core, welcome);
      core.absences = new PeerAbsences();
      core.absences.enter(welcome.away ?? [], 0);
      core.add({ do: 'connectSucceeded', welcome });
      tellAbsences(core);
      break;
    }
    case 'reconnecting': {
      const { terms, reconnection } = core.phase;
      if (reconnection.step !== 'connecting' || welcome.id !== reconnection.requestId) return;
      enter(core, welcome, terms.connect, now);
      const isSameOrder = welcome.epoch === core.view.epoch;
      const isSameConnection = welcome.connection.connectionId === core.view.connectionId;
      if (welcome.outcome === 'resumed' && isSameOrder && isSameConnection) resumed(core, welcome);
      else if (isSameOrder) replaced(core, welcome, welcome.outcome === 'recovered' ? 'recovered' : 'lost');
      else replaced(core, { ...welcome, missing: undefined }, 'lost');
      break;
    }
  }
}

/** Emits the changes in the absences of peers that the program does not know yet. */
function tellAbsences(core) {
  if (core.view === null) return;
  for (const event of core.absences.changes(core.view)) core.emit(event);
}

function enter(core, { resume, heartbeatSeconds }, connect, now) {
  const heartbeat = Math.min(Math.max(heartbeatSeconds, 1), LONGEST_HEARTBEAT_SECONDS) * 1000;
  const terms = { connect, offer: resume, heartbeat };
  core.phase = { name: 'connected', terms, lastHeard: now, checkUntil: null };
}

/** The same connection. The peers stay, and the replayed events bring them up to date (RES-5). */
function resumed(core, welcome) {
  // The server may repeat events that this client has seen (G3).
  core.view.advance(welcome.seq);
  core.add({ do: 'connectionResumed', welcome });
  for (const message of core.pending.messagesToRepeat) core.send(message);
  if (core.awaitedPage !== null) {
    core.awaitedPage.id = core.nextRequestId();
    core.send({ op: 'history', ...core.awaitedPage.request, id: core.awaitedPage.id });
  }
  core.sendPending();
  // RES-6: a message on this socket ends the time in which an older attempt, or the older secret, could take the
  // connection over.
  if (core.effects.every((effect) => effect.do !== 'send')) core.send({ op: 'pong' });
  core.emit({ name: 'reconnected', outcome: 'resumed' });
  core.absences.enter(welcome.away ?? [], welcome.replayThrough ?? 0);
  tellAbsences(core);
}

/** Another connection. The fate of the requests that were sent on the old one is unknown (RES-9). */
function replaced(core, welcome, outcome) {
  const before = core.view;
  core.view = new SessionView(welcome, before);
  awaitPage(core, welcome);
  core.add({ do: 'connectionReplaced', welcome });
  for (const connectionId of core.view.goneSince(before)) {
    core.emit({ name: 'connectionDestroyed', connectionId, reason: 'networkDisconnected' });
  }
  for (const connection of welcome.connections) {
    if (!before.has(connection.connectionId)) core.emit({ name: 'connectionCreated', connection });
  }
  if (welcome.streams) core.emit({ name: 'streamList', streams: welcome.streams });
  const missing = outcome === 'lost' ? welcome.missing : undefined;
  core.emit({ name: 'reconnected', outcome, ...(missing ? { missing } : {}) });
  // Presence is not replayed: the list is that of now.
  core.absences.enter(welcome.away ?? [], 0);
  tellAbsences(core);
  for (const request of core.pending.removeSent()) {
    core.failNotConnected(request, `${LOST_BEFORE_ANSWER} Whether the request arrived is not known.`);
  }
  core.sendPending();
}

/** The error for the program. One because of a restriction tells which, and for how long (ERR-1). */
function errorOf({ restriction, retryAfter, ...error }) {
  return {
    code: error.code,
    message: sentence(error),
    ...(restriction === undefined ? {} : { restriction }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function sentence(error) {
  return typeof error.message === 'string' && error.message !== '' ? error.message : `error ${error.code}`;
}
