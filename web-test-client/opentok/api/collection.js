/** The type of `session.connections` in OpenTok: not an array, and its `length` is a function. */
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
    [...this.#items.values()].forEach((item, index) => visit.call(context, item, index));
    return this;
  }

  map(transform, context) {
    return [...this.#items.values()].map((item, index) => transform.call(context, item, index));
  }

  /** `query` is a predicate, or an object whose properties must be equal. */
  where(query, context) {
    return [...this.#items.values()].filter(matcher(query, context));
  }

  find(query, context) {
    return [...this.#items.values()].find(matcher(query, context));
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

function matcher(query, context) {
  if (typeof query === 'function') return (item) => query.call(context, item);
  const pairs = Object.entries(query ?? {});
  return (item) => pairs.every(([key, value]) => item[key] === value);
}
