/** So many requests of one connection may be unanswered at a time: of so many the server remembers its answers (RES-9). */
export const UNANSWERED_LIMIT = 256;

/** So many requests may wait at all, sent or not (G5). A program that looks at its answers never comes near. */
export const WAITING_LIMIT = 10_000;

/**
 * The requests of the application that have no answer yet, in their order: first those that were sent, by id, then
 * those that wait for their turn or for a socket.
 *
 * A request is `{kind, tag, message, isRepeatable}`; it gets its `id` when it is sent for the first time, and keeps it.
 */
export class RequestQueue {
  #sent = new Map();
  #unsent = [];

  get isFull() {
    return this.#sent.size + this.#unsent.length >= WAITING_LIMIT;
  }

  add(request) {
    this.#unsent.push(request);
  }

  /** Those whose turn has come, from now on among the sent ones. */
  takeTurns(nextId) {
    const turns = this.#unsent.splice(0, UNANSWERED_LIMIT - this.#sent.size);
    for (const request of turns) {
      request.id = nextId();
      this.#sent.set(request.id, request);
    }
    return turns;
  }

  /** Those that were sent; on a resumed connection they are sent again. */
  get sent() {
    return [...this.#sent.values()];
  }

  /** The request that has its answer now; undefined for an id that waits for none. */
  takeAnswered(id) {
    const request = this.#sent.get(id);
    this.#sent.delete(id);
    return request;
  }

  /** Takes out those of which nobody knows whether the server has seen them. */
  takeSent() {
    const { sent } = this;
    this.#sent.clear();
    return sent;
  }

  /** Takes out those that must not go over a second socket. */
  takeUnrepeatable() {
    const taken = this.#all().filter((request) => !request.isRepeatable);
    for (const request of taken) this.#sent.delete(request.id);
    this.#unsent = this.#unsent.filter((request) => request.isRepeatable);
    return taken;
  }

  takeAll() {
    const all = this.#all();
    this.#sent.clear();
    this.#unsent = [];
    return all;
  }

  #all() {
    return [...this.#sent.values(), ...this.#unsent];
  }
}
