// Who uses the element: what an earlier person has written is not shown to the next one. A key names a person in this
// browser's storage, and is no secret.

/** So many characters of a hash tell the tokens of guests apart. */
const HASH_RADIX = 36;

/**
 * The user that a token names (USR-1); null: it names none, or is of no form that this library knows. The server decides;
 * this only tells before its answer whose draft to show.
 */
export function userOf(token) {
  try {
    const isT1 = token.startsWith('T1==');
    const content = textOfBase64(isT1 ? token.slice(4) : token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'));
    const user = isT1 ? new URLSearchParams(content.slice(content.indexOf(':') + 1)).get('user') : JSON.parse(content).user;
    return typeof user === 'string' && user !== '' ? user : null;
  } catch {
    return null;
  }
}

/** Whether two tokens are certainly for two persons. */
export function areOfOthers(one, other) {
  return userOf(one) !== userOf(other);
}

/**
 * The key of a person: by the user, a guest by the token, and without one by the connection. Null: not known yet.
 * `connection` is the own one, once the server has told it.
 */
export function personOf(token, connection = null) {
  const user = connection ? (connection.user ?? null) : token && userOf(token);
  if (user) return `user ${user}`;
  if (token) return `guest ${hashOf(token)}`;
  return connection && `connection ${connection.connectionId}`;
}

/** Whether a person may come back with another page: a connection does not. */
export function mayReturn(person) {
  return person !== null && !person.startsWith('connection ');
}

function textOfBase64(text) {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (each) => each.charCodeAt(0)));
}

/** FNV-1a, twice with another beginning: 64 bits. */
function hashOf(text) {
  return [0x811c9dc5, 0x01000193].map((start) => {
    let hash = start;
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    return (hash >>> 0).toString(HASH_RADIX);
  }).join('');
}
