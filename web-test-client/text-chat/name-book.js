import { displayName, nameIn } from './display-name.js';

/** How many connections are remembered; the least recently noted are dropped. */
const CAPACITY = 4096;

/** Characters that a reader may not see, and marks that reverse the text around them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u{2800}]/gu;

/**
 * The names of senders. The connection's data has precedence, because the server vouches for it. A name in a message
 * counts only for a connection whose data has none, and only if no other connection has that name, so that no sender
 * can use another's name.
 */
export class NameBook {
  /** Connection id → {name, isVouched}. */
  #entries = new Map();

  /** Notes a connection as the server describes it. */
  note({ connectionId, data }) {
    const name = nameIn(data);
    const isVouched = name !== null;
    const known = this.#entries.get(connectionId);
    if (!isVouched && known) return this.#put(connectionId, known);
    this.#put(connectionId, { name, isVouched });
  }

  /**
   * The name of a message's sender; `alias` is the name in the message. Without either: `server()`, and for a connection
   * `guest(number)`.
   */
  nameOf({ senderId, alias }, { guest, server = () => 'Server' } = {}) {
    if (senderId === null || senderId === undefined) return nameIn(alias) ?? server();
    const entry = this.#entries.get(senderId) ?? { name: null, isVouched: false };
    if (entry.isVouched) return entry.name;
    const given = nameIn(alias) ?? entry.name;
    // A client without a name sends the one that it shows. The reader's own word for it is better.
    const claimed = given === displayName({ connectionId: senderId }) ? null : given;
    const name = claimed !== null && !this.#isTaken(claimed, senderId) ? claimed : null;
    this.#put(senderId, { name, isVouched: false });
    return name ?? displayName({ connectionId: senderId }, guest);
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

/** The name as a reader sees it: names that look alike are equal. */
function looked(name) {
  return name.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/g, ' ').trim().toLowerCase();
}
