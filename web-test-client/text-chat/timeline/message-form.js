/** The members of a message that it may lack. */
export const BLANK = Object.freeze({
  alias: null, senderId: null, user: null, localId: null, failure: null, isErased: false, wireForm: null,
  connectionId: null, replyTo: null, version: null, editedAt: null, data: null,
});

/** What an edit replaces in a message (CHAT-13); `version` is the edit's seq. */
export function formOf({ text, alias, replyTo, data, version, editedAt }) {
  return { text, alias, replyTo, data, version, editedAt };
}

/** What the server says of a message of one's own: which connection has sent it, whose user, and in which form. */
export function stampOf({ connectionId, user, wireForm }) {
  return { connectionId, user, wireForm };
}
