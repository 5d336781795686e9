// Text on the socket ↔ messages. One WebSocket message carries one JSON object per line (WIRE-3).

/** The messages in one text, in order; `undefined` stands for a line that is no JSON object. */
export function decodeMessages(text) {
  const messages = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    messages.push(decodeLine(line));
  }
  return messages;
}

function decodeLine(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * One line. Half a surrogate pair cannot be written in UTF-8 and the server refuses its escape (WIRE-4), with an error
 * that names no request; it becomes U+FFFD here, which is what every other path from a string to a socket does.
 */
export function encodeMessage(message) {
  return JSON.stringify(message, (key, value) =>
    typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\uFFFD') : value,
  );
}
