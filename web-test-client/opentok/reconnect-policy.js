// When a lost connection is worth coming back to, and how long to wait before each try (CLOSE-1, RES-13). Times are in
// milliseconds.

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;

/** The longest wait that a server may ask for. */
const LONGEST_ASKED_WAIT = 60_000;

/** Of the codes of RFC 6455 itself, those that a lost socket, a proxy or a stopping server shows. */
const STANDARD_CODES_TO_COME_BACK_AFTER = new Set([1001, 1005, 1006, 1012, 1013, 1014]);

export function mayComeBackAfter(closeCode) {
  return closeCode < 3000 ? STANDARD_CODES_TO_COME_BACK_AFTER.has(closeCode) : closeCode < 4500;
}

/** The wait before try number `attempt`, which counts from 0; `random` is from 0 to 1 (full jitter). */
export function waitBefore(attempt, random) {
  return random * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt);
}

/** The wait that the server asks for in `disconnected`, or null when it asks for none that makes sense. */
export function askedWait(reconnectAfter) {
  return Number.isInteger(reconnectAfter) && reconnectAfter >= 0 ? Math.min(reconnectAfter, LONGEST_ASKED_WAIT) : null;
}

/** How long after a loss it is worth trying, by what `connected` offers; 0 when coming back leads to nothing. */
export function tryingTime(offer) {
  if (typeof offer?.secret !== 'string') return 0;
  const seconds = [offer.resumeSeconds, offer.recoverySeconds].filter((each) => Number.isFinite(each));
  return Math.max(0, ...seconds) * 1000;
}
