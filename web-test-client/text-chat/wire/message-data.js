/** The longest data of a message, as JSON in bytes. */
export const MESSAGE_DATA_LENGTH = 4096;

/**
 * What a program adds to its message, as it goes through JSON: a copy, without lone surrogates (WIRE-4). A value that is
 * no object, or that JSON cannot write, throws a `TypeError`. Null stays null.
 * @type {(value: unknown) => MessageData | null}
 */
export function messageData(value) {
  if (value === null || value === undefined) return null;
  const read = parsed(JSON.stringify(value) ?? 'null');
  if (!isObject(read)) throw new TypeError('The data of a message is an object that JSON can write.');
  return read;
}

/** The data of another program's message; null for what is no object, or too long (CHAT-11). */
export function readData(value) {
  return isObject(value) && dataLength(value) <= MESSAGE_DATA_LENGTH ? value : null;
}

export function dataLength(data) {
  return data === null ? 0 : new TextEncoder().encode(JSON.stringify(data)).length;
}

function parsed(text) {
  return JSON.parse(text, (name, member) => {
    if (/\p{Surrogate}/u.test(name)) return undefined;
    return typeof member === 'string' ? member.replace(/\p{Surrogate}/gu, '\ufffd') : member;
  });
}

function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
