/**
 * The peers that are away, as the server says and as the program knows (PRES-4).
 *
 * The two differ in two cases: the program does not know a peer yet, because its `connectionCreated` is in the replay
 * that follows; and a peer that the server no longer names may have left in that replay.
 */
export class PeerAbsences {
  #away = new Set();
  #told = new Set();
  /** Until the client has this seq, a peer that the server no longer names may have left. */
  #replayThrough = 0;

  /**
   * The client is in the session again, or for the first time. `replayThrough` is the end of a replay that has presence
   * events, or 0.
   */
  enter(away, replayThrough) {
    this.#away = new Set(away);
    this.#replayThrough = replayThrough;
  }

  add(connectionId) {
    this.#away.add(connectionId);
  }

  remove(connectionId) {
    this.#away.delete(connectionId);
  }

  /** A peer has left the session: its departure ends its absence. */
  forget(connectionId) {
    this.#away.delete(connectionId);
    this.#told.delete(connectionId);
  }

  /** The events that the program must get now. `view` is the client's `SessionView`. */
  changes(view) {
    const events = [];
    if (view.seq >= this.#replayThrough) {
      for (const connectionId of this.#told) {
        if (this.#away.has(connectionId)) continue;
        this.#told.delete(connectionId);
        if (view.has(connectionId)) events.push({ name: 'connectionBack', connectionId });
      }
    }
    for (const connectionId of this.#away) {
      if (this.#told.has(connectionId) || !view.has(connectionId)) continue;
      this.#told.add(connectionId);
      events.push({ name: 'connectionAway', connectionId });
    }
    return events;
  }
}
