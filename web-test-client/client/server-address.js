// Derives the socket's address from the script's, so that a page changes its server with the host in its script tag.

const PACKAGE = '(?:npm/)?@(?:opentok/client|vonage/client-sdk-video)(?:@[^/]+)?';

/**
 * The paths under which a Signalbox server offers this library: those of OpenTok's own hosts, those of its packages on
 * a CDN, and the server's own. A part before them is a prefix that a proxy added.
 */
const SCRIPT_PATHS = new RegExp(
  '/(?:' +
    `(?:(?:webrtc/)?v2(?:\\.\\d+)*(?:-[^/]+)?/js|${PACKAGE}/dist/js)/(?:opentok|TB)(?:\\.min)?\\.js|${PACKAGE}` +
    '|(?:dist/opentok(?:\\.min)?|opentok(?:/index)?|(?:dist/)?signalbox-(?:chat|launcher)|chat/(?:launcher/)?index)\\.js' +
    ')$',
);

/** The server that delivered the script, with a proxy's path prefix; null if unknown. */
export function serverOfScript(scriptUrl) {
  let url;
  try {
    url = new URL(scriptUrl);
  } catch {
    return null;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const known = SCRIPT_PATHS.exec(url.pathname);
  return url.origin + (known ? url.pathname.slice(0, known.index) : '');
}

/**
 * The address of the socket for a server given as `https://host/prefix`, `wss://…`, `//host` or `host:port`; or null.
 */
export function signalingAddress(server, pageProtocol = 'https:') {
  if (typeof server !== 'string' || server.trim() === '') return null;
  let text = server.trim();
  if (text.startsWith('//')) text = pageProtocol + text;
  else if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) text = `${pageProtocol}//${text}`;
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  const scheme = { 'http:': 'ws:', 'https:': 'wss:', 'ws:': 'ws:', 'wss:': 'wss:' }[url.protocol];
  if (!scheme) return null;
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1\/signaling$/, '');
  return `${scheme}//${url.host}${path}/v1/signaling`;
}

/** A longer session id is not valid (`docs/PROTOCOL.md`, section 12), and not put into an address. */
const SESSION_ID_BYTES = 255;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/** The address with the session in its query, by which a proxy can choose the server (WIRE-17). */
export function addressOfSession(address, sessionId) {
  const bytes = new TextEncoder().encode(sessionId);
  if (address === null || bytes.length > SESSION_ID_BYTES) return address;
  const text = Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return UNRESERVED.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return `${address}?sessionId=${text.join('')}`;
}
