/** The bounds of the two lists: no echo is expected for an older entry. */
const BARE_COUNT = 256;
const CONNECTION_COUNT = 8;

/**
 * Recognizes one's own messages when they come back. A broadcast also reaches its sender, and must not be shown twice.
 */
export class EchoBook {
  /** Messages sent as bare text, which come back without a local id: `{localId, text}`. */
  #bare = [];
  /** One's own connections, past and present: after a reconnect an echo may come back with the old id. */
  #ownConnections = [];

  expectBare(localId, text) {
    this.forget(localId);
    this.#bare.push({ localId, text });
    if (this.#bare.length > BARE_COUNT) this.#bare.shift();
  }

  forget(localId) {
    this.#bare = this.#bare.filter((each) => each.localId !== localId);
  }

  /** Notes the connection, and returns whether it differs from the one before. */
  note(connectionId) {
    if (connectionId === null || connectionId === undefined) return false;
    if (this.#ownConnections.at(-1) === connectionId) return false;
    const isAnother = this.#ownConnections.length > 0;
    this.#ownConnections = [...this.#ownConnections.filter((each) => each !== connectionId), connectionId];
    if (this.#ownConnections.length > CONNECTION_COUNT) this.#ownConnections.shift();
    return isAnother;
  }

  isOwn(connectionId) {
    return this.#ownConnections.includes(connectionId);
  }

  /** The message of an echo of bare text: the oldest with that text; null if there is none. */
  settleBare(text) {
    const index = this.#bare.findIndex((each) => each.text === text);
    return index < 0 ? null : this.#bare.splice(index, 1)[0].localId;
  }
}
