import { displayName, nameIn, numberOf, vouchedName } from './display-name.js';
import { isReserved, lookOf } from './name-look.js';

/** How many senders are remembered that are not here; the least recently noted are dropped. */
const PAST_COUNT = 4096;

/**
 * The names of senders (CHAT-4). The server vouches for the connection that it stamps on a message, so the name in the
 * connection's data has precedence, and then the user of the token. The name in a message, its alias, counts only for a
 * guest without such a name, and only if it is no other's name, so that no sender can use another's.
 *
 * A name that the server vouches for comes from the message alone: it is the same for everybody, at any time. An alias
 * may turn out to be another's, so names that are shown can change: `revision` tells. Of several guests with the same
 * alias it is the name of the one that has used it first in the session's order, whatever is read first.
 *
 * Two persons may have the same name all the same. For a mark beside the name, `isGuest` tells a guest from a user, and
 * `numberOf` one user from another.
 */
export class NameBook {
  /**
   * Connection id → entry, of those that are here, and of others. An entry is
   * `{id, user, isVouched, name, look, first, last}`: `first` and `last` are the seqs of messages with an alias.
   */
  #here = new Map();
  #past = new Map();
  /** Look of a name → the ids of the connections that have it. */
  #owners = new Map();
  #hasUsers = false;
  #revision = 0;
  /** Stands for the seq of a message that has none. */
  #arrivals = Number.MAX_SAFE_INTEGER / 2;

  /** @type {boolean} Whether some sender has a user, so that a guest is somebody else than the others. */
  get hasUsers() {
    return this.#hasUsers;
  }

  /** @type {number} Increases when a name that was given may be another one now. */
  get revision() {
    return this.#revision;
  }

  /**
   * Notes a connection that is here, as the server describes it. Its name is kept until it has left.
   * @type {(connection: ChatConnection) => void}
   */
  note({ connectionId, data, user = null }) {
    const entry = this.#entryOf({ connectionId, data, user });
    this.#past.delete(connectionId);
    this.#here.set(connectionId, entry);
  }

  /** @type {(connectionId: string) => void} The connection is not here any more. */
  noteDeparture(connectionId) {
    const entry = this.#here.get(connectionId);
    if (entry === undefined) return;
    this.#here.delete(connectionId);
    this.#remember(entry);
  }

  /**
   * One's own connection has begun: these connections are here, and no others. Those that were here before keep what is
   * known of them, however many they are.
   * @type {(connections: readonly ChatConnection[]) => void}
   */
  enter(connections) {
    const left = new Set(this.#here.keys());
    for (const connection of connections) {
      this.note(connection);
      left.delete(connection.connectionId);
    }
    for (const id of left) this.noteDeparture(id);
  }

  /**
   * Notes the sender of a message, of now or of the history, and the name in the message.
   * @type {(message: NamedMessage) => void}
   */
  noteMessage(message) {
    this.#noted(message);
  }

  /**
   * The name of a message's sender; `alias` is the name in the message. Without a name: `guest(number)`, and for a
   * message by REST `server()`.
   * @type {(message: NamedMessage, options?: { guest?: (id: string) => string; server?: () => string }) => string}
   */
  nameOf(message, { guest, server = () => 'Server' } = {}) {
    const { senderId, senderData, user = null, alias, seq = null } = message;
    const entry = this.#noted(message);
    if (entry === null) return nameIn(alias) ?? (isFromServer(message) ? server() : (this.nameOfUser(user) ?? user));
    // The user may have connections with other names. This one sent the message.
    const vouched = isAbsent(senderData) ? vouchedIn(entry) : vouchedName({ data: senderData, user });
    if (vouched !== null) return vouched;
    // A signal that carries no name, as of typing, has that of the sender's messages.
    const claimed = isAbsent(senderData) && isAbsent(alias) ? entry.name : claimIn(alias);
    if (claimed !== null && !this.#isTaken(claimed, entry, seq)) return claimed;
    return displayName({ connectionId: senderId, user: entry.user }, guest);
  }

  /**
   * The number of the sender, to show beside the name, if another person has the same name; else null. It is made of the
   * user id, or of the connection id of a guest.
   * @type {(message: NamedMessage) => string | null}
   */
  numberOf(message) {
    const entry = this.#noted(message);
    const { senderId, user = null } = message;
    if (entry === null || !entry.isVouched) return null;
    for (const id of this.#owners.get(entry.look)) {
      const owner = this.#known(id);
      const isSame = owner === entry || (user !== null && owner.user === user);
      if (!isSame && owner.isVouched && (owner.user === null) === (user === null)) return numberOf(user ?? senderId);
    }
    return null;
  }

  /** @type {(user: string) => string | null} The name of a user who is or was here; null: not known. */
  nameOfUser(user) {
    if (isAbsent(user)) return null;
    for (const entries of [this.#here, this.#past]) {
      for (const entry of entries.values()) if (entry.user === user && entry.isVouched) return entry.name;
    }
    return null;
  }

  /** @type {(message: Omit<NamedMessage, 'alias'>) => boolean} Whether the sender is a guest among users. */
  isGuest(message) {
    if (!this.#hasUsers || isFromServer(message) || (message.user ?? null) !== null) return false;
    return (this.#known(message.senderId)?.user ?? null) === null;
  }

  #known(id) {
    return this.#here.get(id) ?? this.#past.get(id);
  }

  /** The entry of the message's sender, with the name in the message; null: it has no connection. */
  #noted(message) {
    const { senderId, senderData, user = null, alias, seq = null } = message;
    if (isFromServer(message) || isAbsent(senderId)) return null;
    const known = this.#known(senderId);
    // A message that a program has made has no stamp, and says nothing of a connection that is known.
    const entry = isAbsent(senderData) && known !== undefined
      ? known
      : this.#entryOf({ connectionId: senderId, data: senderData ?? this.nameOfUser(user) ?? '', user });
    if (!this.#here.has(senderId)) this.#remember(entry);
    const claimed = entry.isVouched ? null : claimIn(alias);
    if (claimed !== null) this.#claim(entry, claimed, seq);
    return entry;
  }

  /** The entry of this connection, with the name that the server vouches for now. */
  #entryOf({ connectionId: id, data, user }) {
    if (user !== null) this.#hasUsers = true;
    const entry = this.#known(id) ?? { id, user, isVouched: false, name: null, look: null, first: null, last: null };
    entry.user = user;
    const vouched = vouchedName({ data, user });
    if (vouched !== vouchedIn(entry)) {
      entry.isVouched = vouched !== null;
      this.#rename(entry, vouched);
    }
    return entry;
  }

  #remember(entry) {
    this.#past.delete(entry.id);
    this.#past.set(entry.id, entry);
    if (this.#past.size <= PAST_COUNT) return;
    const [oldest] = this.#past.values();
    this.#past.delete(oldest.id);
    this.#rename(oldest, null);
  }

  /**
   * The guest has used this name in a message. Its newest alias is its own, from the first message with it on. Where
   * messages have no seq they are in the order of their arrival.
   */
  #claim(entry, name, seq) {
    const isSame = entry.look === lookOf(name);
    if (isSame && seq === null) return;
    const at = seq ?? (this.#arrivals += 1);
    if (entry.look !== null && !isSame && at < entry.last) return;
    const first = isSame ? Math.min(entry.first, at) : at;
    const isChanged = !isSame || first !== entry.first;
    entry.first = first;
    entry.last = isSame ? Math.max(entry.last, at) : at;
    if (isChanged) this.#rename(entry, name);
  }

  #rename(entry, name) {
    if (entry.look !== null) {
      const ids = this.#owners.get(entry.look);
      ids.delete(entry.id);
      if (ids.size === 0) this.#owners.delete(entry.look);
      else this.#revision += 1;
    }
    entry.name = name;
    entry.look = name === null ? null : lookOf(name);
    if (name === null) return;
    const ids = this.#owners.get(entry.look) ?? new Set();
    if (ids.size > 0) this.#revision += 1;
    this.#owners.set(entry.look, ids.add(entry.id));
  }

  /** Whether the name is another's: the server vouches for it, or another guest has used it first. */
  #isTaken(name, entry, seq) {
    let since = seq ?? Infinity;
    let others = Infinity;
    for (const id of this.#owners.get(lookOf(name)) ?? []) {
      const owner = this.#known(id);
      if (owner === entry || (entry.user !== null && owner.user === entry.user)) since = Math.min(since, owner.first);
      else others = Math.min(others, owner.isVouched ? -Infinity : owner.first);
    }
    return others < since;
  }
}

/** A message by REST: the project's backend has sent it. */
function isFromServer({ senderId, user = null, isFromServer: isSaid = false }) {
  return isSaid || (isAbsent(senderId) && user === null);
}

function vouchedIn({ isVouched, name }) {
  return isVouched ? name : null;
}

/** The name in a message, if a guest can have it. */
function claimIn(alias) {
  const name = nameIn(alias);
  return name === null || isReserved(name) ? null : name;
}

const isAbsent = (value) => value === null || value === undefined;
