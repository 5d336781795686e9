import { authorOf } from './author.js';
import { ERASED } from './erased.js';

/** The members of a message that it may lack. */
export const BLANK = Object.freeze({
  alias: null, senderId: null, user: null, localId: null, failure: null, isErased: false, wireForm: null,
  connectionId: null, replyTo: null, version: null, editedAt: null, data: null, reactions: Object.freeze([]),
});

/** What an edit replaces in a message (CHAT-13); `version` is the edit's seq. */
export function formOf({ text, alias, replyTo, data, version, editedAt }) {
  return { text, alias, replyTo, data, version, editedAt };
}

/** What a message has that its first edition had not. */
export function laterForm(message) {
  if (message.isErased) return ERASED;
  return (message.version ?? null) === null ? {} : formOf(message);
}

/** What the server says of a message of one's own: which connection has sent it, whose user, and in which form. */
export function stampOf({ connectionId, user, wireForm }) {
  return { connectionId, user, wireForm };
}

/** A message of an earlier run: changes and reactions of now do not concern it, and its sender's number is gone. */
export function restoredForm(message) {
  const { direction, state } = message;
  const form = { ...message, seq: null, typingN: null, version: null, reactions: BLANK.reactions };
  if (direction !== 'sent' || state === 'sent') return form;
  const failure = state === 'failed' ? message.failure : { code: null, message: 'interrupted' };
  return { ...form, state: 'failed', failure };
}

/** Whether two messages with the same seq, of two orders, are one. The text of one that has changed says nothing. */
export function isRepeated(shown, read) {
  if (shown.direction === 'sent' && read.direction === 'sent') return true;
  const hasChanged = [shown, read].some(({ isErased = false, version = null }) => isErased || version !== null);
  return authorOf(shown) === authorOf(read) && (hasChanged || shown.text === read.text);
}
