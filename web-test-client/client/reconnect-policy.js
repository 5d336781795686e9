// The closes after which a client reconnects, and the wait before each attempt (CLOSE-1, RES-13), in milliseconds.

import { CloseCode, Code } from './wire/codes.js';

/** The longest wait before the first attempt; it doubles with each. */
const BASE = 250;
const LONGEST = 5_000;

/** The longest wait that a server may ask for. */
const LONGEST_REQUESTED_WAIT = 60_000;

/** The close codes of RFC 6455 and its registry that mean a lost socket, a proxy's failure, or a stopping server. */
const RECONNECTABLE_STANDARD_CODES = new Set([
  CloseCode.goingAway, CloseCode.noStatus, CloseCode.abnormal, CloseCode.serviceRestart, CloseCode.tryAgainLater,
  CloseCode.badGateway,
]);

/**
 * Full jitter: clients that lost their sockets together do not return together. `attempt` counts from 0, `random` is
 * from 0 up to 1.
 */
export function waitBefore(attempt, random) {
  return random * Math.min(LONGEST, BASE * 2 ** attempt);
}

/** CLOSE-1. */
export function mayReconnectAfter(code) {
  if (code < CloseCode.firstOfApplications) return RECONNECTABLE_STANDARD_CODES.has(code);
  return code < CloseCode.firstFinal;
}

/** The reason of a close that no `disconnected` message preceded (LEAVE-4). */
export function reasonForClose(code) {
  return code === CloseCode.forceDisconnected ? 'forceDisconnected' : 'networkDisconnected';
}

/** The server ended the connection because its token has expired (TOK-9). */
export const TOKEN_EXPIRED = Object.freeze({
  code: Code.authenticationError,
  message: 'The server ended the connection: the token has expired.',
});

/** Why the server does not let the client come back after a close that no `disconnected` message preceded, or null. */
export function errorForClose(code) {
  return code === CloseCode.tokenExpired ? TOKEN_EXPIRED : null;
}

/** The wait that the server asks for in `disconnected`; null if it is absent or invalid. */
export function requestedWait(reconnectAfter) {
  if (!Number.isInteger(reconnectAfter) || reconnectAfter < 0) return null;
  return Math.min(reconnectAfter, LONGEST_REQUESTED_WAIT);
}

/** How long after a loss the client tries to reconnect, from the offer in `connected`; 0: not at all. */
export function reconnectWindow(offer) {
  if (typeof offer?.secret !== 'string') return 0;
  const seconds = [offer.resumeSeconds, offer.recoverySeconds].filter((each) => Number.isFinite(each));
  return Math.max(0, ...seconds) * 1000;
}
