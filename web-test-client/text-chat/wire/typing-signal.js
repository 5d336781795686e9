// How typing stands in signals. Both forms are always read; a policy says which one is written.

/** The three states of somebody who writes, with Layer's numbers for them. */
export const TYPING_ACTIONS = Object.freeze({ begin: 0, pause: 1, finish: 2 });

/** Type `typing`, data `{"action":"begin|pause|finish","n":1}`. */
export const ACTIONS_FORM = 'typing';

/** Type `TypingBegin`, no data: Easemob's, which says nothing of the end. */
export const BEGIN_ONLY_FORM = 'TypingBegin';

/** The signal to everybody, as `Session.signal` takes it; it has to go online-only. */
export function encodeTyping({ action, n }, wireForm) {
  if (wireForm === BEGIN_ONLY_FORM) return { type: BEGIN_ONLY_FORM, onlineOnly: true };
  return { type: ACTIONS_FORM, data: JSON.stringify({ action, n: n ?? undefined }), onlineOnly: true };
}

/**
 * What a signal says about typing, `{action, n}`; null when it is of another type, is no JSON object, or has an action that
 * this version does not know. A number of the wrong kind counts as absent (null).
 */
export function decodeTyping({ type, data }) {
  switch (type) {
    case BEGIN_ONLY_FORM:
      return { action: 'begin', n: null };
    case ACTIONS_FORM: {
      const members = parse(data);
      if (typeof members !== 'object' || members === null || !Object.hasOwn(TYPING_ACTIONS, members.action)) return null;
      return { action: members.action, n: typingNumber(members.n) };
    }
    default:
      return null;
  }
}

/** The number that a typing signal or a chat message carries: a whole number from 0 on that is exact, else null. */
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
