const names = new Intl.Collator();

/** The order of participants: the user first, then the others by name. Two with one name keep their places. */
export function compareParticipants(left, right) {
  if (left.isMe !== right.isMe) return left.isMe ? -1 : 1;
  return names.compare(left.name, right.name) || (left.id < right.id ? -1 : Number(left.id > right.id));
}

/** The index at which a participant is, or would be, in a list in that order. */
export function placeOf(participant, list) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareParticipants(list[middle], participant) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a name contains what the user looks for; capital letters and accents do not count. */
export function isFound(name, wanted) {
  return plain(name).includes(plain(wanted));
}

function plain(text) {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
