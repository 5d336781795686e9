const SYSTEM = {
  clock: () => (globalThis.performance ?? Date).now(),
  setTimeout: (act, delay) => globalThis.setTimeout(act, delay),
  clearTimeout: (timer) => globalThis.clearTimeout(timer),
};

/** Sends one's own read marker when it is due, with a clock and one timer. It decides nothing. */
export class MarkerSender {
  #markers;
  #isUp;
  #send;
  #timers;
  #timer = null;

  /**
   * `isUp()`: the channel can send. `send(marker)` promises the server's answer. `timers` has `clock()` in ms,
   * `setTimeout` and `clearTimeout`.
   */
  constructor(markers, { isUp, send, timers = SYSTEM }) {
    this.#markers = markers;
    this.#isUp = isUp;
    this.#send = send;
    this.#timers = timers;
  }

  /** Something has changed: sends what is due, and comes back when something will be. */
  proceed() {
    const { clock, setTimeout, clearTimeout } = this.#timers;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#isUp()) return;
    const marker = this.#markers.next(clock());
    if (marker !== null) this.#tell(marker);
    const { deadline } = this.#markers;
    if (deadline !== null) this.#timer = setTimeout(() => this.proceed(), deadline - clock());
  }

  async #tell(marker) {
    let isAccepted = true;
    try {
      await this.#send({ through: marker.through });
    } catch {
      // The next message that is read tells it again, or the next connection.
      isAccepted = false;
    }
    this.#markers.settle(marker, isAccepted);
    this.proceed();
  }
}
