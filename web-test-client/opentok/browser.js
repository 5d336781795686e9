/** What a browser offers, as `createOT` wants it. */
export function browserEnvironment() {
  return {
    WebSocket: globalThis.WebSocket,
    console: globalThis.console,
    pageProtocol: globalThis.location?.protocol,
    now: () => performance.now(),
    setTimeout: (act, delay) => globalThis.setTimeout(act, delay),
    clearTimeout: (timer) => globalThis.clearTimeout(timer),
  };
}
