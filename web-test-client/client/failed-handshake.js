// Browsers hide why a WebSocket did not open. The answer to a plain request for the same URL helps to find the cause.

/** How long the request may take, in milliseconds. */
const ANSWER_TIME = 3000;

const PROXY_WITHOUT_UPGRADES =
  'The proxy in front does not pass WebSocket upgrades. Let it forward the headers Upgrade and Connection with ' +
  'HTTP/1.1.';

const HTTP_ONLY =
  'The server answers HTTP requests, but no WebSocket to it opens. Check that proxies and firewalls on the way pass ' +
  'WebSocket upgrades, and that the server allows pages of this origin.';

/** The page's policy has blocked the socket: there was no request. */
function blockedByPolicy(address) {
  const { protocol, host } = new URL(address);
  const source = `${protocol}//${host}`;
  return `The page’s Content-Security-Policy blocks the connection to ${source}. Add ${source} to its connect-src.`;
}

/**
 * Resolves with the cause as a sentence; with null if it stays unknown. Never rejects.
 *
 * The server answers a plain request for the WebSocket's address with 426, and tells whether a handshake has arrived
 * without its upgrade in the last half minute (WIRE-1). `environment` has `fetch`, `setTimeout` and `clearTimeout`,
 * and in a page `isBlocked(address)`.
 */
export async function causeOfFailedHandshake(environment, address) {
  if (typeof environment.fetch !== 'function' || address === null) return null;
  if (environment.isBlocked?.(address)) return blockedByPolicy(address);
  const abort = new AbortController();
  const timer = environment.setTimeout(() => abort.abort(), ANSWER_TIME);
  try {
    const response = await environment.fetch(address.replace(/^ws/, 'http'), {
      cache: 'no-store', credentials: 'omit', signal: abort.signal,
    });
    if (response.status !== 426) return null;
    const { upgradeMissing } = await response.json();
    return upgradeMissing === true ? PROXY_WITHOUT_UPGRADES : HTTP_ONLY;
  } catch {
    return null;
  } finally {
    environment.clearTimeout(timer);
  }
}
