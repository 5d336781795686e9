const NONE = Object.freeze([]);

/**
 * What users have reacted with to the messages of a timeline. The counts that the server has told and the user's own set
 * are kept apart: a message is shown with the counts, and with each key of the own set at least once. The counts follow
 * within a second, so nothing is added up here.
 */
export class MessageReactions {
  #layout;

  constructor(layout) {
    this.#layout = layout;
  }

  /** The counts of a message, as of the event or the page with this seq: the greater counts (CHG-13). */
  tell(index, counts, seq) {
    const known = this.#of(index);
    if (seq > known.seq) this.#set(index, { ...known, counts, seq });
  }

  /** The user has exactly these keys on the message. */
  setOwn(index, keys) {
    this.#set(index, { ...this.#of(index), own: keys });
  }

  ownOf(index) {
    return this.#of(index).own;
  }

  /** What a page says of the message: `{counts, seq, own}`. `isAnew`: whatever was told before. */
  merge(index, told, isAnew = false) {
    const { counts, seq } = isAnew || told.seq > this.#of(index).seq ? told : this.#of(index);
    this.#set(index, { counts, seq, own: told.own });
  }

  /** An erased message has none. */
  clear(index) {
    this.#layout.lines.at(index).reactions = undefined;
  }

  #of(index) {
    return this.#layout.lines.at(index).reactions ?? { counts: NONE, seq: 0, own: NONE };
  }

  #set(index, reactions) {
    const line = this.#layout.lines.at(index);
    if (line.message.isErased) return;
    line.reactions = reactions;
    const shown = shownReactions(reactions);
    if (!areSame(shown, line.message.reactions)) this.#layout.update(index, { reactions: shown });
  }
}

/** `{key, count, isMine}` of each key, in the order in which they came to the message. */
function shownReactions({ counts, own }) {
  const told = counts.map(({ key, count }) => ({ key, count, isMine: own.includes(key) }));
  const others = own.filter((key) => counts.every((each) => each.key !== key));
  return [...told, ...others.map((key) => ({ key, count: 1, isMine: true }))];
}

function areSame(some, others) {
  return some.length === others.length && some.every(({ key, count, isMine }, index) => {
    const other = others[index];
    return key === other.key && count === other.count && isMine === other.isMine;
  });
}
