/** The bounds of the two lists: no echo is expected for an older text, and a history has messages of old connections. */
const BARE_COUNT = 256;
const CONNECTION_COUNT = 256;

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

  /** One's own connections, the newest last. */
  get ownConnections() {
    return this.#ownConnections;
  }

  note(connectionId) {
    if (connectionId === null || connectionId === undefined || this.#ownConnections.at(-1) === connectionId) return;
    this.#ownConnections = [...this.#ownConnections.filter((each) => each !== connectionId), connectionId];
    if (this.#ownConnections.length > CONNECTION_COUNT) this.#ownConnections.shift();
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
