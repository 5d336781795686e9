/**
 * What a reconnection brought, in words: how long it took, how many messages were missed and are loaded now, and how
 * many are lost. Pure; `now` is in milliseconds.
 */
export class Reconnection {
  #beganAt = null;
  #offer = null;
  #report = null;

  /** In the language of these `Words`; null before the first reconnection. */
  textIn(words) {
    if (this.#report === null) return null;
    const { milliseconds, caughtUp, lost } = this.#report;
    const parts = [
      words.text('connectedAfter', { time: { text: words.seconds(milliseconds / 1000) } }),
      caughtUp > 0 ? words.text('caughtUp', { count: caughtUp }) : null,
      lostText(lost, words),
    ];
    return parts.filter((part) => part !== null).join(' · ');
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
    const milliseconds = now - (this.#beganAt ?? now);
    this.#beganAt = null;
    this.#report = { milliseconds, caughtUp: 0, lost: lostCount(outcome, missing), replayThrough };
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

/** How many events are lost; null if the server does not know it. */
function lostCount(outcome, missing) {
  if (outcome !== 'lost') return 0;
  return missing === null ? null : missing.last - missing.first + 1;
}

/** Not each lost event is a message. */
function lostText(count, words) {
  if (count === null) return words.text('perhapsLost');
  return count === 0 ? words.text('nothingLost') : words.text('atMostLost', { count });
}
