import { BARE_TYPE, encodeMessage } from '../wire/chat-wire-form.js';
import { SignalErrorCode } from '../wire/signal-error-code.js';
import { SendQueue } from './send-queue.js';

/**
 * Sends the messages of a chat through its channel, one at a time and in their order (CHAT-8), follows each until the
 * session has it, and answers the callers that wait for an outcome. The rows are those of the `timeline`.
 */
export class MessageSending {
  #queue = new SendQueue();
  /** Callers that wait for the outcome of a message: local id → functions that look again. */
  #waiters = new Map();
  #timeline;
  #echoes;
  #channel;
  #wireForm;
  #report;
  #aboutToSend;

  /**
   * `channel()` is the channel of now, or null, and `wireForm()` the form of the messages. `report(changes, activity)`
   * tells of changed rows, and `aboutToSend()` is called before a message leaves.
   */
  constructor({ timeline, echoes, channel, wireForm, report, aboutToSend }) {
    this.#timeline = timeline;
    this.#echoes = echoes;
    this.#channel = channel;
    this.#wireForm = wireForm;
    this.#report = report;
    this.#aboutToSend = aboutToSend;
  }

  /** Whether no more messages may be queued. */
  get isFull() {
    return this.#queue.isFull;
  }

  /** The failed message that holds back those behind it. */
  get obstacle() {
    return this.#queue.obstacle;
  }

  /** Whether messages wait for the connection. */
  set isPaused(isPaused) {
    this.#queue.isPaused = isPaused;
  }

  // The user's messages

  /** A message that the timeline shows as being sent. */
  append(localId) {
    this.#queue.append(localId);
  }

  /** A failed message of an earlier run. It holds back nothing. */
  appendPassedOver(localId) {
    this.#queue.appendPassedOver(localId);
  }

  cancel(localId) {
    if (!this.#queue.withdraw(localId)) return false;
    this.#report(this.#timeline.fail(localId, { code: null, message: 'cancelled' }));
    this.#wakeWaiters(localId);
    this.startNext();
    return true;
  }

  retry(localId, isConnected) {
    if (!this.#hasFailed(localId)) return Promise.resolve(this.#knownOutcome(localId));
    if (!isConnected) return Promise.resolve({ outcome: 'refused', refusal: { reason: 'notConnected' } });
    this.#report(this.#timeline.retry(localId));
    this.#queue.retry(localId);
    this.startNext();
    return this.deliveryOf(localId);
  }

  discard(localId) {
    if (!this.#hasFailed(localId)) return [];
    this.#queue.remove(localId);
    this.#echoes.forget(localId);
    const changes = this.#report(this.#timeline.discard(localId));
    this.startNext();
    return changes;
  }

  passFailed() {
    this.#queue.passFailed();
    this.startNext();
  }

  // The channel

  /** Sends the next message, if there is one that may be sent now. */
  startNext() {
    const localId = this.#channel() === null ? null : this.#queue.next;
    if (localId !== null) this.#transmit(localId);
  }

  async #transmit(localId) {
    const message = this.#timeline.ownMessage(localId);
    const form = this.#wireForm();
    this.#queue.start(localId);
    this.#aboutToSend();
    if (form === BARE_TYPE) this.#echoes.expectBare(localId, message.text);
    try {
      const answer = await this.#channel().send({ type: form, data: encodeMessage(message, form) });
      this.settle(localId, answer?.seq ?? null);
    } catch (error) {
      this.#fail(localId, error);
    }
  }

  #fail(localId, error) {
    // The echo may have come although the acknowledgement did not: then the message is sent.
    if (this.#timeline.ownMessage(localId)?.state !== 'sending') return;
    // A refused message has no echo; one that was lost with the connection may still have one.
    if (error.code !== SignalErrorCode.notConnected) this.#echoes.forget(localId);
    this.#queue.fail(localId);
    this.#report(this.#timeline.fail(localId, failureOf(error)));
    // It holds back those behind it now, so their callers look again, too.
    for (const waiting of [...this.#waiters.keys()]) this.#wakeWaiters(waiting);
    this.startNext();
  }

  /** The session has the message, as its acknowledgement or its echo states. */
  settle(localId, seq) {
    const changes = this.#report(this.#timeline.confirm(localId, seq));
    this.settled([localId]);
    return changes;
  }

  /** The timeline shows these messages as sent. */
  settled(localIds) {
    for (const localId of localIds) {
      this.#queue.remove(localId);
      this.#wakeWaiters(localId);
    }
    this.startNext();
  }

  /** The connection has ended, as `event` tells: messages that were not started have failed. */
  failWaiting(event) {
    this.#queue.isPaused = false;
    const failure = { code: SignalErrorCode.notConnected, message: 'the connection has ended' };
    const failed = this.#queue.failWaiting();
    const changes = this.#report(failed.flatMap((localId) => this.#timeline.fail(localId, failure)), event);
    for (const localId of failed) this.#wakeWaiters(localId);
    return changes;
  }

  // Outcomes

  /** Promises the outcome of a message, but not behind a failed message. */
  deliveryOf(localId) {
    return this.#wait(localId, () => {
      const by = this.#queue.obstacleBefore(localId);
      return by === null ? null : { outcome: 'heldBack', by };
    });
  }

  /** Promises the outcome of a message, also while a failed message holds it back. */
  outcomeOf(localId) {
    return this.#wait(localId, () => null);
  }

  #wakeWaiters(localId) {
    const waiters = this.#waiters.get(localId) ?? [];
    this.#waiters.delete(localId);
    for (const look of waiters) look();
  }

  /** Promises the outcome of a message, or before it the first result of `early` that is not null. */
  #wait(localId, early) {
    return new Promise((resolve) => {
      const look = () => {
        const isSending = this.#timeline.ownMessage(localId)?.state === 'sending';
        const result = isSending ? early() : this.#knownOutcome(localId);
        if (result !== null) resolve(result);
        else this.#waiters.set(localId, [...(this.#waiters.get(localId) ?? []), look]);
      };
      look();
    });
  }

  #hasFailed(localId) {
    return this.#timeline.ownMessage(localId)?.state === 'failed';
  }

  #knownOutcome(localId) {
    const message = this.#timeline.ownMessage(localId);
    if (!message) return { outcome: 'discarded' };
    if (message.state === 'sending') return { outcome: 'stillSending' };
    return message.state === 'failed' ? { outcome: 'failed', failure: message.failure } : { outcome: 'sent' };
  }
}

/** A failure because of a restriction says which (ERR-1): the message may be sent once that has ended. */
function failureOf({ code = null, message, restriction }) {
  return { code, message, ...(restriction === undefined ? {} : { restriction }) };
}
