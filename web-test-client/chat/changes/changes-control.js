import { keepKeys } from '../keys/key-guard.js';
import { loadPart } from '../parts/load-part.js';
import { addStyle } from '../style/shared-style.js';

/**
 * What a user does with a message that is there: edit, delete, copy and answer it. That is a part of the element, which
 * loads when the user first enters the chat, or when a message was edited or answers another one.
 */
export class ChangesControl {
  /** The part, as soon as it is loaded; null until then. */
  loaded = null;
  #room;
  #loads = null;

  /** `room` is what the part needs of the room, see `Changes`. */
  constructor(room) {
    this.#room = room;
    room.part('chat-frame').addEventListener('focusin', () => this.load());
  }

  /** Promises nothing: without the part, the chat is as it was. The next wish tries again. */
  load() {
    this.#loads ??= loadPart('changes').then(
      ({ Changes }) => {
        this.loaded = new Changes(this.#room, { addStyle, keepKeys });
        this.#room.messages().decorate();
      },
      () => {
        this.#loads = null;
      },
    );
    return this.#loads;
  }

  set words(words) {
    if (this.loaded !== null) this.loaded.words = words;
  }

  /** Whether the user may answer the message of this row. */
  mayReply({ id, message }) {
    const { host, mayChange, chat } = this.#room;
    return !message.isErased && host.hasReplies && mayChange() && chat().canReply(id);
  }

  /** Shows at the row what its message answers, and whether it was edited. */
  decorate(shown) {
    const { editedAt, replyTo } = shown.row.message;
    if (this.loaded !== null) this.loaded.decorate(shown);
    else if (editedAt || replyTo) this.load();
  }

  /** When a message was sent or has come, and what has become of it. */
  factsOf(message) {
    const { direction, state, receivedAt } = message;
    if (direction === 'sent' && state !== 'sent') return null;
    const words = this.#room.words();
    const time = { text: words.dayAndTime(receivedAt) };
    const key = direction === 'sent' ? 'sentAt' : 'receivedAt';
    return [words.text(key, { time }), ...(this.loaded?.factsOf(message) ?? [])].join(' · ');
  }

  async reply(row) {
    if (this.loaded === null) await this.load();
    this.loaded?.reply(row);
  }

  async openMenu(row, name, button) {
    if (this.loaded === null) await this.load();
    const { moderation, customs, composer, reactions } = this.#room;
    const items = [...(this.loaded?.itemsOf(row) ?? []), ...reactions().itemsOf(row), ...customs.actionsOf(row.message)];
    const isOpen = moderation().openMessageMenu(row.message, name, button, items, {
      hasDelete: this.loaded?.mayDelete(row) ?? false,
    });
    if (!isOpen) composer().showHint('actionFailed');
  }
}
