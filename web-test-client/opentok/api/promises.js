// The promises of OpenTok 2.35, beside its completion handlers. Programs written before that version ignore them, so a
// rejected promise that no one looks at must not raise `unhandledrejection`.

import { complete } from './completion.js';

/** Marks a rejection as handled, and returns the promise. A promise derived from it, with `then`, is a new one. */
export function quiet(promise) {
  promise.catch(() => {});
  return promise;
}

/** A promise, and the functions that settle it. */
export class Outcome {
  constructor() {
    this.promise = quiet(new Promise((resolve, reject) => Object.assign(this, { resolve, reject })));
  }
}

/**
 * For a call that returned nothing before 2.35. `start(done)` begins it; `done(error)` or `done(undefined, …results)`
 * calls the completion handler at once, and then settles the promise, with the same error or without a value.
 */
export function promised(log, handler, start) {
  const outcome = new Outcome();
  start((error, ...results) => {
    complete(log, handler, error, ...results);
    if (error) outcome.reject(error);
    else outcome.resolve();
  });
  return outcome.promise;
}

const settlers = new WeakSet();

/**
 * Calls the handler if it settles a promise. OpenTok calls no handler in some cases, such as a `connect` while connected;
 * a promise must be settled in each.
 */
export function settle(handler, ...results) {
  if (settlers.has(handler)) handler(...results);
}

/**
 * Gives a method of this object its form with a promise, as in `session.connect.promise(token)`. It is resolved with
 * what the method returns, when the method calls its completion handler without an error.
 *
 * The method becomes the object's own and is bound to it: `promise` is called on the method, and so does not get the
 * object as `this`. It is looked up at each call, so that a method of a subclass, or a patched prototype, counts.
 */
export function addPromiseForm(object, name) {
  const method = (...args) => Object.getPrototypeOf(object)[name].apply(object, args);
  method.promise = (...args) => {
    const handler = typeof args.at(-1) === 'function' ? args.pop() : undefined;
    return quiet(new Promise((resolve, reject) => {
      const settler = (error, ...results) => {
        // Later, since the method may call its handler before it returns.
        queueMicrotask(() => (error ? reject(error) : resolve(returned)));
        handler?.(error, ...results);
      };
      settlers.add(settler);
      const returned = method(...args, settler);
    }));
  };
  Object.defineProperty(object, name, { value: method, writable: true, configurable: true });
}

/** The form with a promise of methods that do their work at once, and return their object. */
export function addImmediatePromiseForms(object, names) {
  for (const name of names) {
    const method = (...args) => Object.getPrototypeOf(object)[name].apply(object, args);
    method.promise = async (...args) => method(...args);
    Object.defineProperty(object, name, { value: method, writable: true, configurable: true });
  }
}
