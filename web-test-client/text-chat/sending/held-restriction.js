/** How long a chat waits before it asks again: this clock may be ahead of the server's, which says when it ends. */
const NEXT_CHECK_MILLISECONDS = 1000;

/** What keeps the user from writing (MOD-4, MOD-5), as the channel has said when it was last asked. */
export class HeldRestriction {
  /** `{kind, until, reason}`, the last two only where they exist; null: nothing. */
  present = null;

  /** Notes the channel's answer. Returns whether it is another one. */
  note(present) {
    if (isSame(present, this.present)) return false;
    this.present = present;
    return true;
  }

  /** When to ask again; null: it holds until it is lifted, or there is none. */
  nextCheck(now) {
    const until = this.present?.until;
    return until === undefined ? null : Math.max(until, now + NEXT_CHECK_MILLISECONDS);
  }
}

function isSame(left, right) {
  if (left === null || right === null) return left === right;
  return left.kind === right.kind && left.until === right.until && left.reason === right.reason;
}
