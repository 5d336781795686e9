/** What a browser offers, as `createOT` wants it. */
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
 * Tells `hear` of the network's return and of the page's goings and comings, in the words of `ClientState`, until the
 * function that it returns is called. Where there is no page, as in a worker, nothing is ever told.
 */
export function watchPage(window, document, hear) {
  if (!window || !document) return () => {};
  const listeners = [
    [window, 'online', () => hear({ event: 'networkBack' })],
    [window, 'pagehide', ({ persisted }) => hear({ event: persisted ? 'pageStored' : 'pageLeft' })],
    [window, 'pageshow', ({ persisted }) => persisted && hear({ event: 'pageShown' })],
    [document, 'visibilitychange', () => document.visibilityState === 'visible' && hear({ event: 'pageShown' })],
  ];
  for (const [target, name, listener] of listeners) target.addEventListener(name, listener);
  return () => {
    for (const [target, name, listener] of listeners) target.removeEventListener(name, listener);
  };
}
