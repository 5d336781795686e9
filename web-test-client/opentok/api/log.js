/** OpenTok's log levels. A level prints its own messages and more severe ones. */
export const Level = Object.freeze({ NONE: 0, ERROR: 1, WARN: 2, INFO: 3, LOG: 4, DEBUG: 5 });

export class Log {
  #level = Level.WARN;
  #output;

  constructor(output) {
    this.#output = output;
  }

  /** A level that is not a number counts as WARN, the default. */
  setLevel(level) {
    this.#level = typeof level === 'number' ? level : Level.WARN;
    return this.#level;
  }

  error(...words) {
    if (this.#level >= Level.ERROR) this.#output.error(...words);
  }

  warn(...words) {
    if (this.#level >= Level.WARN) this.#output.warn(...words);
  }

  info(...words) {
    if (this.#level >= Level.INFO) this.#output.info(...words);
  }

  log(...words) {
    if (this.#level >= Level.LOG) this.#output.log(...words);
  }

  debug(...words) {
    if (this.#level >= Level.DEBUG) this.#output.debug(...words);
  }
}
