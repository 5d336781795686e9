/** The most signals that may wait for their senders. The oldest is dropped first. */
const LIMIT = 256;

/**
 * Signals whose sender has not been announced yet, in the order of their arrival. Handlers always see a `from` that
 * they know, as in OpenTok.
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
      // A handler may disconnect, or the sender may leave, while these signals are delivered.
      const index = this.#signals.indexOf(signal);
      if (index < 0) return;
      this.#signals.splice(index, 1);
      deliver(signal);
    }
  }

  dropAll() {
    const { length } = this.#signals;
    if (length > 0) this.#log.warn(`${length} signals were dropped: their senders were never announced`);
    this.#signals = [];
  }
}
