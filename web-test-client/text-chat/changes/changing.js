import { SIGNAL_DATA_LENGTH } from '../sending/length-unit.js';
import { CHAT_TYPE, encodeMessage } from '../wire/chat-wire-form.js';

/** What the user may change of a chat's messages, and which message the draft answers (CHAT-12 to CHAT-14). Pure. */
export class Changing {
  #chat;
  #rules;
  #reply = null;

  constructor(chat, rules) {
    this.#chat = chat;
    this.#rules = rules;
  }

  /** Why the user cannot change this row in this way, `edit` or `erase`: `{reason}`; null: as far as is known, they can. */
  refusalOf(id, change) {
    const message = this.#chat.timeline.messageOf(id);
    const refusal = this.refusalOfAny(id, change);
    if (message === null || message.isErased) return refusal;
    if (message.direction !== 'sent') return { reason: 'notOwn' };
    if (refusal?.reason === 'notConnected') return refusal;
    return this.#rules.isAuthor(message) ? refusal : { reason: 'notOwn' };
  }

  /** The same for a message of anybody; without a `change`: why the user cannot ask about it. */
  refusalOfAny(id, change = null) {
    const { channel, timeline } = this.#chat;
    const message = timeline.messageOf(id);
    if (message === null) return { reason: 'unknown' };
    if (message.isErased) return { reason: 'erased' };
    if (!this.#rules.isUp) return { reason: 'notConnected' };
    if (timeline.seqOf(id) === null) return { reason: 'notPermitted' };
    if (change === null) return null;
    if (!channel.changes?.includes(change)) return { reason: 'notPermitted' };
    const { present: restriction } = this.#rules.restriction;
    return restriction === null ? null : { reason: 'restricted', restriction };
  }

  /** The request that gives the message this text. Throws the refusal. */
  edit(id, text) {
    const { composer, timeline } = this.#chat;
    refuse(this.refusalOf(id, 'edit') ?? composer.refusalOf(text));
    const message = timeline.messageOf(id);
    const data = encodeMessage({ ...message, text, typingN: null }, message.wireForm);
    const excess = data.length - SIGNAL_DATA_LENGTH;
    if (excess > 0) refuse({ reason: 'tooLong', excess });
    if (text === message.text) refuse({ reason: 'unchanged' });
    return { ref: message.seq, rel: 'edit', data };
  }

  /** The request that erases the message. Throws the refusal. */
  erase(id) {
    refuse(this.refusalOf(id, 'erase'));
    return { ref: this.#chat.timeline.seqOf(id) };
  }

  // Replies

  /** Bare text cannot answer. */
  canReply(id) {
    const { timeline, wireForm } = this.#chat;
    const isJSON = wireForm === CHAT_TYPE && !this.#rules.barePeers.areHeeded;
    return isJSON && timeline.seqOf(id) !== null && !timeline.messageOf(id).isErased;
  }

  reply(id) {
    this.#reply = this.canReply(id) ? id : null;
  }

  /** The row that the draft answers; null: none, or it is erased or gone. */
  get replyTarget() {
    return this.canReply(this.#reply) ? this.#reply : null;
  }

  get replySeq() {
    return this.#chat.timeline.seqOf(this.replyTarget);
  }

  quoteOf(message) {
    const { timeline } = this.#chat;
    if (message.replyTo === null) return null;
    const row = timeline.rowWithSeq(message.replyTo);
    // Without a history the seq of a former order may be another message's now, which came later.
    const isThat = row !== null && (timeline.floor !== null || row.message.receivedAt <= message.receivedAt);
    if (!isThat) return { state: 'earlier', seq: message.replyTo };
    const { id, message: quoted } = row;
    return quoted.isErased ? { state: 'deleted', id } : { state: 'shown', id, message: quoted };
  }
}

/** Throws the refusal, unless there is none. */
export function refuse(refusal) {
  if (refusal) throw refused(refusal);
}

export function refused(refusal) {
  return Object.assign(new Error(`refused: ${refusal.reason}`), { code: null, ...refusal });
}
