const PREFIX = 'signalbox.options';

/** The chosen options. They survive a reload, unless the browser refuses storage. */
export class OptionsStore {
  #key;

  /** `suffix` distinguishes the panes of a page. */
  constructor(suffix) {
    this.#key = PREFIX + suffix;
  }

  /** `{name: value}`. The values need checks: the user may have changed the storage. */
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
      // The browser refuses storage: the options last until the page is reloaded.
    }
  }
}
