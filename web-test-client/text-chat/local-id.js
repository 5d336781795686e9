/** @type {() => string} A new local id: 96 random bits, as 24 hex digits. */
export function newLocalId() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
