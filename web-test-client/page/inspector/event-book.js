/** The most entries that the inspector keeps. */
export const MAX_ENTRIES = 10_000;

/**
 * The entries of the inspector, the newest last, and those of them that match a filter. The cost of an entry does not
 * depend on how many there are. Beyond the limit the oldest entries go, and `droppedCount` tells how many.
 */
export class EventBook {
  #limit;
  #entries = [];
  #matching = [];
  #waiting = [];
  #filter = '';
  #isPaused = false;
  #number = 0;
  droppedCount = 0;

  constructor(limit = MAX_ENTRIES) {
    this.#limit = limit;
  }

  get entries() {
    return this.#entries;
  }

  /** The entries that match the filter. */
  get matching() {
    return this.#filter === '' ? this.#entries : this.#matching;
  }

  /** How many entries wait for the end of the pause. */
  get waitingCount() {
    return this.#waiting.length;
  }

  get isPaused() {
    return this.#isPaused;
  }

  /** Paused: new entries wait, and nothing moves. The entries that waited follow at the end of the pause. */
  set isPaused(isPaused) {
    this.#isPaused = isPaused;
    if (isPaused) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const entry of waiting) this.#append(entry);
  }

  get filter() {
    return this.#filter;
  }

  /** Words, in any order, that an entry must all have: in its type, names, seq or raw text. The case does not count. */
  set filter(filter) {
    this.#filter = filter.trim().toLowerCase();
    this.#matching = this.#filter === '' ? [] : this.#entries.filter((entry) => this.#matches(entry));
  }

  add(entry) {
    this.#number += 1;
    const numbered = { ...entry, number: this.#number };
    if (!this.#isPaused) {
      this.#append(numbered);
      return;
    }
    this.#waiting.push(numbered);
    if (this.#waiting.length > 2 * this.#limit) this.droppedCount += this.#waiting.splice(0, this.#limit).length;
  }

  clear() {
    this.#entries = [];
    this.#matching = [];
    this.#waiting = [];
    this.droppedCount = 0;
  }

  /** One JSON object per line. */
  exported() {
    return this.matching.map((entry) => `${JSON.stringify(exportedEntry(entry))}\n`).join('');
  }

  #append(entry) {
    this.#entries.push(entry);
    if (this.#filter !== '' && this.#matches(entry)) this.#matching.push(entry);
    // In large steps: moving all entries for each new one would cost time for each.
    if (this.#entries.length < this.#limit + Math.max(1, this.#limit >> 3)) return;
    const dropped = this.#entries.splice(0, this.#entries.length - this.#limit);
    this.droppedCount += dropped.length;
    const first = this.#entries[0].number;
    if (this.#filter !== '') this.#matching = this.#matching.filter(({ number }) => number >= first);
  }

  #matches(entry) {
    const text = searchText(entry);
    return this.#filter.split(/\s+/).every((word) => text.includes(word));
  }
}

function searchText({ seq, type, from, to, fromName, toName, detail, raw }) {
  return [seq === null ? '' : `seq:${seq}`, type, from, to, fromName, toName, detail, raw].join('\n').toLowerCase();
}

function exportedEntry({ at, direction, seq, type, from, to, size, detail, message, raw }) {
  const entry = { at: new Date(at).toISOString(), direction, type };
  if (seq !== null && seq !== undefined) entry.seq = seq;
  if (from) entry.from = from;
  if (to) entry.to = to;
  if (size !== null && size !== undefined) entry.size = size;
  if (detail) entry.detail = detail;
  if (message) entry.frame = message;
  else if (raw) entry.raw = raw;
  return entry;
}
