import { loadPart } from '../parts/load-part.js';
import { addStyle } from '../style/shared-style.js';

/**
 * Reactions to messages, and who has read them. That is a part of the element, which loads when there is something to
 * show, or the user wants to react.
 */
export class ReactionsControl {
  /** What the user may react with. */
  keys = null;
  #room;
  /** The part, as soon as it is loaded; null until then. */
  #part = null;
  #loads = null;

  /** `room` is what the part needs of the room, see `Reactions`. */
  constructor(room) {
    this.#room = room;
  }

  /** Without the part, the chat is as it was. The next wish tries again. */
  #load() {
    this.#loads ??= loadPart('reactions').then(
      ({ Reactions }) => {
        const mayReact = (row) => this.mayReact(row);
        this.#part = new Reactions({ ...this.#room, mayReact }, { addStyle, keys: () => this.keys });
        this.#room.messages().showMenus();
      },
      () => {
        this.#loads = null;
      },
    );
    return this.#loads;
  }

  set words(words) {
    if (this.#part !== null) this.#part.words = words;
  }

  /** Whether the user may react to the message of this row. */
  mayReact({ id, message }) {
    const { host, mayChange, chat } = this.#room;
    return !message.isErased && host.hasReactions && mayChange() && chat().canReact(id);
  }

  /** Shows at the row what users have reacted with, and who has read it. */
  decorate(shown) {
    const { host, chat } = this.#room;
    const { id, message } = shown.row;
    const hasReactions = message.reactions.length > 0 && host.hasReactions;
    if (this.#part !== null) this.#part.decorate(shown);
    else if (hasReactions || (chat().receipt?.id === id && host.hasReceipts)) this.#load();
  }

  /** Senders have other names now. */
  renamed() {
    this.#part?.renamed();
  }

  /** The item of the menu of a message. */
  itemsOf(row) {
    if (!this.mayReact(row)) return [];
    return [{ text: this.#room.words().text('react'), act: (opener) => this.choose(row, opener) }];
  }

  /** Lets the user choose a reaction to the message, at a button. */
  async choose(row, button) {
    if (this.#part === null) await this.#load();
    if (this.#part === null) this.#room.composer().showHint('actionFailed');
    else this.#part.choose(row, button);
  }
}
