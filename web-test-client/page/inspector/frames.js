// The lines of WebSocket messages as entries of the inspector. One WebSocket message carries one JSON object per line
// (WIRE-3). Nothing here decides anything: the library reads the messages by itself.

/** Members that let their reader act as this user. The inspector never shows them, and its export has none. */
const SECRETS = new Set(['token', 'secret']);

/** Finds every line with such a member, and few others: their letters may be escaped. */
const MAY_HAVE_SECRET = /"(?:token|secret)"|\\u/;

const HIDDEN = '(hidden)';

/**
 * The entries of one WebSocket message: `{direction, at, seq, type, from, to, size, raw, message}`. `type` is the
 * signal's (`signal:chat`), or the name of the event or operation. `size` is in bytes of UTF-8. `raw` is the line
 * without secrets, and `message` its JSON value, or null.
 */
export function entriesOf(direction, text, at) {
  if (typeof text !== 'string') return [];
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => entryOf(direction, line, at));
}

function entryOf(direction, line, at) {
  const size = byteCount(line);
  const message = parse(line);
  if (message === null) {
    return { direction, at, seq: null, type: 'malformed', from: null, to: null, size, raw: line, message };
  }
  const shown = MAY_HAVE_SECRET.test(line) ? withoutSecrets(message) : message;
  return {
    direction,
    at,
    seq: Number.isInteger(message.seq) ? message.seq : null,
    type: typeOf(message),
    from: textOrNull(message.from) ?? textOrNull(message.connection?.connectionId),
    to: textOrNull(message.to),
    size,
    // The line itself where nothing is hidden: its members keep their order and spelling.
    raw: shown === message ? line : JSON.stringify(shown),
    message: shown,
  };
}

function typeOf({ ev, op, type }) {
  const name = textOrNull(ev) ?? textOrNull(op) ?? 'unknown';
  return name === 'signal' && typeof type === 'string' && type !== '' ? `signal:${type}` : name;
}

/** The message itself if it has no secret. */
function withoutSecrets(message) {
  let hasSecret = false;
  const shown = JSON.parse(JSON.stringify(message), (name, value) => {
    if (!SECRETS.has(name) || typeof value !== 'string') return value;
    hasSecret = true;
    return HIDDEN;
  });
  return hasSecret ? shown : message;
}

function parse(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The length in UTF-8, without the bytes themselves. */
function byteCount(text) {
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Both halves of a surrogate pair count two.
    if (unit >= 0x80) count += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return count;
}

function textOrNull(value) {
  return typeof value === 'string' && value !== '' ? value : null;
}
