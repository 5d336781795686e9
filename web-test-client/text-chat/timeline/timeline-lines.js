// Lines are kept in the order of their keys. What the session has goes by seq, or without one behind what had come before;
// what is pending comes after all of it. `era` grows when seq starts afresh, and `tie` orders what came after the same seq.

export const keyOf = (era, seq, tie) => ({ era, seq, tie });
export const pendingKey = (number) => keyOf(Infinity, 0, number);
export const isPendingKey = (key) => key.era === Infinity;

export function compareKeys(left, right) {
  if (left.era !== right.era) return left.era < right.era ? -1 : 1;
  if (left.seq !== right.seq) return left.seq < right.seq ? -1 : 1;
  return left.tie - right.tie;
}

/** The order of lines with the same key: a day and the divider have that of the message behind them. */
export const RANK = { gap: 0, day: 1, unreadDivider: 2, message: 3 };

/** Changes near either end take constant time on average; finding takes logarithmic time. */
export class TimelineLines {
  /** What has been removed at the front stays before `start` until it is worth moving the rest. */
  #storage = [];
  #start = 0;

  get count() {
    return this.#storage.length - this.#start;
  }

  at(place) {
    return this.#storage[this.#start + place];
  }

  insert(line, place) {
    const storage = this.#storage;
    if (this.#start === 0 || place >= this.count / 2) {
      storage.splice(this.#start + place, 0, line);
      return;
    }
    this.#start -= 1;
    for (let moved = this.#start; moved < this.#start + place; moved += 1) storage[moved] = storage[moved + 1];
    storage[this.#start + place] = line;
  }

  remove(place) {
    const storage = this.#storage;
    if (place >= this.count / 2) return storage.splice(this.#start + place, 1)[0];
    const line = storage[this.#start + place];
    for (let moved = this.#start + place; moved > this.#start; moved -= 1) storage[moved] = storage[moved - 1];
    storage[this.#start] = null;
    this.#start += 1;
    if (this.#start > storage.length / 2 && this.#start > 32) {
      this.#storage = storage.slice(this.#start);
      this.#start = 0;
    }
    return line;
  }

  /** The first place whose line does not come before this key and rank. */
  firstPlace(key, rank) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const line = this.at(middle);
      const order = compareKeys(line.key, key);
      if (order < 0 || (order === 0 && RANK[line.kind] < rank)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The place of the nearest message before this one, -1 when there is none. */
  messageBefore(place) {
    let found = place - 1;
    while (found >= 0 && this.at(found).kind !== 'message') found -= 1;
    return found;
  }

  /** The place of the nearest message from this one on; the count when there is none. */
  messageFrom(place) {
    let found = place;
    while (found < this.count && this.at(found).kind !== 'message') found += 1;
    return found;
  }
}
