/**
 * The customs of a page with those that it gives now: null or undefined takes one away. All are functions, except
 * `actions`, which may be a list.
 */
export function changedCustoms(before, given) {
  const now = { ...before, ...given };
  for (const [name, value] of Object.entries(now)) {
    if (value === null || value === undefined) delete now[name];
    else if (typeof value !== 'function' && !(name === 'actions' && Array.isArray(value))) {
      throw new TypeError(`customize: ${name} is no function.`);
    }
  }
  return now;
}
