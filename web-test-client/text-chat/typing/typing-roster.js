import { TypingDisplay } from './typing-display.js';
import { TYPING_PRESETS } from './typing-presets.js';
import { NOBODY } from './typing-snapshot.js';

/** How many connections the roster follows at most. */
export const CONNECTION_LIMIT = 10_000;

/**
 * The people who type in one room, as one connection sees it. Inputs (see `TypingIndicator`) go in; each returns the
 * new snapshot if it differs from the last, else null.
 *
 * - State is kept per connection and shown per person. A person on two connections is one, and is gone when both are.
 *   Connections are of one person by the server's word (`userId`), or else if their data names the same user.
 * - Nobody sees themself, from another connection of their own either (TYP-10).
 * - Each state lasts its policy's expiry, to the instant.
 * - A chat message ends the typing of its own connection, and of no other.
 * - A person who stops typing is shown for the policy's `linger` more, except after a message or a departure.
 *
 * In a room with more members than the policy's `roomCap` the roster shows only the recipient: the connection to which
 * this user's own signals are directed.
 *
 * Signals of a connection are numbered, and the roster drops one whose number is not higher than the last seen. A chat
 * message may carry the number of the last typing signal that its sender had written by then. A begin up to that number
 * is older than the message and is dropped, however late it arrives. A begin beyond that number is about the next
 * message; this message does not end it.
 */
export class TypingRoster {
  #policy;
  #ownConnection;
  #ownUser;
  #current = NOBODY;
  // By connection: {person, name, state, until, lastN}; states are typing, paused, silent (its number is remembered)
  // and closed.
  #records = new Map();
  // By person: the connections on which they type or pause; no entry is empty.
  #people = new Map();
  #display;
  // The next expiry, or a moment before it; null when nobody types or pauses.
  #earliest = null;
  #blocked = new Set();
  #isHidden = false;
  #memberCount = 0;
  #recipient = null;

  constructor({ policy = TYPING_PRESETS.standard, ownConnection = null, ownUser = null } = {}) {
    this.#policy = policy;
    this.#ownConnection = ownConnection;
    this.#ownUser = ownUser;
    this.#display = new TypingDisplay(policy);
  }

  /** The people who type now. */
  get current() {
    return this.#current;
  }

  /** When to call `advance` next, perhaps earlier than needed; null: not before the next input. */
  get nextDeadline() {
    const shown = this.#display.nextDeadline;
    return shown === null ? this.#earliest : Math.min(this.#earliest ?? shown, shown);
  }

  handle(input, now) {
    this.#expire(now);
    switch (input.kind) {
      case 'signal':
        this.#receive(input, now);
        break;
      case 'messageReceived':
        this.#end(input, now);
        break;
      case 'connectionDestroyed':
        this.#close(input.id, now);
        break;
      case 'connected':
        this.#ownConnection = input.id;
        this.#ownUser = input.userId ?? null;
        this.#clear();
        break;
      case 'reconnecting':
      case 'disconnected':
        this.#clear();
        break;
      case 'blockedUsers':
        this.#block(input.users, now);
        break;
      case 'optedOut':
        this.#isHidden = input.value && this.#policy.isReciprocal;
        if (this.#isHidden) this.#clear();
        break;
      case 'memberCount': {
        const wasOverCap = this.#isOverCap;
        this.#memberCount = input.value;
        if (this.#isOverCap && !wasOverCap) this.#clearExcept(this.#recipient, now);
        break;
      }
      case 'recipient':
        this.#recipient = input.id;
        if (this.#isOverCap) this.#clearExcept(input.id, now);
        break;
    }
    return this.#changed();
  }

  /** Handles the deadlines that have passed. Call it at `nextDeadline` or later. */
  advance(now) {
    this.#expire(now);
    return this.#changed();
  }

  #receive({ action, n = null, from, user = null, userId = null }, now) {
    if (!this.#follows(from) || (userId !== null && userId === this.#ownUser)) return;
    if ((user && this.#blocked.has(user)) || this.#blocked.has(userId)) return;
    const person = personOf(from, user, userId);
    let record = this.#known(from, now);
    if (record) {
      if (record.state === 'closed') return;
      if (n !== null && record.lastN !== null && n <= record.lastN) return;
      // Only a typing signal names the person, and while the connection is shown its person stays the same.
      if (!isShown(record)) record = { ...record, person, name: user };
    } else {
      if (!this.#makeSpace(now)) return;
      record = { person, name: user, state: 'silent', until: now, lastN: null };
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
  }

  #end({ from, typingN = null }, now) {
    if (!this.#follows(from)) return;
    // End the hold in any case: a person who has stopped typing does not linger beside their message.
    this.#display.settle(from);
    const record = this.#known(from, now);
    if (!record) {
      // The begin that this message ends may still arrive.
      if (typingN === null || !this.#makeSpace(now)) return;
      this.#records.set(from, { person: `connection ${from}`, ...this.#remembered(now), lastN: typingN });
      return;
    }
    if (record.state === 'closed') return;
    this.#display.release(record.person);
    if (typingN !== null && record.lastN !== null && typingN < record.lastN) return;
    this.#put({ ...record, ...this.#remembered(now), lastN: typingN ?? record.lastN }, from, { isAtOnce: true, now });
  }

  #close(id, now) {
    if (!this.#follows(id)) return;
    this.#display.settle(id);
    if (!this.#known(id, now) && !this.#makeSpace(now)) return;
    const record = this.#records.get(id) ?? { person: `connection ${id}`, lastN: null };
    this.#put({ ...record, state: 'closed', until: now + this.#policy.beginExpiry }, id, { isAtOnce: true, now });
  }

  #block(users, now) {
    this.#blocked = new Set(users);
    for (const user of this.#blocked) {
      for (const key of [`name ${user}`, `user ${user}`]) this.#forget(key, now);
    }
    // A person by the server's word, of whom the app knows the name.
    for (const [key, connections] of [...this.#people]) {
      if ([...connections].some((id) => this.#blocked.has(this.#records.get(id)?.name))) this.#forget(key, now);
    }
  }

  #forget(key, now) {
    for (const id of this.#people.get(key) ?? []) this.#records.delete(id);
    this.#update(key, { isAtOnce: true, now });
    this.#display.release(key);
  }

  get #isOverCap() {
    return this.#policy.roomCap !== null && this.#memberCount > this.#policy.roomCap;
  }

  // Whether the roster follows this connection at all.
  #follows(id) {
    return id !== this.#ownConnection && !this.#isHidden && (!this.#isOverCap || id === this.#recipient);
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

  // Forgets every connection but one.
  #clearExcept(id, now) {
    const kept = id === null ? null : this.#known(id, now);
    this.#clear();
    if (kept === null) return;
    this.#put(kept, id, { name: kept.name ?? null, now });
  }

  // Whether the roster can follow one more connection. It drops remembered numbers, but no connection that is shown.
  #makeSpace(now) {
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

  // Shows a person as their connections state, from `now` on.
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
      // Count from the deadline of each, even if the timer is late.
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

/** The person of a connection: a user by the server's word, else one by a name, else the connection itself. */
function personOf(connectionId, name, userId) {
  if (userId !== null) return `user ${userId}`;
  return name ? `name ${name}` : `connection ${connectionId}`;
}

function isShown(record) {
  return record.state === 'typing' || record.state === 'paused';
}
