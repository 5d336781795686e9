// The inputs of a `ClientState` that come from the page and its network. The Swift machine has none of them.

import { CloseCode, Code } from './wire/codes.js';
import { reconnectWindow } from './reconnect-policy.js';

/** How much longer an overdue ping may take when the socket may be dead. */
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
      // Keep a wait that the server asked for: the server spreads the returns of its clients.
      if (!reconnection.isRequestedWait && now < reconnection.giveUpAt) core.startAttempt(now);
      break;
    case 'suspended':
      if (sign !== 'pageShown') return;
      // The time in which the page was kept does not count. The server decides whether the connection can resume.
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

/** A page that is left for good cannot wait for an answer. The close alone informs the server (PRES-2). */
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
