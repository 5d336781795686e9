const SYSTEM = {
  clock: () => (globalThis.performance ?? Date).now(),
  setTimeout: (act, delay) => globalThis.setTimeout(act, delay),
};

/** Sends one's own read marker when it is due, with a clock and one timer. It decides nothing. */
export class MarkerSender {
  #markers;
  #isUp;
  #send;
  #timers;
  #isWaiting = false;

  /**
   * `isUp()`: the channel can send. `send(marker)` promises the server's answer. `timers` has `clock()` in ms and
   * `setTimeout`.
   */
  constructor(markers, { isUp, send, timers = SYSTEM }) {
    this.#markers = markers;
    this.#isUp = isUp;
    this.#send = send;
    this.#timers = timers;
  }

  /** Something has changed: sends what is due, and comes back when something will be. */
  proceed() {
    const { clock, setTimeout } = this.#timers;
    if (!this.#isUp()) return;
    const marker = this.#markers.next(clock());
    if (marker !== null) this.#tell(marker);
    const { deadline } = this.#markers;
    if (deadline === null || this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      this.proceed();
    }, deadline - clock());
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
