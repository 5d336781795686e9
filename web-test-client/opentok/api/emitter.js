// OpenTok's way of listening: several names in one string, maps of handlers, a context, and an `off` that takes as
// much or as little as one remembers.

/** `on`, `once` and `off` for sessions, connections and `OT` itself. Dispatch is synchronous. */
export class Emitter {
  /** name → listeners in the order in which they were added. A Map, since names come from applications. */
  #listeners = new Map();
  #reportFailure;

  /** `reportFailure` hears of handlers that throw; one broken handler must not silence the others. */
  constructor(reportFailure = () => {}) {
    this.#reportFailure = reportFailure;
  }

  on(names, handler, context) {
    forEachPair(names, handler, context, (list, callback, self) => this.#add(list, callback, self, false));
    return this;
  }

  /** Each name is a listener of its own, as in OpenTok's script: with two names the handler runs once for each. */
  once(names, handler, context) {
    forEachPair(names, handler, context, (list, callback, self) => this.#add(list, callback, self, true));
    return this;
  }

  /**
   * `off()`, `off(names)`, `off(names, handler)`, `off(names, handler, context)`, `off(map)`, `off(map, context)`; the names
   * are a text or a list.
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

  /** Calls every listener of `name` that was there when the call began and has not been removed since. */
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

  /** Events of the application's own making get the object as their target, unless they have one. */
  dispatchEvent(event) {
    event.target ??= this;
    return this.emit(event.type, event);
  }

  #add(names, handler, context, isOnce) {
    if (typeof handler !== 'function') {
      // A page that names a function it does not have works with OpenTok until that event; so it does here.
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

/** Both spellings, `(names, handler, context)` and `({name: handler}, context)`, as calls of one. */
function forEachPair(names, handler, context, act) {
  if (typeof names === 'object' && names !== null) {
    for (const [key, callback] of Object.entries(names)) act(splitNames(key), callback, handler);
  } else {
    act(splitNames(names), handler, context);
  }
}
