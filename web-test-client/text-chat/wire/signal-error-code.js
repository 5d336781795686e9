/** The codes of `session.signal`'s errors that the chat distinguishes. */
export const SignalErrorCode = Object.freeze({
  /** The connection was lost: the signal may have arrived all the same, and its echo may still come. */
  notConnected: 500,
});
