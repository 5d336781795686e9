import { displayName } from './display-name.js';

/** Connections remembered at most; those that were heard of least recently go first. */
const CAPACITY = 4096;

/** Marks that turn the text around them, or cannot be seen at all. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu;

/**
 * What to call senders. What the server vouches for, the connection's data, comes first. A name in a message's data is only
 * taken for a connection without any, and never when somebody else bears it: nobody speaks under another's name.
 */
export class NameBook {
  /** Connection id → {name, isVouched}. */
  #entries = new Map();

  /** Takes a connection as the server describes it. */
  note({ connectionId, data }) {
    const isVouched = typeof data === 'string' && data.trim() !== '';
    const known = this.#entries.get(connectionId);
    if (!isVouched && known) return this.#put(connectionId, known);
    this.#put(connectionId, { name: isVouched ? displayName({ data, connectionId }) : null, isVouched });
  }

  /** The name for a message's sender, `alias` being what the message says; `Server` where neither is known. */
  nameOf({ senderId, alias }) {
    if (senderId === null || senderId === undefined) return alias ? displayName({ data: alias }) : 'Server';
    const entry = this.#entries.get(senderId) ?? { name: null, isVouched: false };
    if (entry.isVouched) return entry.name;
    const claimed = alias ? displayName({ data: alias, connectionId: senderId }) : entry.name;
    const name = claimed !== null && !this.#isTaken(claimed, senderId) ? claimed : null;
    this.#put(senderId, { name, isVouched: false });
    return name ?? displayName({ connectionId: senderId });
  }

  #isTaken(name, connectionId) {
    const wanted = looked(name);
    for (const [id, entry] of this.#entries) {
      if (id !== connectionId && entry.name !== null && looked(entry.name) === wanted) return true;
    }
    return false;
  }

  #put(connectionId, entry) {
    this.#entries.delete(connectionId);
    this.#entries.set(connectionId, entry);
    if (this.#entries.size > CAPACITY) this.#entries.delete(this.#entries.keys().next().value);
  }
}

/** As people see it: what cannot be told apart at a glance is the same. */
function looked(name) {
  return name.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/g, ' ').trim().toLowerCase();
}
