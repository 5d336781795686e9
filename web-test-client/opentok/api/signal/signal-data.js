// The wire carries text. OpenTok's web client also sends objects and numbers, with a warning; they travel as JSON
// (SIG-13).

/** The data of a signal as the client sends it: `{data}`, or `{data, isJSON}` with the JSON text of a value. */
export function encodeData(data, log) {
  if (data === undefined || typeof data === 'string') return { data };
  log.warn('signal data that is not a string is deprecated; receivers other than browsers get its JSON text');
  return { data: JSON.stringify(data), isJSON: true };
}

/** The data that the sender's program passed to `signal`. Each receiver gets a value of its own. */
export function decodeData({ data, isJSON }) {
  if (!isJSON || data === undefined) return data;
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
