import { isRepeated, laterForm, stampOf } from './message-form.js';

/** Joins the pages of the session's history to the messages of a timeline: each message is shown once (CHAT-9). */
export class Merging {
  #layout;
  #order;
  #contents;
  #reactions;
  #localIds;
  #add;
  #confirm;
  #remove;

  /** `add`, `confirm` and `remove` are those of the timeline. */
  constructor({ layout, order, contents, reactions, localIds, add, confirm, remove }) {
    this.#layout = layout;
    this.#order = order;
    this.#contents = contents;
    this.#reactions = reactions;
    this.#localIds = localIds;
    this.#add = add;
    this.#confirm = confirm;
    this.#remove = remove;
  }

  /** `told` of a message are its reactions, see `MessageReactions.merge`. */
  merge({ told = null, ...message }, place) {
    this.#mergeContent(message, place);
    const index = told === null ? null : this.#order.find(message.seq, (shown) => isRepeated(shown, message));
    if (index !== null) this.#reactions.merge(index, told, place.isAnew);
  }

  #mergeContent(message, { countsUnread, isOfShown, isAnew }) {
    const { seq, version = null, receivedAt = null } = message;
    let mayBeUnread = countsUnread;
    // A new order may begin with the history of the former one (HIS-3).
    const there = this.#order.find(seq, (shown) => isRepeated(shown, message));
    if (there !== null) {
      const { key, isUnread } = this.#layout.lines.at(there);
      if (!isAnew || key.era === this.#order.era) {
        this.#contents.renew(there, message);
        return;
      }
      // It joins those of the present order.
      this.#remove(there);
      mayBeUnread = isUnread;
    }
    const named = this.#order.indexOfRow(this.#localIds.rowOf(message));
    if (named !== null && message.direction === 'sent' && this.#layout.lines.at(named).message.seq === null) {
      this.#confirm(named, seq, { receivedAt, ...stampOf(message), ...laterForm(message) });
    } else if ((named === null || version !== null) && !isOfShown) {
      this.#add({ ...message, state: 'sent' }, this.#order.freeKey(seq), null, { mayBeUnread, isKept: true });
    }
  }

  /**
   * Removes the messages of a range that the history does not have any more. Nothing is known to be missing between those
   * of former orders, either.
   */
  dropUnless(messages, { after, through, isLast }) {
    if (isLast) this.#layout.removeFormerGaps(this.#order.era);
    const kept = new Set(messages.map(({ seq }) => seq));
    const { lines } = this.#layout;
    for (let index = lines.count - 1; index >= 0; index -= 1) {
      const { key, message } = lines.at(index) ?? {};
      const seq = message?.seq ?? null;
      // What the page has of a former order has joined the present one.
      const isFormer = key?.era < this.#order.era;
      if (seq === null || seq <= after || (!isFormer && kept.has(seq))) continue;
      if (seq <= through || (isLast && isFormer)) this.#remove(index);
    }
  }
}
