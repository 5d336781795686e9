// Moderation as programs ask for it (MOD-1). An extension.

const USER_LENGTH = 128;
const REASON_LENGTH = 256;
const CONNECTION_ID_LENGTH = 255;
const LONGEST_SECONDS = 31_536_000;

/** The members that may name whom or what an action concerns, and whether it begins a restriction. */
const ACTIONS = {
  mute: { targets: ['user', 'connectionId'], begins: true },
  unmute: { targets: ['user', 'ref'], begins: false },
  ban: { targets: ['user', 'connectionId'], begins: true, erases: true },
  unban: { targets: ['user', 'ref'], begins: false },
  freeze: { targets: [], begins: true },
  unfreeze: { targets: [], begins: false },
};

const CHECKS = { user: isUser, connectionId: isConnectionId, ref: isSeq };

/** The members of a `moderate` request; null if the program's action is none. */
export function moderationRequest(given) {
  const { action, seconds, reason, eraseMessages } = given ?? {};
  if (!Object.hasOwn(ACTIONS, String(action))) return null;
  const { targets, begins, erases = false } = ACTIONS[action];
  const named = Object.keys(CHECKS).filter((name) => isGiven(given[name]));
  if (named.length !== Math.min(1, targets.length)) return null;
  if (!named.every((name) => targets.includes(name) && CHECKS[name](given[name]))) return null;
  if (isGiven(seconds) && !(begins && isSeconds(seconds))) return null;
  if (isGiven(reason) && !(begins && typeof reason === 'string' && reason.length <= REASON_LENGTH)) return null;
  if (isGiven(eraseMessages) && !(erases && typeof eraseMessages === 'boolean')) return null;
  return {
    action,
    ...Object.fromEntries(named.map((name) => [name, given[name]])),
    ...(isGiven(seconds) ? { seconds } : {}),
    ...(isGiven(reason) && reason !== '' ? { reason } : {}),
    ...(eraseMessages === true ? { eraseMessages } : {}),
  };
}

export function isUser(value) {
  return typeof value === 'string' && value !== '' && value.length <= USER_LENGTH;
}

function isConnectionId(value) {
  return typeof value === 'string' && value !== '' && value.length <= CONNECTION_ID_LENGTH;
}

function isSeq(value) {
  return Number.isSafeInteger(value) && value >= 0;
}

function isSeconds(value) {
  return Number.isInteger(value) && value >= 1 && value <= LONGEST_SECONDS;
}

function isGiven(value) {
  return value !== undefined && value !== null;
}
