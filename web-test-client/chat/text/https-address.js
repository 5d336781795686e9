/** The address in its normal form if it is one of `https:` without a user in it; else null. */
export function httpsAddress(value) {
  if (typeof value !== 'string') return null;
  let url;
  try {
    url = new URL(value);
  } catch {
    return null;
  }
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
}
