// How messages become rows: OpenTok's text-chat component, to the letter. Not sorted, nothing left out, no clock.

/** A message this soon after the one before it, from the same sender, needs no header of its own. */
export const GROUPING_WINDOW = 120_000;

/** Whether `message` continues what `previous` began. A message dated before its predecessor counts as soon after it. */
export function continuesGroup(previous, message) {
  return (
    message.senderId !== null &&
    message.senderId !== undefined &&
    message.senderId === previous.senderId &&
    message.sentAt - previous.sentAt < GROUPING_WINDOW
  );
}

/**
 * The rows for `messages` (`{senderId, sentAt, kind: 'sent' | 'received'}`), each `{kind, message}`: full rows with a
 * header (`sent`, `received`), short ones without (`sentShort`, `receivedShort`), and a `divider` before every full row
 * but the first, and at the very end. A divider has no message.
 */
export function rowsOf(messages) {
  const rows = [];
  let previous = null;
  for (const message of messages) {
    if (previous !== null && continuesGroup(previous, message)) {
      rows.push({ kind: `${message.kind}Short`, message });
    } else {
      if (previous !== null) rows.push({ kind: 'divider' });
      rows.push({ kind: message.kind, message });
    }
    previous = message;
  }
  if (rows.length > 0) rows.push({ kind: 'divider' });
  return rows;
}
