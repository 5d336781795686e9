/** How many people are shown for longer at most. */
const HOLD_LIMIT = 10_000;

export const NOBODY = Object.freeze({ typing: Object.freeze([]), paused: Object.freeze([]), typingCount: 0, pausedCount: 0 });

/**
 * Whom a `TypingRoster` shows. It is told how each person stands, and shows who has stopped typing a moment longer, so that
 * nothing flickers: the policy's `linger` and `minimumShow`. Only what is shown waits. What counts, and until when, is the roster's.
 */
export class TypingDisplay {
  #policy;
  // By person: {place, typer, shown, state, typingSince, hold}; `hold` is {until, connections}, those on which they have stopped.
  #people = new Map();
  #held = new Set();
  // Whose connections were, of those shown for longer.
  #persons = new Map();
  #typing = new Line();
  #paused = new Line();
  #lastPlace = 0;
  #nextDeadline = null;

  constructor(policy) {
    this.#policy = policy;
  }

  /** Not later than the first moment at which somebody is shown long enough; null when nobody is shown for longer. */
  get nextDeadline() {
    return this.#nextDeadline;
  }

  /**
   * A person stands so from `now` on: `typing`, `paused` or null. `ended` are the connections on which they were one of these until
   * then, and are not any more. `isAtOnce`: nothing of it is shown for longer.
   */
  set(key, { state, typer, ended, isAtOnce, now }) {
    const person = this.#people.get(key);
    if (!person) {
      if (state === null) return;
      this.#lastPlace += 1;
      const added = { place: this.#lastPlace, typer: Object.freeze(typer), shown: null, state, typingSince: null, hold: null };
      if (state === 'typing') added.typingSince = now;
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

  /** Nobody who was on this connection is shown for longer. */
  settle(connection) {
    const key = this.#persons.get(connection);
    if (key !== undefined) this.release(key);
  }

  /** This person is not shown for longer. */
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
    this.#typing = new Line();
    this.#paused = new Line();
    this.#nextDeadline = null;
  }

  /** The new snapshot, if it is another than `last`; else null. */
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
    return isSame(snapshot, last) ? null : snapshot;
  }

  // Until when somebody is shown who has stopped now.
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

  // Puts a person into the line where they belong.
  #show(key, person) {
    const shown = person.hold === null ? person.state : 'typing';
    if (shown !== person.shown) {
      this.#line(person.shown)?.remove(person.place);
      this.#line(shown)?.insert(person.place, person.typer);
      person.shown = shown;
    }
    if (shown === null) this.#people.delete(key);
    if (shown === 'paused') person.typingSince = null;
  }

  #line(shown) {
    return { typing: this.#typing, paused: this.#paused }[shown];
  }
}

/** People in the order of their places. */
class Line {
  #members = [];
  hasChanged = false;

  get count() {
    return this.#members.length;
  }

  first(limit) {
    return Object.freeze(this.#members.slice(0, limit).map(({ typer }) => typer));
  }

  insert(place, typer) {
    this.#members.splice(this.#index(place), 0, { place, typer });
    this.hasChanged = true;
  }

  remove(place) {
    const index = this.#index(place);
    if (this.#members[index]?.place !== place) return;
    this.#members.splice(index, 1);
    this.hasChanged = true;
  }

  #index(place) {
    let low = 0;
    let high = this.#members.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#members[middle].place < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function isSameTyper(one, other) {
  return one.name === other.name && one.connectionId === other.connectionId;
}

function isSame(one, other) {
  return (
    one.typingCount === other.typingCount &&
    one.pausedCount === other.pausedCount &&
    ['typing', 'paused'].every(
      (list) =>
        one[list].length === other[list].length && one[list].every((typer, place) => isSameTyper(typer, other[list][place])),
    )
  );
}
