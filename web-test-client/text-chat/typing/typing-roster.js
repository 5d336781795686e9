import { NOBODY, TypingDisplay, isSameTyper } from './typing-display.js';
import { TYPING_PRESETS } from './typing-policy.js';

/** How many connections are followed at most. */
export const CONNECTION_LIMIT = 10_000;

/**
 * Who is typing in one room, as one connection sees it. Signals and events of others go in; each input returns the new snapshot
 * if it is another, else null. A snapshot is `{typing, paused, typingCount, pausedCount}`: the first `typerLimit` people in the
 * order in which they began, each `{name, connectionId}`, and how many there are in all.
 *
 * Kept per connection, shown per person. Each state lasts its policy's expiry, to the instant. A chat message from a
 * connection ends that connection's typing, and nobody else's. Who has stopped typing is shown for the policy's `linger` more, but
 * not beside their message, and not when they have left.
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
  // By person: the connections on which they type or pause; nobody has none.
  #people = new Map();
  #display;
  // Not later than the first moment at which somebody expires; null when nobody types or pauses.
  #earliest = null;
  #blocked = new Set();
  #isHidden = false;
  #memberCount = 0;

  constructor({ policy = TYPING_PRESETS.standard, ownConnection = null } = {}) {
    this.#policy = policy;
    this.#ownConnection = ownConnection;
    this.#display = new TypingDisplay(policy);
  }

  /** Who types now. May be asked at any time. */
  get current() {
    return this.#current;
  }

  /** When `advance` has to be called next, perhaps earlier than needed; null: not before the next input. */
  get nextDeadline() {
    const shown = this.#display.nextDeadline;
    return shown === null ? this.#earliest : Math.min(this.#earliest ?? shown, shown);
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
          this.#put({ ...record, state: 'typing', until: now + this.#policy.beginExpiry }, from, { name: user, now });
          break;
        case 'pause':
          this.#put({ ...record, state: 'paused', until: now + this.#policy.pauseExpiry }, from, { name: user, now });
          break;
        default:
          this.#put({ ...record, ...this.#remembered(now) }, from, { name: user, now });
      }
    });
  }

  /** A chat message, and the number that it carries (null: none). */
  message(from, typingN, now) {
    return this.#handle(now, () => {
      if (this.#isSilent || from === this.#ownConnection) return;
      // Whatever it says of typing: nobody is shown as typing beside their message who has stopped.
      this.#display.settle(from);
      const record = this.#known(from, now);
      if (!record) {
        // The begin that belongs to the message may still be under way.
        if (typingN === null || !this.#makeRoom(now)) return;
        this.#records.set(from, { person: `connection ${from}`, ...this.#remembered(now), lastN: typingN });
        return;
      }
      if (record.state === 'closed') return;
      this.#display.release(record.person);
      if (typingN !== null && record.lastN !== null && typingN < record.lastN) return;
      this.#put({ ...record, ...this.#remembered(now), lastN: typingN ?? record.lastN }, from, { isAtOnce: true, now });
    });
  }

  connectionDestroyed(id, now) {
    return this.#handle(now, () => {
      if (this.#isSilent || id === this.#ownConnection) return;
      this.#display.settle(id);
      const known = this.#known(id, now);
      if (!known && !this.#makeRoom(now)) return;
      const record = this.#records.get(id) ?? { person: `connection ${id}`, lastN: null };
      this.#put({ ...record, state: 'closed', until: now + this.#policy.beginExpiry }, id, { isAtOnce: true, now });
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
        for (const id of this.#people.get(key) ?? []) this.#records.delete(id);
        this.#update(key, { isAtOnce: true, now });
        this.#display.release(key);
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
    this.#display.clear();
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

  #put(record, id, { name = null, isAtOnce = false, now }) {
    this.#records.set(id, record);
    if (isShown(record)) {
      this.#earliest = Math.min(this.#earliest ?? record.until, record.until);
      const connections = this.#people.get(record.person) ?? new Set();
      this.#people.set(record.person, connections.add(id));
    }
    this.#update(record.person, { typer: { name: name || null, connectionId: id }, isAtOnce, now });
  }

  // Shows a person as their connections say, from `now` on.
  #update(key, { typer = null, isAtOnce = false, now }) {
    const connections = this.#people.get(key);
    if (!connections) return;
    const ended = [];
    let isTyping = false;
    for (const id of connections) {
      const record = this.#records.get(id);
      if (!record || !isShown(record)) ended.push(id);
      else if (record.state === 'typing' || this.#policy.pausedCountsAsTyping) isTyping = true;
    }
    for (const id of ended) connections.delete(id);
    const state = connections.size === 0 ? null : isTyping ? 'typing' : 'paused';
    if (state === null) this.#people.delete(key);
    if (this.#people.size === 0) this.#earliest = null;
    this.#display.set(key, { state, typer, ended, isAtOnce, now });
  }

  #expire(now) {
    if (this.#earliest !== null && this.#earliest <= now) {
      const over = [...this.#records].filter(([, record]) => record.until <= now);
      // From the moment at which each was due, however late the timer.
      for (const [id, { person, until }] of over.sort(([, one], [, other]) => one.until - other.until)) {
        this.#records.delete(id);
        this.#update(person, { now: until });
      }
      this.#earliest = null;
      for (const record of this.#records.values()) {
        if (isShown(record)) this.#earliest = Math.min(this.#earliest ?? record.until, record.until);
      }
    }
    this.#display.advance(now);
  }

  #changed() {
    const snapshot = this.#display.changeFrom(this.#current);
    if (snapshot !== null) this.#current = snapshot;
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

function isShown(record) {
  return record.state === 'typing' || record.state === 'paused';
}
