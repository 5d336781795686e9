/**
 * What programs get as `readState` (READ-3): what `connected` has told, kept up to date by the events behind it. `unread`
 * is the server's count of the connect, and goes when the user's own marker moves.
 */
export function readStateAfter(state, { user, through }, ownUser) {
  if (state === null) return null;
  if (user === ownUser) {
    const { unread, ...rest } = state;
    return (state.through ?? 0) >= through ? state : { ...rest, through };
  }
  const readers = (state.readers ?? []).filter((each) => each.user !== user);
  return { ...state, readers: [...readers, { user, through }] };
}

/** The same after an erasure: that of a user's messages drops the user's marker. */
export function readStateWithout(state, user) {
  if (state === null || user === undefined || !state.readers) return state;
  return { ...state, readers: state.readers.filter((each) => each.user !== user) };
}
