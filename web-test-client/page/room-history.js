// The room in the browser's history: Back leaves the room and not the site, Forward returns, and so does Reload. An entry
// has the name, the room and the role, which are no secrets; of a session with a token it tells only that it was one.

const MEMBER = 'signalbox';

/** What the entry of the history joined: `{name, room, role}`, `{}` for a session, or null. */
export function joinedIn(state) {
  const joined = state?.[MEMBER];
  return typeof joined === 'object' ? joined : null;
}

/** The user has joined: the first time makes an entry, a return to the room does not. */
export function noteJoined({ name, room, role }, address) {
  const state = { [MEMBER]: room === undefined ? {} : { name, room, role } };
  if (joinedIn(history.state) === null) history.pushState(state, '', address);
  else history.replaceState(state, '', address);
}

/** The user has left by themselves: the entry in front of the room is that of the form. */
export function noteLeft() {
  if (joinedIn(history.state) !== null) history.back();
}
