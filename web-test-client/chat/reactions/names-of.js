import { displayName } from '../../text-chat/display-name.js';

/** So many users are named; the others are a number. */
const MOST_NAMES = 10;

/**
 * “You, Ada, and 3 others”: the names of users `{user, name}`, of `count` in all. `own` is the user of the reader, and
 * `text(key, values)`, `list(items)` and `isolated(text)` are of the texts.
 */
export function namesOf(users, count, { own, text, list, isolated }) {
  const sorted = [...users.filter(({ user }) => user === own), ...users.filter(({ user }) => user !== own)];
  const written = (each) => (each.user === own ? text('you') : isolated(nameOf(each, text)));
  const named = sorted.slice(0, MOST_NAMES).map(written);
  const others = count - named.length;
  return list(others > 0 ? [...named, text('others', { count: others })] : named);
}

/** The name of a user who is not known comes from the id. */
export function nameOf({ user, name }, text) {
  return name ?? displayName({ user }, (id) => text('guest', { id: { text: id } }).trim());
}
