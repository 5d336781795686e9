// What the page and its network tell a `ClientState`. The Swift machine has no such inputs.

import { CloseCode, Code } from './codes.js';
import { reconnectWindow } from './reconnect-policy.js';

/** How long an overdue ping may still take when there is reason to doubt the socket. */
const CHECK_TIME = 2_000;

export function encouraged(core, sign, now) {
  const phase = core.phase;
  if (phase.name === 'connected') {
    // The socket may not have survived the pause. An overdue ping has little time left.
    if (now - phase.lastHeard > phase.terms.heartbeat) phase.checkUntil ??= now + CHECK_TIME;
    return;
  }
  if (phase.name !== 'reconnecting') return;
  const { reconnection, terms } = phase;
  switch (reconnection.step) {
    case 'waiting':
      // A wait that the server asked for holds: the server asks each client for another one.
      if (!reconnection.isRequestedWait && now < reconnection.giveUpAt) core.startAttempt(now);
      break;
    case 'suspended':
      if (sign !== 'pageShown') return;
      // No time has passed for the page. The server knows what is left of the connection.
      reconnection.giveUpAt = now + reconnectWindow(terms.offer);
      core.startAttempt(now);
      break;
  }
}

/** Browsers keep pages for "back" only without open sockets, and a kept page cannot answer a heartbeat. */
export function pageStored(core, now) {
  switch (core.phase.name) {
    case 'connected':
      if (reconnectWindow(core.phase.terms.offer) === 0) return;
      core.closeSocket(CloseCode.heartbeatMissed);
      core.loseSocket(now);
      core.phase.reconnection.suspend();
      break;
    case 'reconnecting':
      core.leaveAttempt(CloseCode.heartbeatMissed);
      core.phase.reconnection.suspend();
      break;
  }
}

/** A page that goes for good cannot wait for an answer. The close alone tells the server (PRES-2). */
export function pageLeft(core) {
  switch (core.phase.name) {
    case 'disconnected':
      return;
    case 'opening':
    case 'connecting':
      core.closeSocket(CloseCode.normal);
      core.failConnect(Code.connectFailed, 'The page was left before the server answered.');
      return;
    case 'connected':
      core.send({ op: 'disconnect', id: core.nextRequestId() });
      core.closeSocket(CloseCode.normal);
      break;
    case 'reconnecting':
      core.leaveAttempt(CloseCode.normal);
      break;
    case 'disconnecting':
      core.closeSocket(CloseCode.normal);
      break;
  }
  core.end('clientDisconnected');
}
