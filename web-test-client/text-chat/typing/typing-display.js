import { NOBODY, isSameSnapshot } from './typing-snapshot.js';

/** How many people are held at most. */
const HOLD_LIMIT = 10_000;

/**
 * Which people a `TypingRoster` shows. The roster sets each person's state. The display shows a person who stops typing
 * a moment longer, so that nothing flickers: the policy's `linger` and `minimumShow`. It delays only what is shown. The
 * roster decides which state holds, and until when.
 */
export class TypingDisplay {
  #policy;
  // By person: {rank, typer, shown, state, typingSince, hold}. The rank counts people in the order of their first
  // begin. `hold` is {until, connections}: the person is still shown as typing, but has stopped on these connections.
  #people = new Map();
  #held = new Set();
  // The held person of a connection on which that person has stopped typing.
  #persons = new Map();
  #typing = new OrderedTypers();
  #paused = new OrderedTypers();
  #lastRank = 0;
  #nextDeadline = null;

  constructor(policy) {
    this.#policy = policy;
  }

  /** The next moment at which a hold ends, or a moment before it; null when nobody is held. */
  get nextDeadline() {
    return this.#nextDeadline;
  }

  /**
   * Sets a person's state from `now` on: `typing`, `paused` or null. `ended` are the connections on which the person
   * was typing or pausing until then. `isAtOnce`: the person is not held.
   */
  set(key, { state, typer, ended, isAtOnce, now }) {
    const person = this.#people.get(key);
    if (!person) {
      if (state === null) return;
      this.#lastRank += 1;
      const typingSince = state === 'typing' ? now : null;
      const added = { rank: this.#lastRank, typer: Object.freeze(typer), shown: null, state, typingSince, hold: null };
      this.#people.set(key, added);
      this.#show(key, added);
      return;
    }
    person.state = state;
    if (state === 'typing') {
      this.#endHold(key, person);
      person.typingSince ??= now;
    } else if (isAtOnce) {
      this.#endHold(key, person);
    } else if (person.hold !== null) {
      this.#keep(key, person, ended);
    } else if (person.shown === 'typing' && this.#held.size < HOLD_LIMIT) {
      const until = this.#endOf(person, now);
      if (until > now) {
        person.hold = { until, connections: new Set() };
        this.#held.add(key);
        this.#nextDeadline = Math.min(this.#nextDeadline ?? until, until);
        this.#keep(key, person, ended);
      }
    }
    this.#show(key, person);
  }

  /** Ends the hold of a person who was on this connection. */
  settle(connection) {
    const key = this.#persons.get(connection);
    if (key !== undefined) this.release(key);
  }

  /** Ends the hold of this person. */
  release(key) {
    const person = this.#people.get(key);
    if (!person) return;
    this.#endHold(key, person);
    this.#show(key, person);
  }

  advance(now) {
    if (this.#nextDeadline === null || this.#nextDeadline > now) return;
    for (const key of [...this.#held]) if (this.#people.get(key).hold.until <= now) this.release(key);
    this.#nextDeadline = null;
    for (const key of this.#held) {
      const { until } = this.#people.get(key).hold;
      this.#nextDeadline = Math.min(this.#nextDeadline ?? until, until);
    }
  }

  clear() {
    this.#people.clear();
    this.#held.clear();
    this.#persons.clear();
    this.#typing = new OrderedTypers();
    this.#paused = new OrderedTypers();
    this.#nextDeadline = null;
  }

  /** The new snapshot, if it differs from `last`; else null. */
  changeFrom(last) {
    const isCleared = this.#people.size === 0 && last !== NOBODY;
    if (!this.#typing.hasChanged && !this.#paused.hasChanged && !isCleared) return null;
    this.#typing.hasChanged = false;
    this.#paused.hasChanged = false;
    const snapshot =
      this.#people.size === 0
        ? NOBODY
        : Object.freeze({
            typing: this.#typing.first(this.#policy.typerLimit),
            paused: this.#paused.first(this.#policy.typerLimit),
            typingCount: this.#typing.count,
            pausedCount: this.#paused.count,
          });
    return isSameSnapshot(snapshot, last) ? null : snapshot;
  }

  // The end of the hold of a person who stops now.
  #endOf({ typingSince }, now) {
    const { linger, minimumShow } = this.#policy;
    return Math.max(now + (linger ?? 0), typingSince + (minimumShow ?? 0));
  }

  #keep(key, person, ended) {
    for (const id of ended) {
      person.hold.connections.add(id);
      this.#persons.set(id, key);
    }
  }

  #endHold(key, person) {
    if (person.hold === null) return;
    for (const id of person.hold.connections) if (this.#persons.get(id) === key) this.#persons.delete(id);
    person.hold = null;
    this.#held.delete(key);
    if (this.#held.size === 0) this.#nextDeadline = null;
  }

  // Moves a person to the list that shows them.
  #show(key, person) {
    const shown = person.hold === null ? person.state : 'typing';
    if (shown !== person.shown) {
      this.#list(person.shown)?.remove(person.rank);
      this.#list(shown)?.insert(person.rank, person.typer);
      person.shown = shown;
    }
    if (shown === null) this.#people.delete(key);
    if (shown === 'paused') person.typingSince = null;
  }

  #list(shown) {
    return { typing: this.#typing, paused: this.#paused }[shown];
  }
}

/** People by rank. */
class OrderedTypers {
  #members = [];
  hasChanged = false;

  get count() {
    return this.#members.length;
  }

  first(limit) {
    return Object.freeze(this.#members.slice(0, limit).map(({ typer }) => typer));
  }

  insert(rank, typer) {
    this.#members.splice(this.#index(rank), 0, { rank, typer });
    this.hasChanged = true;
  }

  remove(rank) {
    const index = this.#index(rank);
    if (this.#members[index]?.rank !== rank) return;
    this.#members.splice(index, 1);
    this.hasChanged = true;
  }

  /** The index at which the rank is, or would be. */
  #index(rank) {
    let low = 0;
    let high = this.#members.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#members[middle].rank < rank) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
