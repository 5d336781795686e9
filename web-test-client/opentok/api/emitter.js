// OpenTok's listeners: several names in one string, maps of handlers, a context, and an `off` with any subset of these.

/** `on`, `once` and `off` for sessions, connections and `OT` itself. Dispatch is synchronous. */
export class Emitter {
  /** name → listeners in the order in which they were added. A Map, since names come from applications. */
  #listeners = new Map();
  #reportFailure;

  /** `reportFailure(error, name)` is called for a handler that throws; the other handlers still run. */
  constructor(reportFailure = () => {}) {
    this.#reportFailure = reportFailure;
  }

  on(names, handler, context) {
    forEachPair(names, handler, context, (list, callback, self) => this.#add(list, callback, self, false));
    return this;
  }

  /** Each name is a listener of its own, as in OpenTok: with two names the handler runs once for each. */
  once(names, handler, context) {
    forEachPair(names, handler, context, (list, callback, self) => this.#add(list, callback, self, true));
    return this;
  }

  /**
   * `off()`, `off(names)`, `off(names, handler)`, `off(names, handler, context)`, `off(map)`, `off(map, context)`;
   * `names` is a text or a list.
   */
  off(names, handler, context) {
    if (names === undefined || names === null) {
      this.#remove([...this.#listeners.keys()], handler, context);
    } else if (Array.isArray(names)) {
      this.#remove(names.flatMap(splitNames), handler, context);
    } else if (typeof names === 'object') {
      forEachPair(names, handler, context, (list, callback, self) => this.#remove(list, callback, self));
    } else {
      this.#remove(splitNames(names), handler, context);
    }
    return this;
  }

  addEventListener(names, handler, context) {
    return this.on(names, handler, context);
  }

  removeEventListener(names, handler, context) {
    return this.off(names, handler, context);
  }

  /** Calls the listeners of `name` that were there when the call began and have not been removed since. */
  emit(name, ...details) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      if (listener.removed) continue;
      if (listener.isOnce) this.#removeWhere(name, (other) => other === listener);
      try {
        listener.handler.apply(listener.context ?? null, details);
      } catch (failure) {
        this.#reportFailure(failure, name);
      }
    }
    return this;
  }

  trigger(name, ...details) {
    return this.emit(name, ...details);
  }

  /** An event without a target gets this object as its target. */
  dispatchEvent(event) {
    event.target ??= this;
    return this.emit(event.type, event);
  }

  #add(names, handler, context, isOnce) {
    if (typeof handler !== 'function') {
      // As with OpenTok, such a page works until the event comes. The log names the mistake at once.
      this.#reportFailure(new TypeError('the handler is not a function'), names.join(' '));
      return;
    }
    for (const name of names) {
      if (!this.#listeners.has(name)) this.#listeners.set(name, []);
      this.#listeners.get(name).push({ handler, context, isOnce, removed: false });
    }
  }

  #remove(names, handler, context) {
    const isMeant = (listener) =>
      (handler === undefined || handler === null || listener.handler === handler) &&
      (context === undefined || context === null || listener.context === context);
    for (const name of names) this.#removeWhere(name, isMeant);
  }

  #removeWhere(name, isMeant) {
    const kept = [];
    for (const listener of this.#listeners.get(name) ?? []) {
      if (isMeant(listener)) listener.removed = true;
      else kept.push(listener);
    }
    if (kept.length > 0) this.#listeners.set(name, kept);
    else this.#listeners.delete(name);
  }
}

function splitNames(names) {
  return String(names).split(/\s+/).filter((name) => name !== '');
}

/** Turns both forms, `(names, handler, context)` and `({name: handler}, context)`, into calls of the first. */
function forEachPair(names, handler, context, act) {
  if (typeof names === 'object' && names !== null) {
    for (const [key, callback] of Object.entries(names)) act(splitNames(key), callback, handler);
  } else {
    act(splitNames(names), handler, context);
  }
}
