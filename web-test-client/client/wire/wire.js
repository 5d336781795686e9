// Text on the socket ↔ messages. One WebSocket message carries one JSON object per line (WIRE-3).

import { isWhole } from './message-shapes.js';

/**
 * The lines of one text, in order, each as an input of `ClientState`: `{is: 'received', message}`,
 * `{is: 'receivedUnknown'}` for an event of a later protocol (WIRE-6), or `{is: 'receivedMalformed', event}`.
 */
export function decodeMessages(text) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => classify(parse(line)));
}

/** Classifies a decoded value of the server as an input; see `decodeMessages`. */
export function classify(message) {
  if (typeof message?.ev !== 'string' || Array.isArray(message)) return { is: 'receivedMalformed', event: null };
  switch (isWhole(message)) {
    case true:
      return { is: 'received', message };
    case false:
      return { is: 'receivedMalformed', event: message.ev };
    default:
      return { is: 'receivedUnknown' };
  }
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * One line. UTF-8 cannot hold half a surrogate pair, and the server refuses its escape (WIRE-4) with an error that
 * names no request. It becomes U+FFFD here, as everywhere else that a string goes to a socket.
 */
export function encodeMessage(message) {
  return JSON.stringify(message, (key, value) =>
    typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\uFFFD') : value,
  );
}
