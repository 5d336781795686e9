import { hasPage } from '../../client/browser.js';
import { mayReturn } from '../connection/person.js';

const STORE = 'outbox';

/** Messages that nobody has come back for are dropped after this time: 30 days, as long as a server keeps a history. */
const LIFETIME = 30 * 86_400_000;

/** The longest wait for the browser's disk before a message leaves, in milliseconds. */
const PATIENCE = 2000;

/** The outboxes that this page keeps, by their keys. It holds their locks until it is left: no other tab sends the same. */
const kept = new Map();

/**
 * The page is being left: what fails now, because the connection ends, a later page sends. It learns that before the
 * connection does.
 */
let isPageLeft = false;
if (hasPage()) {
  addEventListener('pagehide', () => (isPageLeft = true), true);
  addEventListener('pageshow', () => (isPageLeft = false), true);
}

/**
 * The messages of a person in a room that the session does not have yet, in the browser's IndexedDB: a reload, a crash or a
 * closed tab does not lose them. The chat bounds their number and size. One chat of a browser keeps those of a person and a
 * room; another tab takes them over when that one is gone. Where they cannot be kept, leaving the page asks.
 */
export class Outbox {
  #chat;
  #key;
  #isInPage;
  #now;
  #isOpen = false;
  #hasLeft = false;
  /** What the browser has, as JSON, and the local ids that wait there: a reload would send them. */
  #stored = '[]';
  #waiting = new Set();
  #isNoted = false;
  #guard = (event) => event.preventDefault();

  /**
   * `chat` is the component, and `person` a key of `personOf`, or null. `isInPage()`: whether somebody sees the chat.
   * `now()` is the server's time.
   */
  constructor(chat, { room, person, isInPage, now }) {
    this.#chat = chat;
    this.#key = `${room} ${person}`;
    this.#isInPage = isInPage;
    this.#now = now;
    // A browser that refuses storage or locks keeps nothing.
    if (mayReturn(person)) this.#acquire().catch(() => {});
  }

  async #acquire() {
    const former = kept.get(this.#key);
    if (former === undefined) await lock(`signalbox.${STORE} ${this.#key}`);
    else if (!former.#hasLeft && former.#isInPage()) return;
    else former.#surrender();
    if (this.#hasLeft) return;
    kept.set(this.#key, this);
    const record = await access('readonly', (store) => store.get(this.#key));
    if (this.#hasLeft) return;
    this.#isOpen = true;
    const messages = Array.isArray(record?.messages) ? record.messages : [];
    this.#stored = JSON.stringify(messages);
    this.#waiting = waitingOf(messages);
    this.#chat.takeUp(messages, this.#now());
    this.note();
  }

  /** Something may have changed. */
  note() {
    if (this.#isNoted) return;
    this.#isNoted = true;
    // A message that leaves at once never waits.
    queueMicrotask(() => {
      this.#isNoted = false;
      if (!this.#hasLeft) this.#write();
    });
  }

  /** A message leaves now. A promise that has to be kept before, so that no reload sends it again; null: there is none. */
  handOver(localId) {
    if (!this.#waiting.has(localId)) return null;
    // A browser that is stuck must not keep the message for ever.
    return Promise.race([this.#write(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  }

  /** The chat is left: another one of this page may keep these messages. */
  leave() {
    this.#write();
    this.#hasLeft = true;
    removeEventListener('beforeunload', this.#guard);
  }

  /** Another chat of this page keeps the messages. Otherwise an element that comes back would send them, too. */
  #surrender() {
    if (!this.#hasLeft) this.leave();
    for (const { localId } of this.#chat.unsent) this.#chat.cancel(localId);
  }

  async #write() {
    if (isPageLeft) return;
    const messages = this.#chat.unsent;
    const isAtRisk = !this.#isOpen && messages.some(({ state }) => state !== 'failed');
    removeEventListener('beforeunload', this.#guard);
    if (isAtRisk) addEventListener('beforeunload', this.#guard);
    const text = JSON.stringify(messages);
    if (!this.#isOpen || text === this.#stored) return;
    this.#stored = text;
    this.#waiting = waitingOf(messages);
    try {
      await access('readwrite', (store) => {
        return messages.length === 0 ? store.delete(this.#key) : store.put({ messages, at: Date.now() }, this.#key);
      });
    } catch {
      // The browser takes no more. From now on, leaving the page asks.
      this.#isOpen = false;
      this.note();
    }
  }
}

function waitingOf(messages) {
  return new Set(messages.filter(({ state }) => state === 'waiting').map(({ localId }) => localId));
}

/** Promises that this page has the lock, perhaps much later. It keeps it. */
function lock(name) {
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, () => {
      resolve();
      return new Promise(() => {});
    }).catch(reject);
  });
}

let opening = null;

/** The database of this page, without the records of long ago. */
function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('signalbox', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const { result } = request;
      const cursors = result.transaction(STORE, 'readwrite').objectStore(STORE).openCursor();
      cursors.onsuccess = () => {
        const cursor = cursors.result;
        if (cursor === null) return;
        if (!(cursor.value.at > Date.now() - LIFETIME)) cursor.delete();
        cursor.continue();
      };
      resolve(result);
    };
  });
  return opening;
}

/** Promises the result of a request of the store once the browser has carried it out. */
async function access(mode, act) {
  const transaction = (await database()).transaction(STORE, mode);
  const request = act(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });
}
