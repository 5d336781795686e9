const NAME_LENGTH = 40;

/**
 * The name of a connection. Its data comes from the token: a bare name, `name=Ada`, or JSON with a `name`. Without a
 * name: `Guest` and the start of the id.
 */
export function displayName({ data, connectionId }) {
  const text = typeof data === 'string' ? data.trim() : '';
  const name = nameInJSON(text) ?? nameInPairs(text) ?? text;
  if (name === '') return `Guest ${String(connectionId ?? '').slice(0, 4)}`.trim();
  // Cut between code points, so that no surrogate pair is split.
  const characters = [...name];
  return characters.length > NAME_LENGTH ? `${characters.slice(0, NAME_LENGTH - 1).join('')}…` : name;
}

function nameInJSON(text) {
  if (!text.startsWith('{')) return null;
  try {
    const { name } = JSON.parse(text);
    return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
  } catch {
    return null;
  }
}

function nameInPairs(text) {
  const found = /^(?:[^&;,]*[&;,])*\s*(?:user)?name=([^&;,]+)/i.exec(text);
  return found && found[1].trim() !== '' ? found[1].trim() : null;
}
