/** A client's view of its session: its own connection, its peers, and the last event that it has seen (G1, G3). */
export class SessionView {
  connectionId;
  /** The epoch: a `seq` is comparable only with others of the same epoch. */
  epoch;
  /** The seq of the last event seen. */
  seq;
  /** The ids of all connections in the session, the own one included. */
  #peers;

  /** The view after the server's `connected`. Within the same epoch it keeps what the view `before` has seen. */
  constructor({ connection, connections, epoch, seq }, before = null) {
    this.connectionId = connection.connectionId;
    this.epoch = epoch;
    this.seq = seq;
    this.#peers = new Set([...connections.map((each) => each.connectionId), connection.connectionId]);
    if (before?.epoch === epoch) this.advance(before.seq);
  }

  /** Notes that everything up to `seq` has been seen or was not meant for this client. */
  advance(seq) {
    if (Number.isInteger(seq) && seq > this.seq) this.seq = seq;
  }

  /**
   * Whether an event is new; it counts as seen from now on (G3). Online-only signals have no seq and are always new.
   */
  accept(seq) {
    if (seq === undefined) return true;
    if (!Number.isInteger(seq) || seq <= this.seq) return false;
    this.seq = seq;
    return true;
  }

  has(connectionId) {
    return this.#peers.has(connectionId);
  }

  add(connectionId) {
    this.#peers.add(connectionId);
  }

  /** Returns whether the connection was in the session. */
  remove(connectionId) {
    return this.#peers.delete(connectionId);
  }

  /** The ids of the connections that have left since. */
  goneSince(before) {
    return [...before.#peers].filter((each) => !this.#peers.has(each));
  }
}
