import { mayReturn } from '../connection/person.js';

const PREFIX = 'signalbox.chat.';

/** So many connections are remembered. Older messages of the user look like those of others. */
const OWN_COUNT = 64;

/** So many persons of a room and a tab are remembered. */
const PERSON_COUNT = 8;

/**
 * What this tab remembers of a person in a room over a reload, unless the browser refuses storage: the draft, and the
 * person's connections, by which the chat recognizes their own messages in the history. Another person gets none of it.
 */
export class DraftStore {
  #key;
  #person;
  /** `{draft, own}` of a person that does not come back. */
  #kept = {};

  /** `person` is a key of `personOf`, or null. */
  constructor(room, person) {
    this.#key = PREFIX + room;
    this.#person = person;
  }

  get text() {
    return this.#read('draft') ?? '';
  }

  set text(text) {
    this.#write({ draft: text });
  }

  get ownConnectionIds() {
    return this.#read('own') ?? [];
  }

  set ownConnectionIds(ids) {
    this.#write({ own: ids.slice(-OWN_COUNT) });
  }

  /** The person has another key from now on. */
  rename(person) {
    const { text, ownConnectionIds } = this;
    this.text = '';
    this.#person = person;
    this.#write({ draft: text, own: ownConnectionIds });
  }

  #read(name) {
    if (!mayReturn(this.#person)) return this.#kept[name];
    return this.#persons().find(({ person }) => person === this.#person)?.[name];
  }

  #write(changes) {
    if (!mayReturn(this.#person)) {
      Object.assign(this.#kept, changes);
      return;
    }
    const persons = this.#persons();
    const known = persons.find(({ person }) => person === this.#person);
    const others = persons.filter((each) => each !== known);
    const newest = { ...known, ...changes, person: this.#person };
    try {
      sessionStorage.setItem(this.#key, JSON.stringify([...others, newest].slice(-PERSON_COUNT)));
    } catch {
      // The browser refuses storage: this lasts until the page is reloaded.
    }
  }

  #persons() {
    try {
      const persons = JSON.parse(sessionStorage.getItem(this.#key) ?? '[]');
      return Array.isArray(persons) ? persons.filter((each) => typeof each?.person === 'string') : [];
    } catch {
      return [];
    }
  }
}
