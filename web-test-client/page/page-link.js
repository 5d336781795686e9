// A link to a session, as `signalbox link` prints it. Its fragment, which browsers do not send to servers, has a code, or
// session, API key and token. Browsers keep the whole link in their history, also after the page has removed the fragment
// from the address bar. A code there is soon worth nothing; a token is good until it expires.

const STORED = 'signalbox.link';

// Keys of the page's texts.
const BROKEN = 'brokenLink';
const USED = 'usedLink';

/**
 * What the fragment of an address names: `{code}`, `{access: {apiKey, sessionId, token}}`, `{problem}` for a link that is
 * not complete, or null without a link. A problem is the key of a text.
 */
export function linkIn(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const code = fields.get('code');
  if (code !== null) return /^[0-9a-f]{32}$/.test(code) ? { code } : { problem: BROKEN };
  const [sessionId, apiKey, token] = ['session', 'key', 'token'].map((name) => fields.get(name));
  if (sessionId === null && apiKey === null && token === null) return null;
  const isToken = /^T1==./.test(token ?? '') || /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token ?? '');
  if (!/^[12]_[\w-]+$/.test(sessionId ?? '') || !apiKey || !isToken) return { problem: BROKEN };
  return { access: { apiKey, sessionId, token } };
}

/** The label in a session id (TOK-1), for people to read; null: it has none. */
export function labelOf(sessionId) {
  try {
    const text = atob(sessionId.slice(2).replace(/-/g, '+').replace(/_/g, '/'));
    const content = new TextDecoder().decode(Uint8Array.from(text, (each) => each.charCodeAt(0)));
    return /^label=(.+)$/.exec(content.split('~')[7])?.[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * Takes the link out of the address, so that nobody reads it over the user's shoulder or copies it from there, and keeps
 * it in this tab for a reload. Without one in the address, returns the kept one.
 */
export function takeLink() {
  const link = linkIn(location.hash);
  if (link === null) return keptLink();
  history.replaceState(null, '', location.pathname + location.search);
  keepLink(link);
  return link;
}

/**
 * Exchanges the code of a link, if it has one, for what the code stands for (REST-7), and keeps that. `post(path, body)`
 * returns the response.
 */
export async function openLink(link, post) {
  if (link?.code === undefined) return link;
  const response = await post('./link', { code: link.code });
  // Any other status is that of a proxy, or of a server that stops: the user may try again.
  if (!response.ok && response.status !== 404) throw new Error(`status ${response.status}`);
  const opened = response.ok ? { access: accessIn(await response.json()) } : { problem: USED };
  keepLink(opened);
  return opened;
}

/** The user wants another session. */
export function forgetLink() {
  try {
    sessionStorage.removeItem(STORED);
  } catch {
    // The browser refuses storage, so there is nothing to forget.
  }
}

function keepLink({ code, access }) {
  forgetLink();
  try {
    if (code ?? access) sessionStorage.setItem(STORED, JSON.stringify(code ? { code } : access));
  } catch {
    // The browser refuses storage: the link lasts until the page is reloaded.
  }
}

function keptLink() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
    if (kept.code) return { code: kept.code };
    return kept.token ? { access: accessIn(kept) } : null;
  } catch {
    return null;
  }
}

function accessIn({ apiKey, sessionId, token }) {
  return { apiKey, sessionId, token };
}
