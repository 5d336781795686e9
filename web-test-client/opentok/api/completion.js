/** Calls a completion handler, if there is one; a handler that throws is its own page's trouble, and is logged. */
export function complete(log, handler, ...results) {
  if (typeof handler !== 'function') return;
  try {
    handler(...results);
  } catch (failure) {
    log.error('a completion handler failed:', failure);
  }
}

/** The same, once the caller is done: `const publisher = OT.initPublisher(…, handler)` has its value by then. */
export function completeLater(log, handler, ...results) {
  queueMicrotask(() => complete(log, handler, ...results));
}
