// A snapshot is `{typing, paused, typingCount, pausedCount}`: the first `typerLimit` people who type and who have
// paused, in the order in which they began, each `{name, connectionId}`, and how many there are in all. A person is one
// entry on however many connections; `connectionId` is the one on which they began, and `name` is null if it is
// unknown.

/** The snapshot in which nobody types. */
export const NOBODY = Object.freeze({
  typing: Object.freeze([]),
  paused: Object.freeze([]),
  typingCount: 0,
  pausedCount: 0,
});

export function isSameSnapshot(one, other) {
  return (
    one.typingCount === other.typingCount &&
    one.pausedCount === other.pausedCount &&
    ['typing', 'paused'].every(
      (list) =>
        one[list].length === other[list].length &&
        one[list].every((typer, index) => isSameTyper(typer, other[list][index])),
    )
  );
}

/**
 * The changes between two snapshots, `{typer, action}`: those who are gone, then those who paused, then those who type.
 * @type {(earlier: TypingSnapshot, later: TypingSnapshot) => Array<{ readonly typer: Typer; readonly action:
 * TypingAction }>}
 */
export function typingChanges(earlier, later) {
  const has = (list, typer) => list.some((other) => isSameTyper(other, typer));
  const isGone = (typer) => !has(later.typing, typer) && !has(later.paused, typer);
  const gone = [...earlier.typing, ...earlier.paused].filter(isGone);
  return [
    ...gone.map((typer) => ({ typer, action: 'finish' })),
    ...later.paused.filter((typer) => !has(earlier.paused, typer)).map((typer) => ({ typer, action: 'pause' })),
    ...later.typing.filter((typer) => !has(earlier.typing, typer)).map((typer) => ({ typer, action: 'begin' })),
  ];
}

function isSameTyper(one, other) {
  return one.name === other.name && one.connectionId === other.connectionId;
}
