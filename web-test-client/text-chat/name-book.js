import { displayName, nameIn } from './display-name.js';

/** How many people, and how many connections, are remembered; the least recently noted are dropped. */
const CAPACITY = 4096;

/** Characters that a reader may not see, and marks that reverse the text around them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u{2800}]/gu;

/**
 * The names of senders. The connection's data has precedence, because the server vouches for it. A name in a message
 * counts only for a connection whose data has none, and only if no other person has that name, so that no sender can use
 * another's name.
 *
 * All connections of a user have one name, that of the newest (USR-1). A guest may have the same data as a user all the
 * same: `isGuest` tells them apart, for a mark beside the name.
 */
export class NameBook {
  /** Person → {name, isVouched}. */
  #entries = new Map();
  /** Connection id → user, of connections that have one. */
  #users = new Map();

  /** Whether some sender has a user, so that a guest is somebody else than the others. */
  get hasUsers() {
    return this.#users.size > 0;
  }

  /** Notes a connection as the server describes it. */
  note({ connectionId, data, user = null }) {
    if (user !== null) put(this.#users, connectionId, user);
    const name = nameIn(data);
    const isVouched = name !== null;
    const person = this.#personOf(connectionId, user);
    const known = this.#entries.get(person);
    put(this.#entries, person, !isVouched && known ? known : { name, isVouched });
  }

  /**
   * The name of a message's sender; `alias` is the name in the message. Without either: `server()`, and for a connection
   * `guest(number)`.
   */
  nameOf({ senderId, user = null, alias }, { guest, server = () => 'Server' } = {}) {
    if (isAbsent(senderId) && user === null) return nameIn(alias) ?? server();
    const person = this.#personOf(senderId, user);
    const entry = this.#entries.get(person) ?? { name: null, isVouched: false };
    if (entry.isVouched) return entry.name;
    const given = nameIn(alias) ?? entry.name;
    // A client without a name sends the one that it shows. The reader's own word for it is better.
    const claimed = given === displayName({ connectionId: senderId }) ? null : given;
    const name = claimed !== null && !this.#isTaken(claimed, person) ? claimed : null;
    put(this.#entries, person, { name, isVouched: false });
    return name ?? displayName({ connectionId: senderId }, guest);
  }

  /** The name of a user who is or was here; null: not known. */
  nameOfUser(user) {
    return this.#entries.get(this.#personOf(null, user))?.name ?? null;
  }

  /** Whether the sender is a guest among users. */
  isGuest({ senderId, user = null }) {
    return this.hasUsers && !isAbsent(senderId) && user === null && !this.#users.has(senderId);
  }

  #personOf(connectionId, user) {
    const known = user ?? this.#users.get(connectionId);
    return known === undefined ? `connection ${connectionId}` : `user ${known}`;
  }

  #isTaken(name, person) {
    const wanted = looked(name);
    for (const [other, entry] of this.#entries) {
      if (other !== person && entry.name !== null && looked(entry.name) === wanted) return true;
    }
    return false;
  }
}

function put(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > CAPACITY) map.delete(map.keys().next().value);
}

const isAbsent = (value) => value === null || value === undefined;

/** The name as a reader sees it: names that look alike are equal. */
function looked(name) {
  return name.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/g, ' ').trim().toLowerCase();
}
