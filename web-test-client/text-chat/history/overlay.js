/**
 * The messages of a page, with the changes that have come while it was on its way: edits `{rel, ref, seq, data, at}` and
 * erasures, in their order. An edit counts where it is later than the message's own, and an erasure over all (CHG-8).
 */
export function overlaid(messages, changes) {
  return changes.reduce((kept, change) => {
    const { rel, ref, through, user, before } = change;
    if (through !== undefined) return kept.filter(({ seq }) => seq > through);
    const isMeant = user === undefined
      ? ({ seq }) => seq === ref
      : ({ seq, from }) => seq < before && from?.user === user;
    const formOf = rel === undefined ? erasedForm : (message) => editedForm(message, change);
    return kept.map((message) => (isMeant(message) ? formOf(message) : message));
  }, messages);
}

function erasedForm({ seq, from, time }) {
  return { seq, from, time, erased: true };
}

function editedForm(message, { rel, seq, data, at }) {
  const isLater = rel === 'edit' && seq > (message.changed ?? 0);
  return isLater ? { ...message, data, changed: seq, edited: at } : message;
}
