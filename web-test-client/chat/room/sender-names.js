/** The names of the senders of a room, as its rows and sentences show them. */
export class SenderNames {
  #room;
  /** The revision of the names that are shown, and whether guests are marked. */
  #shown = '';

  /**
   * `room` has the functions `words` and `chat`, and the `PageCustoms` `customs`; `changed()` is called when names that
   * are shown may be others.
   */
  constructor(room) {
    this.#room = room;
  }

  /** A name that is shown may have turned out to be another's, or guests are among users now. */
  look() {
    const { revision, hasUsers } = this.#room.chat().names;
    const names = `${revision} ${hasUsers}`;
    if (names === this.#shown) return;
    this.#shown = names;
    this.#room.changed();
  }

  /** The name to show for the sender of a message. */
  nameOf(message) {
    const { words, chat, customs } = this.#room;
    return customs.given.nameOf?.(message) ?? chat().names.nameOf(message, {
      guest: (id) => words().text('guest', { id: { text: id } }).trim(),
      server: () => words().text('server'),
    });
  }

  /** A sentence about users who type names a guest as such: there is no place for a mark. */
  typingNameOf(sender) {
    const { words, chat } = this.#room;
    const name = this.nameOf(sender);
    return chat().names.isGuest(sender) ? words().text('guestNamed', { name }) : name;
  }

  /** What rows ask. */
  get calls() {
    const { chat, customs } = this.#room;
    return {
      nameOf: (message) => this.nameOf(message),
      isGuest: (message) => chat().names.isGuest(message),
      // A name that the program gives is its own matter.
      numberOf: (message) => (customs.given.nameOf ? null : chat().names.numberOf(message)),
    };
  }
}
