/** A connection that ends this soon after the page was shown, or the network came back, is joined again, too. */
const RECENT_MILLISECONDS = 10_000;

/**
 * Joins again, once, when the user returns to a page whose connection has ended for good, or when the network is back.
 * A page that was suspended may find out only after it is shown that its recovery time has passed.
 */
export class AutomaticRejoin {
  #rejoin;
  #hasEnded = false;
  #returnedAt = -Infinity;
  #visibilityChanged = () => {
    if (!document.hidden) this.#returned();
  };
  #online = () => this.#returned();

  constructor(rejoin) {
    this.#rejoin = rejoin;
    document.addEventListener('visibilitychange', this.#visibilityChanged);
    addEventListener('online', this.#online);
  }

  /** The user joins. */
  reset() {
    this.#hasEnded = false;
  }

  /** The connection has ended. `wasLost`: the network was lost, and the connection was not ended on purpose. */
  ended({ wasLost }) {
    this.#hasEnded = wasLost;
    if (performance.now() - this.#returnedAt < RECENT_MILLISECONDS) this.#attempt();
  }

  stop() {
    document.removeEventListener('visibilitychange', this.#visibilityChanged);
    removeEventListener('online', this.#online);
  }

  #returned() {
    this.#returnedAt = performance.now();
    this.#attempt();
  }

  #attempt() {
    if (!this.#hasEnded || document.hidden) return;
    // One attempt only: after that the user decides.
    this.#returnedAt = -Infinity;
    this.#rejoin();
  }
}
