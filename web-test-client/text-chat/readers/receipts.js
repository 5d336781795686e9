/** Who has read the user's messages: the receipt stands at the last of them that another user has read. */
export class Receipts {
  #timeline;
  #markers;
  #shown = null;
  #key = 'null';
  #revision = 0;

  constructor(timeline, markers) {
    this.#timeline = timeline;
    this.#markers = markers;
  }

  /** `{id, users}`, each user `{user, name}`, whose name is looked up when it is read; null: nobody has read one. */
  named(names) {
    if (this.#shown === null) return null;
    const { id, users } = this.#shown;
    return {
      id,
      get users() {
        return users.map((user) => ({ user, name: names.nameOfUser(user) }));
      },
    };
  }

  /**
   * The rows have changed, or markers may have moved. Returns the updates of the rows that have or had a receipt, if it is
   * another one.
   */
  look(changes) {
    const hasMoved = this.#markers.revision !== this.#revision;
    this.#revision = this.#markers.revision;
    // Else only the user's own messages count.
    const concerns = ({ insert, update, remove }) =>
      (insert ?? update)?.message?.direction === 'sent' || (remove !== undefined && remove === this.#shown?.id);
    if (!hasMoved && !changes.some(concerns)) return [];
    const before = this.#shown;
    this.#shown = this.#found();
    const key = JSON.stringify(this.#shown);
    if (key === this.#key) return [];
    this.#key = key;
    return this.#timeline.renew([...new Set([before?.id, this.#shown?.id])].filter((id) => id !== undefined));
  }

  #found() {
    const { greatest } = this.#markers;
    if (greatest === null) return null;
    const isRead = ({ direction, isErased, seq }) =>
      direction === 'sent' && !isErased && seq !== null && seq <= greatest;
    const row = this.#timeline.findLast(isRead);
    return row === null ? null : { id: row.id, users: this.#markers.readersOf(row.message.seq) };
  }
}
