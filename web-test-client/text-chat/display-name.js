import { isReserved } from './name-look.js';
import { isBlank, plainLine } from './visible-text.js';

/** The name of a user without one; a number follows. */
const GUEST = 'Guest';

const NAME_LENGTH = 40;

/** The members that hold a name, in their order of precedence, in small letters and without `_` and `-`. */
const NAME_KEYS = [
  'name', 'displayname', 'fullname', 'nickname', 'nick', 'username', 'screenname', 'alias', 'clientdata', 'user',
  'profile', 'participant',
];
const FIRST_NAME_KEYS = ['firstname', 'givenname'];
const LAST_NAME_KEYS = ['lastname', 'familyname', 'surname'];
const KNOWN_KEYS = new Set([...NAME_KEYS, ...FIRST_NAME_KEYS, ...LAST_NAME_KEYS]);

/** How many objects a name may be inside of. */
const DEPTH = 3;

/**
 * The name of a connection. Its data comes from the token: a bare name, `name=Ada%20Lovelace`, or JSON with a `name`,
 * a `nickname` or the like. Without a name it is the user of the token, unless the id is a code, and without both
 * `guest(number)`, by default `Guest` and the number, which everybody in the room sees alike (CHAT-4).
 * @type {(connection: { readonly data?: string; readonly connectionId?: string; readonly user?: string | null },
 * guest?: (number: string) => string) => string}
 */
export function displayName({ data, connectionId, user = null }, guest = (number) => `${GUEST} ${number}`.trim()) {
  return vouchedName({ data, user }) ?? guest(numberOf(user ?? connectionId));
}

/**
 * The name that the server vouches for; null: none. A guest, who may have chosen the data, cannot have a name that the
 * chat itself uses.
 */
export function vouchedName({ data, user }) {
  const name = nameIn(data);
  if (user === null) return name === null || isReserved(name) ? null : name;
  return name ?? (isCode(user) ? null : nameIn(user));
}

/** Whether nobody would read the user id as a name: it has no letter, or is as long and mixed as a random one. */
function isCode(user) {
  return !/\p{L}/u.test(user) || (/^\S{16,}$/u.test(user) && /[0-9]/.test(user));
}

/** The name in a connection's data; null if a reader would see none. */
export function nameIn(data) {
  const text = typeof data === 'string' ? plainLine(data) : '';
  const name = nameInJSON(text) ?? nameInPairs(text);
  if (isBlank(name)) return null;
  // Cut between code points, so that no surrogate pair is split.
  const characters = [...name];
  return characters.length > NAME_LENGTH ? `${characters.slice(0, NAME_LENGTH - 1).join('')}…` : name;
}

/** The number is made of the user id, or of a guest's connection id, so that all clients agree on it without asking each other. */
export function numberOf(id) {
  if (typeof id !== 'string' || id === '') return '';
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)) % 65_521;
  return String(1000 + (sum % 9000));
}

/** Null if the data is not JSON with members; empty if no member holds a name. */
function nameInJSON(text) {
  if (!/^[{["]/.test(text)) return null;
  try {
    return nameInValue(JSON.parse(text), DEPTH);
  } catch {
    return null;
  }
}

function nameInValue(value, depth) {
  if (typeof value === 'string') return plainLine(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return '';
  return nameInMembers(Object.entries(value), (inner) => nameInValue(inner, depth - 1));
}

/** Pairs such as `id=7&name=Ada`. A text that is none is the name itself. */
function nameInPairs(text) {
  const pairs = text.split(/[&;,]/).map((pair) => /^ ?([A-Za-z][\w.-]*) ?=(.*)$/s.exec(pair)?.slice(1));
  const known = pairs.filter((pair) => pair !== undefined);
  const name = nameInMembers(known, decoded);
  // Several pairs are data for a program, and one pair may be what a user has entered.
  return name === '' && (known.length < pairs.length || pairs.length === 1) ? text : name;
}

/** The first name that shows; empty if there is none. */
function nameInMembers(members, read) {
  const values = new Map();
  for (const [key, value] of members) {
    const plain = key.toLowerCase().replace(/[_-]/g, '');
    if (KNOWN_KEYS.has(plain) && !values.has(plain)) values.set(plain, value);
  }
  const first = (keys) => {
    for (const key of keys) {
      const name = values.has(key) ? read(values.get(key)) : '';
      if (!isBlank(name)) return name;
    }
    return '';
  };
  return first(NAME_KEYS) || plainLine(`${first(FIRST_NAME_KEYS)} ${first(LAST_NAME_KEYS)}`);
}

/** A value as in the query of an address. */
function decoded(value) {
  try {
    return plainLine(decodeURIComponent(value.replaceAll('+', ' ')));
  } catch {
    return plainLine(value);
  }
}
