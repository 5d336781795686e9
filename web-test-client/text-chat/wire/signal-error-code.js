/** The codes of `session.signal`'s errors that the chat distinguishes. */
export const SignalErrorCode = Object.freeze({
  /** The connection to which a signal is directed is not in the session. */
  notFound: 404,
  /** The connection was lost: the signal may have arrived all the same, and its echo may still come. */
  notConnected: 500,
});
