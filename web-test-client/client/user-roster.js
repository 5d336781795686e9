/**
 * The users of a session, derived from its connections (USR-3). A user is there from their first connection to the
 * departure of their last. Guests, connections without a user, are nobody here.
 *
 * Swift has the same roster; `Tests/Vectors/users` holds both to the same behaviour.
 */
export class UserRoster {
  /** User → the ids of their connections. Both are in the order of their arrival; no entry is empty. */
  #users = new Map();
  /** Connection id → user. */
  #connections = new Map();

  /** The users in the order of their first connections: `{user, connectionIds}`. */
  get users() {
    return [...this.#users].map(([user, ids]) => ({ user, connectionIds: [...ids] }));
  }

  /** How many connections a user has. */
  count(user) {
    return this.#users.get(user)?.size ?? 0;
  }

  /**
   * The client has this list of connections, each `{connectionId, user?}`, in place of the one before. Returns who has
   * left and who has joined: a user of both lists has done neither.
   */
  enter(connections) {
    const before = new Set(this.#users.keys());
    this.clear();
    for (const connection of connections) this.add(connection);
    const left = [...before].filter((user) => !this.#users.has(user));
    const joined = [...this.#users.keys()].filter((user) => !before.has(user));
    return { left, joined };
  }

  /** A connection has joined. Returns the user who has joined with it, or null. */
  add({ connectionId, user = null }) {
    if (user === null || this.#connections.has(connectionId)) return null;
    const isFirst = !this.#users.has(user);
    if (isFirst) this.#users.set(user, new Set());
    this.#users.get(user).add(connectionId);
    this.#connections.set(connectionId, user);
    return isFirst ? user : null;
  }

  /** A connection has left. Returns the user who has left with it, or null. */
  remove(connectionId) {
    const user = this.#connections.get(connectionId);
    if (user === undefined) return null;
    this.#connections.delete(connectionId);
    const ids = this.#users.get(user);
    ids.delete(connectionId);
    if (ids.size > 0) return null;
    this.#users.delete(user);
    return user;
  }

  clear() {
    this.#users.clear();
    this.#connections.clear();
  }
}
