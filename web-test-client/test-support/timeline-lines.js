/** A row as one line of text, as the vectors write it. */
export function lineOf({ kind, day, message, position, showsSender, showsTime }) {
  if (kind === 'day') return `day ${day}`;
  if (kind === 'unreadDivider') return 'unread';
  if (kind === 'gap' || kind === 'beginning') return kind;
  const state = message.direction === 'received' ? 'received' : message.state;
  return `${message.text} ${state} ${position}${showsSender ? ' name' : ''}${showsTime ? ' time' : ''}`;
}

/** A message as a step or a case writes it. */
export function messageOf({
  text = 'x', senderId = null, user = null, sentAt, receivedAt, localId = null, seq = null, kind = 'received', state = 'sent',
}) {
  return { text, senderId, user, sentAt, receivedAt, localId, seq, direction: kind, state, failure: null };
}
