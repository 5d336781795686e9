const PREFIX = 'signalbox.draft.';

/** A room's draft in this tab, so that a reload does not lose it. A browser may refuse storage altogether; then it does. */
export class DraftStore {
  #key;

  constructor(room) {
    this.#key = PREFIX + room;
  }

  get text() {
    try {
      return sessionStorage.getItem(this.#key) ?? '';
    } catch {
      return '';
    }
  }

  set text(text) {
    try {
      if (text === '') sessionStorage.removeItem(this.#key);
      else sessionStorage.setItem(this.#key, text);
    } catch {
      // Nothing to do about it.
    }
  }
}
