import { UserRoster } from '../../../client/user-roster.js';

/**
 * The users of a `Session`, and when the program hears of them (USR-3): behind the `connectionCreated` of a user's first
 * connection, and the `connectionDestroyed` of the last. After another connection has replaced one's own, the two lists
 * are compared as a whole, behind the events of the connections.
 */
export class SessionUsers {
  #roster = new UserRoster();
  #isReplaced = false;
  #tell;

  /** `tell(type, user)` tells the program of `userJoined` and `userLeft`. */
  constructor(tell) {
    this.#tell = tell;
  }

  /** Each `{user, connections}`, in the order in which they joined. `connectionOf(id)` is a Connection of the session. */
  list(connectionOf) {
    return this.#roster.users.map(({ user, connectionIds }) => {
      // Those of the former list go one by one.
      return { user, connections: connectionIds.map(connectionOf).filter((each) => each !== undefined) };
    });
  }

  /** The client is in the session, with these connections. Call the result for each that the program has heard of. */
  enter(connections) {
    const joined = new Set(this.#roster.enter(connections).joined);
    return ({ user }) => {
      if (joined.delete(user)) this.#tell('userJoined', user);
    };
  }

  /** A connection has joined: `announce()` tells the program of it. */
  add(connection, announce) {
    const joined = this.#isReplaced ? null : this.#roster.add(connection);
    announce();
    if (joined !== null) this.#tell('userJoined', joined);
  }

  /** A connection has left: `announce()` tells the program of it. */
  remove(connectionId, announce) {
    const left = this.#isReplaced ? null : this.#roster.remove(connectionId);
    announce();
    if (left !== null) this.#tell('userLeft', left);
  }

  /** Another connection replaces one's own. The events of the difference follow, and then `settle`. */
  replace() {
    this.#isReplaced = true;
  }

  settle(connections) {
    if (!this.#isReplaced) return;
    this.#isReplaced = false;
    const { left, joined } = this.#roster.enter(connections);
    for (const user of left) this.#tell('userLeft', user);
    for (const user of joined) this.#tell('userJoined', user);
  }

  clear() {
    this.#roster.clear();
    this.#isReplaced = false;
  }
}
