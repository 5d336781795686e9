// The part of `<signalbox-chat>` with reactions and receipts: see `ReactionsControl`.
import { reactionKey } from '../reactions/reaction-key.js';
import { ReactionPicker } from '../reactions/reaction-picker.js';
import { ReactionPills } from '../reactions/reaction-pills.js';
import { REACTION_STRINGS } from '../reactions/reaction-strings.js';
import { REACTIONS_STYLE } from '../reactions/reactions-style.js';
import { ReceiptView } from '../reactions/receipt-view.js';
import { partWords } from '../words/part-words.js';

/** The first release has no more of them. */
const KEYS = ['👍', '❤️', '😂', '😮', '😢', '🙏'];

export class Reactions {
  #room;
  #words;
  #keys;
  #pills;
  #picker;
  #receipt;

  /**
   * `room` is that of `Changes`, with `mayReact(row)`. `keys()` are what the user may react with; null: the usual ones.
   */
  constructor(room, { addStyle, keys }) {
    this.#room = room;
    this.#keys = keys;
    this.words = room.words();
    const frame = room.part('chat-frame');
    addStyle(frame.getRootNode(), REACTIONS_STYLE);
    const shared = {
      ...room,
      text: (key, values) => this.#words.text(key, values),
      list: (items) => this.#words.list(items),
      isolated: (text) => this.#words.isolated(text),
      // What appears at a message that is there is no new message: a screen reader does not read it out.
      hush: (element) => {
        if (element.isConnected) element.setAttribute('aria-live', 'off');
      },
      toggle: (row, key) => this.#toggle(row, key),
    };
    this.#pills = new ReactionPills(shared);
    this.#picker = new ReactionPicker(frame);
    this.#receipt = new ReceiptView(shared, frame);
  }

  set words(words) {
    this.#words = partWords(words, REACTION_STRINGS, this.#room.host.strings ?? {});
    if (this.#pills) this.#room.messages().showMenus();
  }

  decorate(shown) {
    this.#pills.decorate(shown);
    if (shown.row.message.direction === 'sent') this.#receipt.decorate(shown);
  }

  renamed() {
    this.#pills.renamed();
    const shown = this.#receipt.rowId === null ? null : this.#room.messages().finder.rowOf(this.#receipt.rowId);
    if (shown?.element) this.#receipt.decorate(shown);
  }

  choose(row, button) {
    const { chat, words } = this.#room;
    this.#picker.open(button, {
      label: words().text('react'),
      keys: [...new Set((this.#keys() ?? KEYS).map(reactionKey))],
      own: chat().timeline.ownReactionsOf(row.id),
      act: (key) => this.#toggle(row, key),
    });
  }

  async #toggle({ id }, key) {
    const { chat, composer } = this.#room;
    try {
      await chat().toggleReaction(id, key);
    } catch {
      composer().showHint('actionFailed');
    }
  }
}
