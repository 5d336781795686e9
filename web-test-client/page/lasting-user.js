const KEY = 'signalbox.user';

/**
 * The id of a user of this page, which a reload and another tab have, too: random, in the page's storage, and no cookie.
 * `suffix` is for a further user on one page. A browser that refuses storage has another id for each load of the page.
 */
export function lastingUser(suffix = '', storage = globalThis.localStorage) {
  const made = `page-${crypto.randomUUID()}`;
  try {
    const kept = storage.getItem(KEY + suffix);
    if (kept !== null && /^[\w-]{1,128}$/.test(kept)) return kept;
    storage.setItem(KEY + suffix, made);
  } catch {
    // The browser refuses storage.
  }
  return made;
}
