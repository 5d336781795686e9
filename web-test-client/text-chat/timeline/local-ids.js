/**
 * The rows of messages by the local ids that their senders gave them: one's own, and others' together with the sender, to
 * recognize a second delivery (CHAT-5). The local id of a message that has changed may be forged, so it names no message
 * of another sender (CHAT-13).
 */
export class LocalIds {
  #own = new Map();
  #others = new Map();

  /** The row of one's own message. */
  ownRow(localId) {
    return this.#own.get(localId) ?? null;
  }

  /** The row of the message with the name of this one; null: there is none, or this one has no name. */
  rowOf(message) {
    const { rows, name } = this.#place(message);
    return rows.get(name) ?? null;
  }

  add(message, id) {
    const { rows, name } = this.#place(message);
    if (name !== null && !rows.has(name) && (message.direction === 'sent' || message.version === null)) rows.set(name, id);
  }

  remove(message, id) {
    const { rows, name } = this.#place(message);
    if (rows.get(name) === id) rows.delete(name);
  }

  #place({ direction, senderId = null, localId = null }) {
    if (direction === 'sent') return { rows: this.#own, name: localId };
    return { rows: this.#others, name: localId === null ? null : JSON.stringify([senderId, localId]) };
  }
}
