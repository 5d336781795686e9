// The form of typing signals. Both forms are always read; the policy chooses the one that is written.

/** The three states of a user who writes, with Layer's numbers. */
export const TYPING_ACTIONS = Object.freeze({ begin: 0, pause: 1, finish: 2 });

/** Type `typing`, data `{"action":"begin|pause|finish","n":1}`. */
export const ACTIONS_FORM = 'typing';

/** Type `TypingBegin`, no data: Easemob's, which has no end. */
export const BEGIN_ONLY_FORM = 'TypingBegin';

/** The options of an online-only signal to all clients, or to the connection with the id `to`. */
export function encodeTyping({ action, n, to = null }, wireForm) {
  const target = to === null ? {} : { to };
  if (wireForm === BEGIN_ONLY_FORM) return { type: BEGIN_ONLY_FORM, onlineOnly: true, ...target };
  return { type: ACTIONS_FORM, data: JSON.stringify({ action, n: n ?? undefined }), onlineOnly: true, ...target };
}

/**
 * Reads a signal: `{action, n}`; null if it has another type, is not a JSON object, or has an action that this version
 * does not know. A number of the wrong kind counts as absent (null).
 */
export function decodeTyping({ type, data }) {
  switch (type) {
    case BEGIN_ONLY_FORM:
      return { action: 'begin', n: null };
    case ACTIONS_FORM: {
      const members = parse(data);
      if (typeof members !== 'object' || members === null) return null;
      if (!Object.hasOwn(TYPING_ACTIONS, members.action)) return null;
      return { action: members.action, n: typingNumber(members.n) };
    }
    default:
      return null;
  }
}

/** Reads the number of a typing signal or a chat message: a whole number from 0 on that is exact, else null. */
export function typingNumber(value) {
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function parse(data) {
  if (typeof data !== 'string') return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
