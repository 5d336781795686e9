// What an element connects with: {session, apiKey, token, server}. Null: not given.

/** The attribute of each member. */
const ATTRIBUTES = { session: 'session', apiKey: 'api-key', token: 'token', server: 'server' };

/** The attributes that are missing, in their order. */
export function missingOf(credentials) {
  return Object.keys(ATTRIBUTES).filter((name) => !credentials[name]).map((name) => ATTRIBUTES[name]);
}

/** Whether both name the same project, session and server. */
export function isSameRoom(one, other) {
  return ['session', 'apiKey', 'server'].every((name) => one[name] === other[name]);
}
