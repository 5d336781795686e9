/** Calls a completion handler, if there is one. Logs the error of a handler that throws. */
export function complete(log, handler, ...results) {
  if (typeof handler !== 'function') return;
  try {
    handler(...results);
  } catch (failure) {
    log.error('a completion handler failed:', failure);
  }
}

/** Does the same after the caller has returned: then `const publisher = OT.initPublisher(…, handler)` has its value. */
export function completeLater(log, handler, ...results) {
  queueMicrotask(() => complete(log, handler, ...results));
}
