/**
 * Applies `changes` to `rows`, in their order, each to the result of the one before: `{insert: row, at}`, `{remove: id,
 * at}`, `{move: id, from, to}` (`to` counts without the row), `{update: row, at}`.
 * @type {(rows: TimelineRow[], changes: readonly TimelineChange[]) => TimelineRow[]}
 */
export function applyChanges(rows, changes) {
  for (const change of changes) {
    if (change.insert) rows.splice(change.at, 0, change.insert);
    else if (change.remove !== undefined) rows.splice(change.at, 1);
    else if (change.move !== undefined) rows.splice(change.to, 0, ...rows.splice(change.from, 1));
    else rows[change.at] = change.update;
  }
  return rows;
}
