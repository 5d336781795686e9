/** Both lists are short; what is older than this comes back no more. */
const LONGEST_WAIT = 256;
const CONNECTION_COUNT = 8;

/** How one's own messages are known again when they come back. Broadcasts reach their sender, too, and must not be shown twice. */
export class EchoBook {
  /** What was sent as bare text, which comes back without a local id: `{localId, text}`. */
  #bare = [];
  /** The connections that were one's own: after a reconnect, what was sent before may come back with the old id. */
  #ownConnections = [];

  expectBare(localId, text) {
    this.forget(localId);
    this.#bare.push({ localId, text });
    if (this.#bare.length > LONGEST_WAIT) this.#bare.shift();
  }

  forget(localId) {
    this.#bare = this.#bare.filter((each) => each.localId !== localId);
  }

  /** Returns whether it is another connection than the one before. */
  note(connectionId) {
    if (connectionId === null || connectionId === undefined || this.#ownConnections.at(-1) === connectionId) return false;
    const isAnother = this.#ownConnections.length > 0;
    this.#ownConnections = [...this.#ownConnections.filter((each) => each !== connectionId), connectionId];
    if (this.#ownConnections.length > CONNECTION_COUNT) this.#ownConnections.shift();
    return isAnother;
  }

  isOwn(connectionId) {
    return this.#ownConnections.includes(connectionId);
  }

  /** The message that has come back as this bare text: the oldest of that text. */
  settleBare(text) {
    const place = this.#bare.findIndex((each) => each.text === text);
    return place < 0 ? null : this.#bare.splice(place, 1)[0].localId;
  }
}
