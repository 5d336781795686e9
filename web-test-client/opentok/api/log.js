/** OpenTok's log levels: a level says what is printed, itself and everything graver. */
export const Level = Object.freeze({ NONE: 0, ERROR: 1, WARN: 2, INFO: 3, LOG: 4, DEBUG: 5 });

export class Log {
  #level = Level.WARN;
  #output;

  constructor(output) {
    this.#output = output;
  }

  setLevel(level) {
    this.#level = level;
    return level;
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
