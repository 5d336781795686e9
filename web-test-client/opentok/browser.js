/** The environment that `createOT` needs, in a browser. */
export function browserEnvironment() {
  return {
    WebSocket: globalThis.WebSocket,
    console: globalThis.console,
    pageProtocol: globalThis.location?.protocol,
    now: () => performance.now(),
    random: () => Math.random(),
    setTimeout: (act, delay) => globalThis.setTimeout(act, delay),
    clearTimeout: (timer) => globalThis.clearTimeout(timer),
    watch: (hear) => watchPage(globalThis.window, globalThis.document, hear),
  };
}

/**
 * Passes the network's return and the page's changes to `hear`, as inputs of `ClientState`. Returns a function that ends
 * this. A worker has no page, and passes nothing.
 */
export function watchPage(window, document, hear) {
  if (!window || !document) return () => {};
  const listeners = [
    [window, 'online', () => hear({ is: 'networkBack' })],
    [window, 'pagehide', ({ persisted }) => hear({ is: persisted ? 'pageStored' : 'pageLeft' })],
    [window, 'pageshow', ({ persisted }) => persisted && hear({ is: 'pageShown' })],
    [document, 'visibilitychange', () => document.visibilityState === 'visible' && hear({ is: 'pageShown' })],
  ];
  for (const [target, name, listener] of listeners) target.addEventListener(name, listener);
  return () => {
    for (const [target, name, listener] of listeners) target.removeEventListener(name, listener);
  };
}
