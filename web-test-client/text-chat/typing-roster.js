import { TYPING_PRESETS } from './typing-policy.js';

/** How many connections are followed at most. */
export const CONNECTION_LIMIT = 10_000;

const NOBODY = Object.freeze({ typing: Object.freeze([]), paused: Object.freeze([]), typingCount: 0, pausedCount: 0 });

/**
 * Who is typing in one room, as one connection sees it. Signals and events of others go in; each input returns the new snapshot
 * if it is another, else null. A snapshot is `{typing, paused, typingCount, pausedCount}`: the first `typerLimit` people in the
 * order in which they began, each `{name, connectionId}`, and how many there are in all.
 *
 * Kept per connection, shown per person. Each state lasts its policy's expiry, to the instant. A chat message from a
 * connection ends that connection's typing, and nobody else's.
 *
 * Signals of a connection are numbered, and one that is not newer than the last seen is dropped. A chat message may carry the
 * number of the last typing signal that its sender had written by then: a begin up to that number is older than the message, however
 * late it comes, and is dropped; one beyond it is about the next message, which this one does not end.
 */
export class TypingRoster {
  #policy;
  #ownConnection;
  #current = NOBODY;
  // By connection: {person, name, state, until, lastN}; states are typing, paused, silent (remembered) and closed (gone).
  #records = new Map();
  // By person: {place, typer, connections, shown}.
  #people = new Map();
  #typing = new Line();
  #paused = new Line();
  #earliest = null;
  #lastPlace = 0;
  #blocked = new Set();
  #isHidden = false;
  #memberCount = 0;

  constructor({ policy = TYPING_PRESETS.standard, ownConnection = null } = {}) {
    this.#policy = policy;
    this.#ownConnection = ownConnection;
  }

  /** Who types now. May be asked at any time. */
  get current() {
    return this.#current;
  }

  /** When `advance` has to be called next, perhaps earlier than needed; null: not before the next input. */
  get nextDeadline() {
    return this.#earliest;
  }

  /** A typing signal (`{action, n}`) of another connection; `user` is whom it belongs to, null or empty if nobody knows. */
  signal({ action, n }, from, user, now) {
    return this.#handle(now, () => {
      if (this.#isSilent || from === this.#ownConnection || (user && this.#blocked.has(user))) return;
      const person = user ? `user ${user}` : `connection ${from}`;
      let record = this.#known(from, now);
      if (record) {
        if (record.state === 'closed') return;
        if (n !== null && record.lastN !== null && n <= record.lastN) return;
        if (!isShown(record)) record = { ...record, person };
      } else {
        if (!this.#makeRoom(now)) return;
        record = { person, state: 'silent', until: now, lastN: null };
      }
      record = { ...record, lastN: n ?? record.lastN };
      switch (action) {
        case 'begin':
          this.#put({ ...record, state: 'typing', until: now + this.#policy.beginExpiry }, from, user);
          break;
        case 'pause':
          this.#put({ ...record, state: 'paused', until: now + this.#policy.pauseExpiry }, from, user);
          break;
        default:
          this.#put({ ...record, ...this.#remembered(now) }, from, user);
      }
    });
  }

  /** A chat message, and the number that it carries (null: none). */
  message(from, typingN, now) {
    return this.#handle(now, () => {
      if (this.#isSilent || from === this.#ownConnection) return;
      const record = this.#known(from, now);
      if (!record) {
        // The begin that belongs to the message may still be under way.
        if (typingN === null || !this.#makeRoom(now)) return;
        this.#records.set(from, { person: `connection ${from}`, ...this.#remembered(now), lastN: typingN });
        return;
      }
      if (record.state === 'closed') return;
      if (typingN !== null && record.lastN !== null && typingN < record.lastN) return;
      this.#put({ ...record, ...this.#remembered(now), lastN: typingN ?? record.lastN }, from, null);
    });
  }

  connectionDestroyed(id, now) {
    return this.#handle(now, () => {
      if (this.#isSilent || id === this.#ownConnection) return;
      const known = this.#known(id, now);
      if (!known && !this.#makeRoom(now)) return;
      const record = this.#records.get(id) ?? { person: `connection ${id}`, lastN: null };
      this.#put({ ...record, state: 'closed', until: now + this.#policy.beginExpiry }, id, null);
    });
  }

  /** This connection is there, or there again: nobody knows any more who types. */
  connected(id, now) {
    return this.#handle(now, () => {
      this.#ownConnection = id;
      this.#clear();
    });
  }

  /** Exactly these users are never shown, on whichever connection. */
  blocked(users, now) {
    return this.#handle(now, () => {
      this.#blocked = new Set(users);
      for (const user of this.#blocked) {
        const key = `user ${user}`;
        for (const id of this.#people.get(key)?.connections ?? []) this.#records.delete(id);
        this.#update(key);
      }
    });
  }

  /** Nobody is shown, as long as that is so. */
  hidden(isHidden, now) {
    return this.#handle(now, () => {
      this.#isHidden = isHidden;
      if (this.#isSilent) this.#clear();
    });
  }

  /** Connections in the room, one's own included. */
  memberCount(count, now) {
    return this.#handle(now, () => {
      this.#memberCount = count;
      if (this.#isSilent) this.#clear();
    });
  }

  /** Does what has become due; call it at `nextDeadline`, or later. */
  advance(now) {
    return this.#handle(now, () => {});
  }

  #handle(now, change) {
    this.#expire(now);
    change();
    return this.#changed();
  }

  get #isSilent() {
    return this.#isHidden || (this.#policy.roomCap !== null && this.#memberCount > this.#policy.roomCap);
  }

  #known(id, now) {
    const record = this.#records.get(id);
    return record && record.until > now ? record : null;
  }

  #remembered(now) {
    return { state: 'silent', until: now + this.#policy.beginExpiry };
  }

  #clear() {
    this.#records.clear();
    this.#people.clear();
    this.#typing = new Line();
    this.#paused = new Line();
    this.#earliest = null;
  }

  // Who is shown stays; what is merely remembered makes room.
  #makeRoom(now) {
    if (this.#records.size < CONNECTION_LIMIT) return true;
    this.#keep((record) => record.until > now);
    if (this.#records.size < CONNECTION_LIMIT) return true;
    this.#keep(isShown);
    return this.#records.size < CONNECTION_LIMIT;
  }

  #keep(isKept) {
    for (const [id, record] of this.#records) if (!isKept(record)) this.#records.delete(id);
  }

  #put(record, id, name) {
    this.#records.set(id, record);
    if (isShown(record)) {
      this.#earliest = Math.min(this.#earliest ?? record.until, record.until);
      let person = this.#people.get(record.person);
      if (!person) {
        this.#lastPlace += 1;
        const typer = Object.freeze({ name: name || null, connectionId: id });
        person = { place: this.#lastPlace, typer, connections: new Set(), shown: null };
        this.#people.set(record.person, person);
      }
      person.connections.add(id);
    }
    this.#update(record.person);
  }

  #update(key) {
    const person = this.#people.get(key);
    if (!person) return;
    let isTyping = false;
    for (const id of person.connections) {
      const record = this.#records.get(id);
      if (!record || !isShown(record)) person.connections.delete(id);
      else if (record.state === 'typing' || this.#policy.pausedCountsAsTyping) isTyping = true;
    }
    const shown = person.connections.size === 0 ? null : isTyping ? 'typing' : 'paused';
    if (shown !== person.shown) {
      this.#line(person.shown)?.remove(person.place);
      this.#line(shown)?.insert(person.place, person.typer);
      person.shown = shown;
    }
    if (shown === null) this.#people.delete(key);
    if (this.#people.size === 0) this.#earliest = null;
  }

  #line(shown) {
    return { typing: this.#typing, paused: this.#paused }[shown];
  }

  #expire(now) {
    if (this.#earliest === null || this.#earliest > now) return;
    const over = [...this.#records].filter(([, record]) => record.until <= now);
    for (const [id] of over) this.#records.delete(id);
    for (const [, record] of over) this.#update(record.person);
    this.#earliest = null;
    for (const record of this.#records.values()) {
      if (isShown(record)) this.#earliest = Math.min(this.#earliest ?? record.until, record.until);
    }
  }

  #changed() {
    const isCleared = this.#people.size === 0 && this.#current !== NOBODY;
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
    if (isSame(snapshot, this.#current)) return null;
    this.#current = snapshot;
    return snapshot;
  }
}

/** What has happened between two snapshots, `{typer, action}`: never the same state twice. */
export function typingChanges(earlier, later) {
  const has = (list, typer) => list.some((other) => isSameTyper(other, typer));
  const gone = [...earlier.typing, ...earlier.paused].filter((typer) => !has(later.typing, typer) && !has(later.paused, typer));
  return [
    ...gone.map((typer) => ({ typer, action: 'finish' })),
    ...later.paused.filter((typer) => !has(earlier.paused, typer)).map((typer) => ({ typer, action: 'pause' })),
    ...later.typing.filter((typer) => !has(earlier.typing, typer)).map((typer) => ({ typer, action: 'begin' })),
  ];
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

function isShown(record) {
  return record.state === 'typing' || record.state === 'paused';
}

function isSameTyper(one, other) {
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
