// When an element tries again after a connect that has failed.

import { waitBefore } from '../../client/reconnect-policy.js';
import { Code } from '../../client/wire/codes.js';

/** The failures that may be gone the next time. All others are final. */
const PASSING = new Set([Code.connectFailed, Code.connectionLimitExceeded]);

/** After so many attempts in a row, about a minute, the server is left alone for longer. */
const PATIENT_ATTEMPTS = 24;

/** How much longer. */
const PATIENCE = 12;

/** Whether the element tries again without its user. `isSilent`: the server has not answered. `isFinal`: this page can open no connection. */
export function retriesByItself({ code, isSilent = false, isFinal = false }) {
  return isSilent || (PASSING.has(code) && !isFinal);
}

/** The wait after so many attempts that failed in a row, in milliseconds: that after a lost connection (RES-13). */
export function waitAfter(failureCount, random) {
  return waitBefore(failureCount, random) * (failureCount < PATIENT_ATTEMPTS ? 1 : PATIENCE);
}
