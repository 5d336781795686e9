// The inputs of a `ClientState` that come from the application.

import { ANSWER_TIMEOUT } from './client-core.js';
import { CloseCode, Code } from './wire/codes.js';

export function connect(core, { apiKey, sessionId, token, options }, now) {
  switch (core.phase.name) {
    case 'disconnected':
      break;
    case 'disconnecting':
      // The old connection ends here: a program that leaves need not wait before it connects again.
      core.closeSocket(CloseCode.normal);
      core.end('clientDisconnected');
      break;
    default:
      core.add({
        do: 'connectFailed',
        error: { code: Code.illegalState, message: 'Already connected or connecting.' },
      });
      return;
  }
  core.generation += 1;
  core.effectGeneration = core.generation;
  core.lastRequestId = 0;
  const message = { op: 'connect', apiKey, sessionId, token, options: { ...options, connectionPages: true } };
  core.phase = { name: 'opening', connect: message, until: now + ANSWER_TIMEOUT };
  core.openSocket();
}

export function signal(core, { call, type, data, isJSON, to, onlineOnly, retryAfterReconnect }) {
  // An absent member stays absent (WIRE-7).
  const message = { op: 'signal' };
  if (type !== undefined) message.type = type;
  if (data !== undefined) message.data = data;
  if (isJSON) message.json = true;
  if (to !== undefined) message.to = to;
  if (onlineOnly) message.onlineOnly = true;
  // RES-9. Online-only signals must not arrive late (G6).
  const isRepeatable = retryAfterReconnect !== false && !onlineOnly;
  append(core, { kind: 'signal', call, message, isRepeatable });
}

export function forceDisconnect(core, { call, connectionId }) {
  const message = { op: 'forceDisconnect', connectionId };
  append(core, { kind: 'forceDisconnect', call, message, isRepeatable: true });
}

export function refreshToken(core, { call, token }) {
  append(core, { kind: 'refreshToken', call, message: { op: 'refreshToken', token }, isRepeatable: true });
}

/**
 * A request of an extension, whose kind is its `op`. After a resume it is repeated (RES-9), except a `read`: the program
 * tells its newest marker with each connection.
 */
export function ask(core, { is: kind, call, message }) {
  append(core, { kind, call, message: { op: kind, ...message }, isRepeatable: kind !== 'read' });
}

function append(core, request) {
  switch (core.phase.name) {
    case 'connected':
      break;
    case 'reconnecting':
      if (request.isRepeatable) break;
      core.failNotConnected(request, 'The session is reconnecting.');
      return;
    default:
      core.failNotConnected(request, 'The session is not connected.');
      return;
  }
  if (core.pending.isFull) {
    const error = { code: Code.rateLimited, message: 'Too many requests are waiting for an answer.' };
    core.add({ do: 'callFailed', call: request.call, error });
    return;
  }
  core.pending.append(request);
  core.sendPending();
}

export function disconnect(core, now) {
  switch (core.phase.name) {
    case 'disconnected':
      // The end of the connection may be among the effects that are being executed, with this call in a handler of an
      // earlier one. The application has now ended the connection itself, and must not get the end twice.
      core.generation += 1;
      return;
    case 'disconnecting':
      return;
    case 'opening':
    case 'connecting':
      core.generation += 1;
      core.closeSocket(CloseCode.normal);
      core.failConnect(Code.connectFailed, 'Disconnected before the server answered.');
      break;
    case 'connected':
      core.generation += 1;
      core.phase = { name: 'disconnecting', until: now + ANSWER_TIMEOUT };
      core.send({ op: 'disconnect', id: core.nextRequestId() });
      break;
    case 'reconnecting':
      // Without a socket the server gets no `disconnect`: the others see the departure after the time of RES-12.
      core.generation += 1;
      core.leaveAttempt(CloseCode.normal);
      core.end('clientDisconnected');
      break;
  }
}
