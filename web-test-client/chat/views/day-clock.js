/** The timers of a computer that sleeps stand still: it looks again so soon. */
const LOOK_MILLISECONDS = 60_000;

/**
 * Calls `changed` when a day ends, for texts such as “Today”: with one timer, and none while nobody can see them.
 */
export class DayClock {
  #changed;
  #timer = null;

  constructor(changed) {
    this.#changed = changed;
  }

  /** Runs until the next day begins, or for a minute, if `isNeeded`. The caller calls it again then. */
  run(now, isNeeded) {
    clearTimeout(this.#timer);
    this.#timer = isNeeded ? setTimeout(() => this.#changed(), Math.min(nextDay(now) - now, LOOK_MILLISECONDS)) : null;
  }
}

/** When the reader's next day begins, in milliseconds since 1970. A day may be shorter or longer than 24 hours. */
function nextDay(now) {
  return new Date(now).setHours(24, 0, 0, 0);
}
