/**
 * The server's clock, as far as a client knows it. A computer's own clock may be an hour off; what the server says, such as
 * the end of a mute or the time of a message, is by the server's. Times are in ms since 1970.
 *
 * Swift has the same; `Tests/Vectors/clock` holds both to the same behaviour.
 */
export class ServerClock {
  #offset = 0;

  /** The server has made this connection just now. One that was resumed is older. */
  connected({ outcome, connection: { creationTime } }, now) {
    if (outcome !== 'resumed' && Number.isInteger(creationTime)) this.#offset = creationTime - now;
  }

  /** The server has refused a request just now: the restriction until `until` holds for `retryAfter` more (ERR-1). */
  refused({ until }, retryAfter, now) {
    if (until !== undefined && retryAfter !== undefined) this.#offset = until - retryAfter - now;
  }

  /** The server's time when it is `now` here. */
  at(now) {
    return now + this.#offset;
  }
}
