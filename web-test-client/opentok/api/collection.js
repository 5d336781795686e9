/** What `session.connections` is in OpenTok: not an array, and its `length` is a function. */
export class Collection {
  #items = new Map();
  #idOf;

  constructor(idOf = (item) => item.id) {
    this.#idOf = idOf;
  }

  get(id) {
    return this.#items.get(id);
  }

  has(id) {
    return this.#items.has(id);
  }

  length() {
    return this.#items.size;
  }

  toString() {
    return `[${[...this.#items.keys()].join(', ')}]`;
  }

  isEmpty() {
    return this.#items.size === 0;
  }

  forEach(visit, context) {
    [...this.#items.values()].forEach((item, place) => visit.call(context, item, place));
    return this;
  }

  map(transform, context) {
    return [...this.#items.values()].map((item, place) => transform.call(context, item, place));
  }

  /** `wanted` is a predicate, or an object whose properties must be equal. */
  where(wanted, context) {
    return [...this.#items.values()].filter(matcher(wanted, context));
  }

  find(wanted, context) {
    return [...this.#items.values()].find(matcher(wanted, context));
  }

  add(item) {
    this.#items.set(this.#idOf(item), item);
    return this;
  }

  remove(item) {
    this.#items.delete(this.#idOf(item));
    return this;
  }

  clear() {
    this.#items.clear();
    return this;
  }
}

function matcher(wanted, context) {
  if (typeof wanted === 'function') return (item) => wanted.call(context, item);
  const pairs = Object.entries(wanted ?? {});
  return (item) => pairs.every(([key, value]) => item[key] === value);
}
