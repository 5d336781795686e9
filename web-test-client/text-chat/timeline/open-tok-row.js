/**
 * A timeline's messages in the look of OpenTok's text chat of 2015 (CHAT-7), grouped as the timeline has grouped them: each
 * `{kind, id, message}`, full rows with a header (`sent`, `received`), short ones without (`sentShort`, `receivedShort`), and a
 * `divider` before every full row but the first, and at the very end. A divider has no message. Days, gaps and what is unread
 * are not in it.
 */
export function openTokRows(timelineRows) {
  const rows = [];
  let last = null;
  for (const { kind, id, message, position } of timelineRows) {
    if (kind !== 'message') continue;
    const isFirst = position === 'first' || position === 'single';
    if (isFirst && last !== null) rows.push({ kind: 'divider', id: `divider ${last}` });
    rows.push({ kind: isFirst ? message.direction : `${message.direction}Short`, id, message });
    last = id;
  }
  if (last !== null) rows.push({ kind: 'divider', id: `divider ${last}` });
  return rows;
}
