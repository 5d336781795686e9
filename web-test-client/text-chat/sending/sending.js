import { BARE_TYPE, encodeMessage } from '../wire/chat-wire-form.js';
import { SignalErrorCode } from '../wire/signal-error-code.js';
import { SendQueue } from './send-queue.js';

/** What a later run has to know of a message that is not sent. */
const STATES = { waiting: 'waiting', inFlight: 'leaving' };

/** A message without an answer may have arrived. */
const LEFT = Object.freeze({ code: SignalErrorCode.notConnected, message: 'the program ended before the answer' });

/**
 * The messages of a chat on their way: one at a time and in their order (CHAT-8), each until the session has it. Pure: the
 * rows are those of the `timeline`, and a method that changes rows returns the changes.
 */
export class Sending {
  #queue = new SendQueue();
  #timeline;
  #echoes;

  constructor(timeline, echoes) {
    this.#timeline = timeline;
    this.#echoes = echoes;
  }

  /** Whether no more messages may be queued. */
  get isFull() {
    return this.#queue.isFull;
  }

  /** The failed message that holds back those behind it. */
  get obstacle() {
    return this.#queue.obstacle;
  }

  hasFailed(localId) {
    return this.#timeline.ownMessage(localId)?.state === 'failed';
  }

  /** See `TextChatComponent.unsent`. */
  get unsent() {
    return this.#queue.entries.flatMap(({ localId, status }) => {
      const message = this.#timeline.ownMessage(localId);
      if (message === null || message.state === 'sent') return [];
      const { text, alias, sentAt, failure, replyTo, data } = message;
      return [{ localId, text, alias, sentAt, replyTo, data, state: STATES[status] ?? 'failed', failure }];
    });
  }

  /** See `TextChatComponent.takeUp`. */
  takeUp(unsent, own, now) {
    const changes = [];
    for (const { state, ...message } of unsent) {
      if (this.isFull || this.#timeline.ownMessage(message.localId) !== null) continue;
      const failure = state === 'leaving' ? LEFT : message.failure;
      const isWaiting = state === 'waiting';
      const row = { ...own, ...message, failure: isWaiting ? null : failure, state: isWaiting ? 'sending' : 'failed' };
      changes.push(...this.#timeline.appendPending({ ...row, receivedAt: message.sentAt }, now));
      if (isWaiting) this.#queue.append(message.localId);
      else this.#queue.appendPassedOver(message.localId);
    }
    return changes;
  }

  // The user's messages

  append(message, now) {
    this.#queue.append(message.localId);
    return this.#timeline.appendPending(message, now);
  }

  /** Failed messages of an earlier run hold back nothing. */
  passOver(messages) {
    for (const { state, localId } of messages) if (state === 'failed') this.#queue.appendPassedOver(localId);
  }

  /** Null if the message has left already, or is none. */
  cancel(localId) {
    return this.#queue.withdraw(localId)
      ? this.#timeline.fail(localId, { code: null, message: 'cancelled' })
      : null;
  }

  /** Of a failed message. */
  retry(localId) {
    this.#queue.retry(localId);
    return this.#timeline.retry(localId);
  }

  discard(localId) {
    if (!this.hasFailed(localId)) return [];
    this.#queue.remove(localId);
    this.#echoes.forget(localId);
    return this.#timeline.discard(localId);
  }

  passFailed() {
    this.#queue.passFailed();
  }

  // The channel

  /** The message to send now, in this form, as `{localId, signal}`; null: none. Tell its outcome to `settle` or `fail`. */
  start(form) {
    const localId = this.#queue.next;
    if (localId === null) return null;
    this.#queue.start(localId);
    const message = this.#timeline.ownMessage(localId);
    if (form === BARE_TYPE) this.#echoes.expectBare(localId, message.text);
    return { localId, signal: { type: form, data: encodeMessage(message, form) } };
  }

  /**
   * The session has the message, as its acknowledgement or its echo states. An echo tells its time, too. `stamp`: which
   * connection has sent it, and in which form.
   */
  settle(localId, seq, time = null, stamp = {}) {
    this.#queue.remove(localId);
    return this.#timeline.confirm(localId, seq, time, stamp);
  }

  /** The timeline shows these messages as sent: a page has them. */
  arrived(localIds) {
    for (const localId of localIds) this.#queue.remove(localId);
  }

  /** The channel could not send the message. A failure because of a restriction says which (ERR-1). */
  fail(localId, { code = null, message, restriction }) {
    // The echo may have come although the acknowledgement did not: then the message is sent.
    if (this.#timeline.ownMessage(localId)?.state !== 'sending') return [];
    // A refused message has no echo; one that was lost with the connection may still have one.
    if (code !== SignalErrorCode.notConnected) this.#echoes.forget(localId);
    this.#queue.fail(localId);
    return this.#timeline.fail(localId, { code, message, ...(restriction === undefined ? {} : { restriction }) });
  }

  /** The connection has ended: messages that were not started have failed. */
  failWaiting() {
    const failure = { code: SignalErrorCode.notConnected, message: 'the connection has ended' };
    return this.#queue.failWaiting().flatMap((localId) => this.#timeline.fail(localId, failure));
  }

  // Outcomes

  /** The outcome of a message; null while it is being sent. */
  outcomeOf(localId) {
    const message = this.#timeline.ownMessage(localId);
    if (!message) return { outcome: 'discarded' };
    if (message.state === 'sending') return null;
    return message.state === 'failed' ? { outcome: 'failed', failure: message.failure } : { outcome: 'sent' };
  }

  /** The same for a caller that does not wait behind a failed message. */
  deliveryOf(localId) {
    const by = this.#queue.obstacleBefore(localId);
    return this.outcomeOf(localId) ?? (by === null ? null : { outcome: 'heldBack', by });
  }
}
