import { Emitter } from './emitter.js';

/**
 * The type of `session.connections` in OpenTok: not an array, and its `length` is a function. It emits `add` and
 * `remove`, and both with the id of the item (`add:<id>`).
 */
export class Collection extends Emitter {
  #items = new Map();
  #idOf;

  constructor(reportFailure, idOf = (item) => item.id) {
    super(reportFailure);
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
    [...this.#items.values()].forEach(visit, context);
    return this;
  }

  /** As in OpenTok's script, `map` takes no context. */
  map(transform) {
    return [...this.#items.values()].map((item, index, items) => transform(item, index, items));
  }

  /** `query` is a predicate, or an object whose properties must be equal. A property may be a function of the item. */
  where(query, context) {
    return [...this.#items.values()].filter(matcher(query, context));
  }

  /** The first item that fits; null if there is none. */
  find(query, context) {
    return [...this.#items.values()].find(matcher(query, context)) ?? null;
  }

  /** An item whose id is there already stays alone, as in OpenTok. */
  add(item) {
    const id = this.#idOf(item);
    if (this.#items.has(id)) return this;
    this.#items.set(id, item);
    this.emit('add', item).emit(`add:${id}`, item);
    return this;
  }

  remove(item, reason) {
    const id = this.#idOf(item);
    if (!this.#items.delete(id)) return this;
    this.emit('remove', item, reason).emit(`remove:${id}`, item, reason);
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
  const valueOf = (item, key) => (typeof item[key] === 'function' ? item[key]() : item[key]);
  return (item) => pairs.every(([key, value]) => valueOf(item, key) === value);
}
