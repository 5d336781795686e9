import { dataLength, MESSAGE_DATA_LENGTH, messageData } from '../../text-chat/wire/message-data.js';

/** What a page adds to its chat, see `ChatCustoms` in `index.d.ts`, and what it says of the messages of the user. */
export class PageCustoms {
  /** The page's functions by their names. */
  given = {};
  /** Why the page has refused the last message, in its own words; null: it gave no reason. */
  refusedBecause = null;
  #emit;

  /** `emit(name, detail, options)` sends an event, and returns false if a listener refuses it. */
  constructor(emit) {
    this.#emit = emit;
  }

  /** Null or undefined takes one away. All are functions, except `actions`, which may be a list. */
  change(customs) {
    const now = { ...this.given, ...customs };
    for (const [name, value] of Object.entries(now)) {
      if (value === null || value === undefined) delete now[name];
      else if (typeof value !== 'function' && !(name === 'actions' && Array.isArray(value))) {
        throw new TypeError(`customize: ${name} is no function.`);
      }
    }
    this.given = now;
  }

  /** The page's own commands for a message, as items of its menu. */
  actionsOf(message) {
    const { actions = [] } = this.given;
    const given = (typeof actions === 'function' ? actions(message) : actions) ?? [];
    return given.map(({ name, text, isDanger = false }) => ({
      text,
      isDanger,
      act: () => this.#emit('signalbox-action', { action: name, message }),
    }));
  }

  /** The page may refuse that the user edits or deletes a message, and say why: `{kind, message, text}`. */
  mayChange(change) {
    return this.#permits(change, (detail, options) => this.#emit('signalbox-change', detail, options));
  }

  #permits(detail, emit) {
    let isRefused = false;
    this.refusedBecause = null;
    detail.refuse = (reason = null) => {
      isRefused = true;
      this.refusedBecause = reason;
    };
    return emit(detail, { cancelable: true }) && !isRefused;
  }

  /** The page may refuse the message, and say why, or add to its `data`. */
  maySend(message, data) {
    const detail = { message, data };
    if (!this.#permits(detail, (given, options) => this.#emit('signalbox-send', given, options))) return false;
    message.data = messageData(detail.data);
    if (dataLength(message.data) > MESSAGE_DATA_LENGTH) {
      throw new RangeError(`The data of a message is longer than ${MESSAGE_DATA_LENGTH} bytes as JSON.`);
    }
    return true;
  }
}
