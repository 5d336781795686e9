/**
 * The messages of a timeline in the look of OpenTok's text chat of 2015 (CHAT-7), in the timeline's groups. Each row is
 * `{kind, id, message}`: with a header (`sent`, `received`), text only (`sentShort`, `receivedShort`), or a `divider`
 * after each group, which has no message. Days, gaps and the unread divider are left out.
 * @type {(rows: readonly TimelineRow[]) => OpenTokRow[]}
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
