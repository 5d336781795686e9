const PREFIX = 'signalbox.draft.';
const OWN_PREFIX = 'signalbox.own.';

/** So many connections are remembered. Older messages of the user look like those of others. */
const OWN_COUNT = 64;

/**
 * What this tab remembers of a room over a reload, unless the browser refuses storage: the draft, and the user's
 * connections, by which the chat recognizes the user's own messages in the history.
 */
export class DraftStore {
  #key;
  #ownKey;

  constructor(room) {
    this.#key = PREFIX + room;
    this.#ownKey = OWN_PREFIX + room;
  }

  get text() {
    return read(this.#key);
  }

  set text(text) {
    write(this.#key, text);
  }

  get ownConnectionIds() {
    return read(this.#ownKey).split(' ').filter((id) => id !== '');
  }

  set ownConnectionIds(ids) {
    write(this.#ownKey, ids.slice(-OWN_COUNT).join(' '));
  }
}

function read(key) {
  try {
    return sessionStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

function write(key, text) {
  try {
    if (text === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // The browser refuses storage: this lasts until the page is reloaded.
  }
}
