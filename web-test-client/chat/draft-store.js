const PREFIX = 'signalbox.draft.';

/** The draft of a room in this tab. It survives a reload, unless the browser refuses storage. */
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
      // The browser refuses storage: the draft lasts until the page is reloaded.
    }
  }
}
