// Lines are kept in the order of their keys. Messages in the session's log go by seq, and a message without one goes
// behind those that came before it; pending messages come after all of these. `era` rises when seq starts anew, and
// `tie` orders lines without a seq that came after the same seq.

export const keyOf = (era, seq, tie) => ({ era, seq, tie });
export const pendingKey = (number) => keyOf(Infinity, 0, number);
export const isPendingKey = (key) => key.era === Infinity;
/** Before all others. */
export const BEGINNING_KEY = keyOf(-Infinity, 0, 0);

export function compareKeys(left, right) {
  if (left.era !== right.era) return left.era < right.era ? -1 : 1;
  if (left.seq !== right.seq) return left.seq < right.seq ? -1 : 1;
  return left.tie - right.tie;
}

/** The order of lines with the same key: a day and the divider have the key of the message behind them. */
export const RANK = { beginning: 0, gap: 0, day: 1, unreadDivider: 2, message: 3 };

/**
 * Lines in the order of their keys. A change near either end takes constant time on average, a search logarithmic time.
 */
export class TimelineLines {
  /** Lines removed at the front stay before `start` until it is worth moving the rest. */
  #storage = [];
  #start = 0;

  get count() {
    return this.#storage.length - this.#start;
  }

  at(index) {
    return this.#storage[this.#start + index];
  }

  insert(line, index) {
    const storage = this.#storage;
    if (this.#start === 0 || index >= this.count / 2) {
      storage.splice(this.#start + index, 0, line);
      return;
    }
    this.#start -= 1;
    for (let moved = this.#start; moved < this.#start + index; moved += 1) storage[moved] = storage[moved + 1];
    storage[this.#start + index] = line;
  }

  remove(index) {
    const storage = this.#storage;
    if (index >= this.count / 2) return storage.splice(this.#start + index, 1)[0];
    const line = storage[this.#start + index];
    for (let moved = this.#start + index; moved > this.#start; moved -= 1) storage[moved] = storage[moved - 1];
    storage[this.#start] = null;
    this.#start += 1;
    if (this.#start > storage.length / 2 && this.#start > 32) {
      this.#storage = storage.slice(this.#start);
      this.#start = 0;
    }
    return line;
  }

  /** The first index whose line does not come before this key and rank. */
  firstIndex(key, rank) {
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

  /** The index of the nearest message before this one; -1 if there is none. */
  messageBefore(index) {
    let found = index - 1;
    while (found >= 0 && this.at(found).kind !== 'message') found -= 1;
    return found;
  }

  /** The index of the nearest message from this one on; the count if there is none. */
  messageFrom(index) {
    let found = index;
    while (found < this.count && this.at(found).kind !== 'message') found += 1;
    return found;
  }
}
