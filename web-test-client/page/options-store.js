const PREFIX = 'signalbox.options';

/** What was chosen among the options, so that it is there after a reload. A browser may refuse storage; then it is chosen again. */
export class OptionsStore {
  #key;

  /** `suffix` tells one end of a conversation from the other. */
  constructor(suffix) {
    this.#key = PREFIX + suffix;
  }

  /** `{name: value}`, texts and flags; whatever stands there, since a person may have changed it. */
  get options() {
    try {
      const options = JSON.parse(localStorage.getItem(this.#key) ?? '{}');
      return typeof options === 'object' && options !== null ? options : {};
    } catch {
      return {};
    }
  }

  set(name, value) {
    try {
      localStorage.setItem(this.#key, JSON.stringify({ ...this.options, [name]: value }));
    } catch {
      // Nothing to do about it.
    }
  }
}
