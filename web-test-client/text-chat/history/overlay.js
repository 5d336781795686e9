/**
 * The messages of a page, with the changes that have come while it was on its way: edits `{rel, ref, seq, data, at}`,
 * erasures, and reactions, `{ref, seq, reactions}` or the user's own `{ref, keys}`, in their order. An edit, and what
 * users react with, counts where it is later than the message's own, and an erasure over all (CHG-8, CHG-13).
 */
export function overlaid(messages, changes) {
  return changes.reduce((kept, change) => {
    const { ref, through, user, before } = change;
    if (through !== undefined) return kept.filter(({ seq }) => seq > through);
    const isMeant = user === undefined
      ? ({ seq }) => seq === ref
      : ({ seq, from }) => seq < before && from?.user === user;
    return kept.map((message) => (isMeant(message) ? formAfter(message, change) : message));
  }, messages);
}

/** Each message with the user's own set, `own`, which a page has beside its messages. */
export function withOwnSets({ messages, mine = [] }) {
  const sets = new Map(mine.map(({ ref, keys }) => [ref, keys]));
  return messages.map((message) => ({ ...message, own: sets.get(message.seq) ?? [] }));
}

function formAfter(message, change) {
  const { rel, seq, reactions, keys } = change;
  if (rel !== undefined) return editedForm(message, change);
  if (keys !== undefined) return { ...message, own: keys };
  if (reactions === undefined) return erasedForm(message);
  return seq > (message.reacted ?? 0) ? { ...message, reactions, reacted: seq } : message;
}

function erasedForm({ seq, from, time }) {
  return { seq, from, time, erased: true };
}

function editedForm(message, { rel, seq, data, at }) {
  const isLater = rel === 'edit' && seq > (message.changed ?? 0);
  return isLater ? { ...message, data, changed: seq, edited: at } : message;
}
