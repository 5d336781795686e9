/** So many signals may wait for their senders; over that the oldest is dropped. */
const LIMIT = 256;

/**
 * Signals whose sender has not been announced yet, in the order of their arrival. Handlers always see a `from` that they
 * know, as in OpenTok.
 */
export class HeldSignals {
  #signals = [];
  #log;

  constructor(log) {
    this.#log = log;
  }

  add(signal) {
    this.#signals.push(signal);
    if (this.#signals.length <= LIMIT) return;
    this.#signals.shift();
    this.#log.warn('a signal was dropped: its sender was never announced');
  }

  /** Delivers the signals of a sender that has been announced now. */
  release(connectionId, deliver) {
    for (const signal of this.#signals.filter(({ from }) => from === connectionId)) {
      // A handler may leave, or hear that the sender has left, in the middle of this.
      const index = this.#signals.indexOf(signal);
      if (index < 0) return;
      this.#signals.splice(index, 1);
      deliver(signal);
    }
  }

  dropAll() {
    if (this.#signals.length > 0) this.#log.warn(`${this.#signals.length} signals were dropped: their senders were never announced`);
    this.#signals = [];
  }
}
