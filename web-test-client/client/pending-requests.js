/** The most requests of one connection without an answer: the server remembers as many answers (RES-9). */
const UNANSWERED_LIMIT = 256;

/** The most requests that may be pending (G5). A program that waits for its answers stays far below. */
const PENDING_LIMIT = 10_000;

/** Requests that are answered with what they ask for, and change nothing. */
export const READS = new Set(['history', 'restrictions', 'reactors']);

/**
 * The application's requests that have no answer yet, in their order: first the sent ones, then those that wait for an
 * earlier answer or for the next socket.
 *
 * A request is `{kind, call, message, isRepeatable}`. It gets its `id` when it is sent for the first time, and keeps
 * it, except for a read, such as `history`: it is sent anew after a loss, with another id (RES-9).
 */
export class PendingRequests {
  /** By id, in the order of sending. */
  #sent = new Map();
  #unsent = [];

  get isFull() {
    return this.#sent.size + this.#unsent.length >= PENDING_LIMIT;
  }

  append(request) {
    this.#unsent.push(request);
  }

  /** Moves as many waiting requests as the limit allows to the sent ones, and returns their messages. */
  startSending(nextId) {
    const next = this.#unsent.splice(0, UNANSWERED_LIMIT - this.#sent.size);
    for (const request of next) {
      request.id = nextId();
      this.#sent.set(request.id, request);
    }
    return next.map(messageOf);
  }

  /** The sent requests, with their ids, for a resumed connection. */
  get messagesToRepeat() {
    return [...this.#sent.values()].map(messageOf);
  }

  /** Removes and returns the request with this id; undefined if no such request waits for an answer. */
  removeAnswered(id) {
    const request = this.#sent.get(id);
    this.#sent.delete(id);
    return request;
  }

  /** The reads without an answer are sent anew on the next socket, whichever connection that is. */
  renewReads() {
    const reads = [...this.#sent.values()].filter(({ kind }) => READS.has(kind));
    for (const { id } of reads) this.#sent.delete(id);
    this.#unsent.unshift(...reads);
  }

  /** Removes the requests that must not go out on another socket. */
  removeUnrepeatable() {
    const removed = this.#all.filter((request) => !request.isRepeatable);
    for (const request of removed) this.#sent.delete(request.id);
    this.#unsent = this.#unsent.filter((request) => request.isRepeatable);
    return removed;
  }

  /** Removes the requests that the server may or may not have seen. */
  removeSent() {
    const removed = [...this.#sent.values()];
    this.#sent.clear();
    return removed;
  }

  removeAll() {
    const removed = this.#all;
    this.#sent.clear();
    this.#unsent = [];
    return removed;
  }

  get #all() {
    return [...this.#sent.values(), ...this.#unsent];
  }
}

function messageOf({ message, id }) {
  return { ...message, id };
}
