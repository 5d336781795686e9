/** So many hosts are remembered. A page connects to few. */
const HOST_COUNT = 32;

const blocked = new Set();

/** Notes the servers to which the page's Content-Security-Policy permits no socket: browsers tell only by this event. */
export function watchPolicy(document) {
  // The same listener is added once. `document.open` removes it.
  document.addEventListener('securitypolicyviolation', note);
}

function note({ disposition, effectiveDirective, blockedURI }) {
  // A policy that only reports blocks nothing.
  if (disposition === 'report' || effectiveDirective !== 'connect-src') return;
  const host = hostOf(blockedURI);
  if (host !== null && blocked.size < HOST_COUNT) blocked.add(host);
}

/** Whether the page's policy has blocked a socket to the host of this address. A policy does not change in a page. */
export function isBlocked(address) {
  return blocked.has(hostOf(address));
}

/** The host of a socket's address, else null. */
function hostOf(address) {
  try {
    const { protocol, host } = new URL(address);
    return protocol === 'ws:' || protocol === 'wss:' ? host : null;
  } catch {
    return null;
  }
}
