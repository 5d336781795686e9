/** A clock with timers that a test moves. */
export class HandClock {
  now = 0;
  timers = new Map();
  #last = 0;

  /** The clock and timers as options of a `ChatTyping`. */
  options() {
    return {
      clock: () => this.now,
      setTimeout: (act, delay) => {
        this.#last += 1;
        this.timers.set(this.#last, { act, at: this.now + delay });
        return this.#last;
      },
      clearTimeout: (timer) => this.timers.delete(timer),
    };
  }

  advance(duration) {
    const end = this.now + duration;
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= end).sort(([, one], [, other]) => one.at - other.at)[0];
      if (!due) break;
      this.timers.delete(due[0]);
      this.now = Math.max(this.now, due[1].at);
      due[1].act();
    }
    this.now = end;
  }
}
