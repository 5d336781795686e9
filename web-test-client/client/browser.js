import { isBlocked, watchPolicy } from './blocked-hosts.js';

/**
 * Whether there is a page. Workers, Node and Deno have none; on some runtimes, `window` is the global object all the
 * same, and programs that render pages on a server define a `document` with nothing in it.
 */
export function hasPage() {
  return isEventTarget(globalThis.document);
}

/** The environment that `createOT` needs, in a browser. */
export function browserEnvironment() {
  if (hasPage()) watchPolicy(globalThis.document);
  return {
    isBlocked,
    /** Looked up for each socket: a program on Node sets it after its imports, which come first. */
    get WebSocket() {
      return globalThis.WebSocket;
    },
    fetch: globalThis.fetch && ((resource, options) => globalThis.fetch(resource, options)),
    console: globalThis.console,
    pageProtocol: globalThis.location?.protocol,
    document: hasPage() ? globalThis.document : undefined,
    mediaDevices: globalThis.navigator?.mediaDevices,
    now: () => (globalThis.performance ?? Date).now(),
    random: () => Math.random(),
    setTimeout: (act, delay) => globalThis.setTimeout(act, delay),
    clearTimeout: (timer) => globalThis.clearTimeout(timer),
    watch: (report) => watchPage(globalThis.window, globalThis.document, report),
  };
}

/**
 * Reports the network's return and the page's changes to `report`, as inputs of `ClientState`. Returns a function that
 * stops the reports. Without a page there is nothing to report.
 */
export function watchPage(window, document, report) {
  if (!isEventTarget(window) || !isEventTarget(document)) return () => {};
  const listeners = [
    [window, 'online', () => report({ is: 'networkBack' })],
    [window, 'pagehide', ({ persisted }) => report({ is: persisted ? 'pageStored' : 'pageLeft' })],
    [window, 'pageshow', ({ persisted }) => persisted && report({ is: 'pageShown' })],
    [document, 'visibilitychange', () => document.visibilityState === 'visible' && report({ is: 'pageShown' })],
  ];
  for (const [target, name, listener] of listeners) target.addEventListener(name, listener);
  return () => {
    for (const [target, name, listener] of listeners) target.removeEventListener(name, listener);
  };
}

function isEventTarget(value) {
  return typeof value?.addEventListener === 'function';
}
