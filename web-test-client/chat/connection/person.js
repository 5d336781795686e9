// What a token says, for which the element need not ask the server: above all who uses it. What an earlier person has
// written is not shown to the next one. A key names a person in this browser's storage, and is no secret.

/** So many characters of a hash tell the tokens of guests apart. */
const HASH_RADIX = 36;

/** So long after its expiry a server still accepts a token (TOK-4), with some time for its answer, in milliseconds. */
const CLOCK_SKEW = 20_000;

/** How long a token is valid that does not say it (TOK-2), in seconds. */
const STANDARD_SECONDS = 24 * 60 * 60;

/**
 * The user that a token names (USR-1); null: it names none, or is of no form that this library knows. The server decides;
 * this only tells before its answer whose draft to show.
 */
export function userOf(token) {
  const { user } = fieldsOf(token);
  return typeof user === 'string' && user !== '' ? user : null;
}

/**
 * Whether a server that ends the connection for the token's sake at this moment of its clock has revoked it (TOK-10), and
 * does not end it because it has expired (TOK-9).
 */
export function isRevoked(token, now) {
  const { exp, expire_time: expiry = exp, iat, create_time: issued = iat } = fieldsOf(token);
  return now < (Number(expiry) || Number(issued) + STANDARD_SECONDS) * 1000 + CLOCK_SKEW;
}

/** The fields of a T1 token or the claims of a JWT, unchecked. None: it is of no form that this library knows. */
function fieldsOf(token) {
  try {
    const isT1 = token.startsWith('T1==');
    const content = textOfBase64(isT1 ? token.slice(4) : token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'));
    const data = isT1 ? Object.fromEntries(new URLSearchParams(content.slice(content.indexOf(':') + 1))) : JSON.parse(content);
    return data ?? {};
  } catch {
    return {};
  }
}

/** Whether a server lets no connection go on with the other token, because it is certainly for somebody else (CON-12). */
export function areOfOthers(one, other) {
  const [{ user, connection_data: data }, next] = [fieldsOf(one), fieldsOf(other)];
  return user !== next.user || data !== next.connection_data;
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
