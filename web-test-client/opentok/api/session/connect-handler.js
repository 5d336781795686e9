/**
 * The completion handler of a running `connect`. On success it runs as a once-listener of `sessionConnected`, as in
 * OpenTok: after the listeners added before `connect`, before those added later, and `off` removes it with the others.
 */
export class ConnectHandler {
  #session;
  #handler = null;
  #listener = null;

  constructor(session) {
    this.#session = session;
  }

  set(handler) {
    this.#handler = typeof handler === 'function' ? handler : null;
    if (this.#handler === null) return;
    this.#listener = (event) => this.remove()?.(undefined, event);
    this.#session.once('sessionConnected', this.#listener);
  }

  /** Removes and returns the handler, so that it is not called; null if there is none. */
  remove() {
    const handler = this.#handler;
    if (this.#listener) this.#session.off('sessionConnected', this.#listener);
    this.#handler = null;
    this.#listener = null;
    return handler;
  }
}
