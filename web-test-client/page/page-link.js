// A link to a session, as `signalbox link` prints it: session, API key and token are in the fragment, which browsers do
// not send to servers.

const STORED = 'signalbox.link';

const BROKEN = 'This link is not complete. Ask for it again, and copy all of it.';

/**
 * What the fragment of an address names: `{access: {apiKey, sessionId, token}}`, `{problem}` for a link that is not
 * complete, or null without a link.
 */
export function linkIn(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const [sessionId, apiKey, token] = ['session', 'key', 'token'].map((name) => fields.get(name));
  if (sessionId === null && apiKey === null && token === null) return null;
  const isToken = /^T1==./.test(token ?? '') || /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token ?? '');
  if (!/^[12]_[\w-]+$/.test(sessionId ?? '') || !apiKey || !isToken) return { problem: BROKEN };
  return { access: { apiKey, sessionId, token } };
}

/**
 * Takes the link out of the address, so that the token is not in the history, and keeps it in this tab for a reload.
 * Without one in the address, returns the kept one.
 */
export function takeLink() {
  const link = linkIn(location.hash);
  if (link === null) return keptLink();
  history.replaceState(null, '', location.pathname + location.search);
  forgetLink();
  try {
    if (link.access) sessionStorage.setItem(STORED, JSON.stringify(link.access));
  } catch {
    // The browser refuses storage: the link lasts until the page is reloaded.
  }
  return link;
}

/** The user wants another session. */
export function forgetLink() {
  try {
    sessionStorage.removeItem(STORED);
  } catch {
    // The browser refuses storage, so there is nothing to forget.
  }
}

/** What the user reads when the server does not let a link in. `message` is the server's reason. */
export function linkFailure(message) {
  if (/expired/.test(message)) return 'This link has expired. Ask for a new one.';
  if (/refused|API key/.test(message)) return `The server does not accept this link: ${message}. Ask for a new one.`;
  return message;
}

function keptLink() {
  try {
    const { apiKey, sessionId, token } = JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
    return apiKey && sessionId && token ? { access: { apiKey, sessionId, token } } : null;
  } catch {
    return null;
  }
}
