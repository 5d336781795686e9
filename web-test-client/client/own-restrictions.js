/**
 * The restrictions that keep one client from writing, as the server has told it (MOD-5). `now` and `until` are in ms
 * since 1970. A restriction ends at `until` without a further event (MOD-2).
 *
 * Swift has the same; `Tests/Vectors/restrictions` holds both to the same behaviour.
 */
export class OwnRestrictions {
  /** Kind → `{restriction, endsAt}`; `endsAt` is `Infinity` for one that holds until it is lifted. */
  #held = new Map();
  #isModerator = false;

  /** The client is in the session, and this holds: the list of `connected`. A freeze does not hold for moderators. */
  enter(restrictions = [], { isModerator = false } = {}) {
    this.#isModerator = isModerator;
    this.#held.clear();
    for (const restriction of restrictions) this.restrict(restriction);
  }

  /** A newer restriction replaces one of the same kind. */
  restrict(restriction) {
    if (this.#isModerator && restriction.kind === 'freeze') return;
    this.#held.set(restriction.kind, { restriction, endsAt: restriction.until ?? Infinity });
  }

  /** This one is lifted. */
  lift(kind) {
    this.#held.delete(kind);
  }

  /**
   * A request was refused because of this restriction. `retryAfter`, the ms that it still holds, counts more than
   * `until`: the client's clock may be wrong.
   */
  refused(restriction, retryAfter = null, now) {
    this.#held.set(restriction.kind, {
      restriction, endsAt: retryAfter === null ? (restriction.until ?? Infinity) : now + retryAfter,
    });
  }

  /** What holds, the one that holds longest first. */
  holding(now) {
    const held = [...this.#held.values()].filter(({ endsAt }) => endsAt > now);
    // Two without an end have no difference.
    held.sort((left, right) => (left.endsAt === right.endsAt ? 0 : left.endsAt > right.endsAt ? -1 : 1));
    return held.map(({ restriction }) => restriction);
  }

  /** When `holding` changes next by the clock; null: not before the next event. */
  nextEnd(now) {
    const ends = [...this.#held.values()].map(({ endsAt }) => endsAt).filter((each) => each > now && each < Infinity);
    return ends.length === 0 ? null : Math.min(...ends);
  }
}
