// OpenTok's listeners: several names in one string, maps of handlers, a context, and an `off` with any subset of these.

/** `on`, `once` and `off` for sessions, connections and `OT` itself. Dispatch is synchronous. */
export class Emitter {
  /** name → listeners in the order in which they were added. A Map, since names come from applications. */
  #listeners = new Map();
  #reportFailure;
  #self;

  /**
   * `reportFailure(error, name)` is called for a handler that throws; the other handlers still run. `self` is the
   * object that the calls return and that events have as their target; this emitter, unless another object borrows its
   * methods.
   */
  constructor(reportFailure = () => {}, self = undefined) {
    this.#reportFailure = reportFailure;
    this.#self = self ?? this;
  }

  /**
   * Vue wraps each object that is tagged as a plain one in a proxy, when a program keeps it in the state of a component.
   * A proxy has no private fields, and each call would throw. With a tag of its own the object stays as it is.
   */
  get [Symbol.toStringTag]() {
    return 'Emitter';
  }

  /** Throws a TypeError for a handler that is not a function, as in OpenTok. */
  on(names, handler, context) {
    forEachPair(names, handler, context, (list, callback, self) => this.#add(list, callback, self, false));
    return this.#self;
  }

  /** Each name is a listener of its own, as in OpenTok: with two names the handler runs once for each. */
  once(names, handler, context) {
    forEachPair(names, handler, context, (list, callback, self) => this.#add(list, callback, self, true));
    return this.#self;
  }

  /**
   * `off()` removes all listeners, `off(names)` all of these names; `names` is a text or a list.
   * `off(names, null, context)` removes those of the context. With a handler, in `off(names, handler, context?)` and
   * `off(map, context?)`, one call removes one listener of each name: the newest with this handler and this context.
   */
  off(names, handler, context) {
    if (names === undefined || names === null) {
      this.#listeners.clear();
    } else if (Array.isArray(names)) {
      this.#remove(names.flatMap(splitNames), handler, context);
    } else if (typeof names === 'object') {
      forEachPair(names, handler, context, (list, callback, self) => this.#removeOne(list, callback, self));
    } else {
      this.#remove(splitNames(names), handler, context);
    }
    return this.#self;
  }

  addEventListener(names, handler, context) {
    return this.on(names, handler, context);
  }

  removeEventListener(names, handler, context) {
    return this.off(names, handler, context);
  }

  listenerCount(name) {
    return this.#listeners.get(name)?.length ?? 0;
  }

  /**
   * Calls the listeners of `name` that were there when the call began. As in OpenTok, one that another handler removes
   * meanwhile is still called, since pages call `off()` in their first handler.
   */
  emit(name, ...details) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      if (listener.isOnce) {
        if (listener.hasRun) continue;
        listener.hasRun = true;
        this.#keep(name, (other) => other !== listener);
      }
      try {
        listener.handler.apply(listener.context ?? null, details);
      } catch (failure) {
        this.#reportFailure(failure, name);
      }
    }
    return this.#self;
  }

  trigger(name, ...details) {
    return this.emit(name, ...details);
  }

  /** An event without a target gets this object as its target. Throws an Error for an event without a type. */
  dispatchEvent(event) {
    if (!event.type) throw new Error('dispatchEvent: the event has no type');
    event.target ??= this.#self;
    return this.emit(event.type, event);
  }

  #add(names, handler, context, isOnce) {
    if (typeof handler !== 'function') {
      throw new TypeError(`The handler of "${names.join(' ')}" must be a function, and is ${String(handler)}.`);
    }
    for (const name of names) {
      if (!this.#listeners.has(name)) this.#listeners.set(name, []);
      this.#listeners.get(name).push({ handler, context: context ?? undefined, isOnce, hasRun: false });
    }
  }

  #remove(names, handler, context) {
    if (typeof handler === 'function') {
      this.#removeOne(names, handler, context);
      return;
    }
    const isOther = (listener) => isGiven(context) && listener.context !== context;
    for (const name of names) this.#keep(name, isOther);
  }

  #removeOne(names, handler, context) {
    for (const name of names) {
      const isMeant = (listener) => listener.handler === handler && listener.context === (context ?? undefined);
      const newest = (this.#listeners.get(name) ?? []).filter(isMeant).at(-1);
      if (newest) this.#keep(name, (listener) => listener !== newest);
    }
  }

  /** Makes a new list, because a dispatch may be reading the old one. */
  #keep(name, isKept) {
    const kept = (this.#listeners.get(name) ?? []).filter(isKept);
    if (kept.length > 0) this.#listeners.set(name, kept);
    else this.#listeners.delete(name);
  }
}

const METHODS = [
  'on', 'once', 'off', 'addEventListener', 'removeEventListener', 'listenerCount', 'emit', 'trigger', 'dispatchEvent',
];

/** Gives `object` the methods of an emitter as its own, and returns it. */
export function makeEmitter(object, reportFailure) {
  const emitter = new Emitter(reportFailure, object);
  for (const name of METHODS) object[name] = emitter[name].bind(emitter);
  return object;
}

function isGiven(value) {
  return value !== undefined && value !== null;
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
