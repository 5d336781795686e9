const NAME_LENGTH = 40;

/**
 * What to call a connection. Its data is whatever the application put into the token: a bare name, `name=Ada`, or JSON
 * with a `name`; without any of these a short piece of its id must do.
 */
export function displayName({ data, connectionId }) {
  const text = typeof data === 'string' ? data.trim() : '';
  const name = nameInJSON(text) ?? nameInPairs(text) ?? text;
  if (name === '') return `Guest ${String(connectionId ?? '').slice(0, 4)}`.trim();
  // By characters, so that no emoji is cut in half.
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
