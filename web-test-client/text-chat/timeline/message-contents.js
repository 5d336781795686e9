import { ERASED } from './erased.js';
import { formOf } from './message-form.js';

/** Changes what messages of a timeline say. Their rows, their authors and their places stay (CHAT-13, CHAT-14). */
export class MessageContents {
  #layout;
  #unread;
  #localIds;
  #reactions;

  constructor({ layout, unread, localIds, reactions }) {
    this.#reactions = reactions;
    this.#layout = layout;
    this.#unread = unread;
    this.#localIds = localIds;
  }

  /** The message takes what another edition of it says, unless it has a later one. An erasure counts over all (CHG-8). */
  renew(index, edition) {
    if (edition.isErased) {
      this.erase(index);
      return;
    }
    const { id, message } = this.#layout.lines.at(index);
    if (message.isErased || (edition.version ?? 0) <= (message.version ?? 0)) return;
    this.#layout.update(index, formOf(edition));
    if (message.direction === 'received') this.#localIds.remove(message, id);
  }

  /** An erased message is no unread one. */
  erase(index) {
    if (this.#layout.lines.at(index).message.isErased) return;
    this.#reactions.clear(index);
    this.#layout.update(index, ERASED);
    this.#unread.read(index);
  }
}
