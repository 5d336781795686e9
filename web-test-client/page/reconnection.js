/**
 * What a reconnection brought, in words: how long it took, how many messages were missed and have been caught up, and
 * how many events are lost. Pure; `now` is in milliseconds.
 */
export class Reconnection {
  #beganAt = null;
  #offer = null;
  #report = null;

  /** Null before the first reconnection. */
  get text() {
    if (this.#report === null) return null;
    const { seconds, caughtUp, lost } = this.#report;
    return `Back in ${seconds} s · ${caughtUp} caught up · ${lost}`;
  }

  /** The socket is lost. */
  began(now) {
    this.#beganAt ??= now;
    this.#report = null;
  }

  /** The server's `connected` on the next socket. */
  entered({ replayThrough = 0, missing = null }) {
    this.#offer = { replayThrough, missing };
  }

  /** The session has reconnected; the missed messages follow. */
  reconnected(outcome, now) {
    const { replayThrough, missing } = this.#offer ?? { replayThrough: 0, missing: null };
    const seconds = ((now - (this.#beganAt ?? now)) / 1000).toFixed(1);
    this.#beganAt = null;
    this.#report = { seconds, caughtUp: 0, lost: lostText(outcome, missing), replayThrough };
  }

  /** A message of another user. Returns whether it was one of the missed messages. */
  received(seq) {
    if (this.#report === null || seq === null || seq > this.#report.replayThrough) return false;
    this.#report.caughtUp += 1;
    return true;
  }

  /** The connection has ended. */
  ended() {
    this.#beganAt = null;
    this.#report = null;
  }
}

function lostText(outcome, missing) {
  if (outcome !== 'lost') return '0 lost';
  if (missing === null) return 'earlier messages may be lost';
  const count = missing.last - missing.first + 1;
  return count === 1 ? '1 event lost' : `${count} events lost`;
}
