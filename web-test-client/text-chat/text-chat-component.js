import { Composer } from './sending/composer.js';
import { EchoBook } from './sending/echo-book.js';
import { SIGNAL_DATA_LENGTH } from './sending/length-unit.js';
import { BARE_TYPE, CHAT_TYPE, decodeSignal, encodeMessage } from './wire/chat-wire-form.js';
import { SendQueue } from './sending/send-queue.js';
import { ChatTimeline } from './timeline/chat-timeline.js';

// As long in a signal as those that will be sent.
const SAMPLE = { sentAt: 1_700_000_000_000, localId: '0000000000000000' };

/** After a lost connection the message may have arrived all the same, and its echo may still come. */
const NOT_CONNECTED = 500;

/**
 * A text chat without a page: the rows, the draft, what is unread, and what happens when Send is pressed.
 *
 * With a `channel` it sends by itself, one message after the other, and follows each until the session has it. A channel is
 * `{connectionId, send({type, data})}`: `connectionId` is null before connecting, and `send` promises `{seq}` (or nothing) once
 * the server has acknowledged, else an error with `code` and `message`. Without one, `readyToSend(message)` sends; with
 * one it may only refuse, by returning false. What happens on the channel goes in through `handle`.
 *
 * `typing`, a `TypingShell` or null, hears of every activity before `changed` does; messages carry its number (TYP-5).
 *
 * `changed(changes, activity)` is told of each change of the rows, and of all that is no row: `activity` is `{kind, …}` of kind
 * `draftEdited` and `draftSet` (`text`), `restored` (`text`), `messageSubmitted` (`localId`), `messageReceived` (`from`, `message`), `otherSignal`
 * (`signal`, `isOwn`), `connectionCreated`, `connectionDestroyed`, `connected`, `reconnecting`, `reconnected`, `disconnected`, `unread`, or null.
 */
export class TextChatComponent {
  /** Who "I" am in messages: by custom one's connection id, and a name to show. */
  senderId = null;
  alias = null;

  #channel = null;
  #echoes = new EchoBook();
  #queue = new SendQueue();
  /** What calls of `send` wait for: local id → functions that end the wait. */
  #waiting = new Map();
  /** Local id → `typingN`: a message that is sent again says what it said the first time. */
  #typingNumbers = new Map();
  #hasEnded = false;
  #toldUnreadCount = 0;

  constructor({
    channel = null,
    composer = new Composer(),
    timeline = new ChatTimeline(),
    wireForm = CHAT_TYPE,
    readyToSend = null,
    typing = null,
    changed = () => {},
  } = {}) {
    this.composer = composer;
    this.timeline = timeline;
    this.wireForm = wireForm;
    this.readyToSend = readyToSend;
    this.typing = typing;
    this.changed = changed;
    this.#channel = channel;
    this.#noteConnection();
  }

  get channel() {
    return this.#channel;
  }

  set channel(channel) {
    this.#channel = channel;
    this.#hasEnded = false;
    if (channel === null) this.typing?.take({ kind: 'disconnected' });
    else this.#noteConnection();
  }

  get rows() {
    return this.timeline.rows;
  }

  get draft() {
    return this.composer.text;
  }

  get remaining() {
    return this.composer.remaining;
  }

  get unreadCount() {
    return this.timeline.unreadCount;
  }

  /** Whether Send would take the draft, the opinion of `readyToSend` apart. */
  get canSend() {
    return this.refusal() === null;
  }

  /** The failed message that holds back what was sent after it; see `passFailed`. */
  get obstacle() {
    return this.#queue.obstacle;
  }

  /**
   * Why Send would not take the draft: `{reason, excess}` with `blank`, `tooLong`, `signalTooLong`, `notConnected` or
   * `tooManyWaiting`, asked in this order; null: it would.
   */
  refusal() {
    return this.#refusal(this.#message(SAMPLE.sentAt, SAMPLE.localId), this.#channel);
  }

  /** Replaces the draft; a text that is too long is refused whole, and nothing changes. See `Composer.edit`. */
  edit(newText) {
    return this.#changeDraft(newText, 'draftEdited');
  }

  /** The program puts this into the draft: the same, but nobody types because of it. */
  setDraft(newText) {
    return this.#changeDraft(newText, 'draftSet');
  }

  #changeDraft(newText, kind) {
    const before = this.draft;
    const result = this.composer.edit(newText);
    if (result.isAccepted && before !== this.draft) {
      this.#noteConnection();
      this.#tell([], { kind, text: this.draft });
    }
    return result;
  }

  /**
   * Takes what happens on the channel: `{kind, …}` with kind `signal` (`type`, `data`, `from`, `seq`), `lost`, `connected`
   * (`connectionId`), `reconnecting`, `reconnected` (`connectionId`), `disconnected`, `connectionCreated` or `connectionDestroyed` (`connection`).
   * Returns what has changed in the rows.
   */
  handle(event, now) {
    switch (event.kind) {
      case 'signal':
        return this.#receive(event, now);
      case 'lost':
        return this.#tell(this.timeline.noteGap());
      case 'connected':
        if (this.#echoes.note(event.connectionId)) this.timeline.startEra();
        this.#hasEnded = false;
        this.#queue.isPaused = false;
        break;
      case 'reconnecting':
        this.#queue.isPaused = true;
        break;
      case 'reconnected':
        event = { ...event, connectionId: event.connectionId ?? this.#channel?.connectionId ?? null };
        this.#queue.isPaused = false;
        break;
      case 'disconnected': {
        this.#hasEnded = true;
        this.#queue.isPaused = false;
        const failure = { code: NOT_CONNECTED, message: 'the connection has ended' };
        const failed = this.#queue.failWaiting();
        const changes = failed.flatMap((localId) => this.timeline.fail(localId, failure));
        this.#tell(changes, event);
        for (const localId of failed) this.#end(localId);
        return changes;
      }
      case 'connectionCreated':
      case 'connectionDestroyed':
        break;
      default:
        throw new TypeError(`no such event: ${event.kind}`);
    }
    this.#tell([], event);
    this.#advance();
    return [];
  }

  /**
   * Sends the draft and promises what became of it: `{outcome}` `sent`, `failed` (with `failure`), `refused` (with `refusal`), or
   * `discarded`. The message is shown, and the draft is empty, at once.
   *
   * One that fails holds back those behind it, until `retry` brings it through, `discard` takes it away, or `passFailed` lets them go
   * before it. `localId` is the message's name, new for each message.
   */
  send(now, localId) {
    const message = this.#message(now, localId);
    const refusal = this.#refusal(message, this.#channel) ?? this.#lastRefusal(message);
    if (refusal) return Promise.resolve({ outcome: 'refused', refusal });
    this.composer.clear();
    if (this.#channel === null) {
      // How it is sent is the caller's affair: what comes back may be bare text.
      this.#echoes.expectBare(localId, message.text);
      this.#tell(this.timeline.insert({ ...message, state: 'sent' }, now), { kind: 'messageSubmitted', localId });
      return Promise.resolve({ outcome: 'sent' });
    }
    this.#queue.append(localId);
    this.#tell(this.timeline.appendPending(message, now), { kind: 'messageSubmitted', localId });
    if (this.typing !== null) this.#typingNumbers.set(localId, this.typing.typingN);
    return this.#whenKnown(localId);
  }

  /** Sends a failed message again, as the same row in the same place. Does nothing for any other. */
  retry(localId) {
    if (this.timeline.ownMessage(localId)?.state !== 'failed') return Promise.resolve(this.#outcome(localId));
    if (!this.#isConnected) return Promise.resolve({ outcome: 'refused', refusal: { reason: 'notConnected' } });
    this.#queue.retry(localId);
    this.#tell(this.timeline.retry(localId));
    return this.#whenKnown(localId);
  }

  /** Takes a failed message away. Does nothing for any other. */
  discard(localId) {
    if (this.timeline.ownMessage(localId)?.state !== 'failed') return [];
    this.#queue.remove(localId);
    this.#typingNumbers.delete(localId);
    this.#echoes.forget(localId);
    const changes = this.#tell(this.timeline.discard(localId));
    this.#advance();
    return changes;
  }

  /** Lets what waits behind failed messages go before them. */
  passFailed() {
    this.#queue.passFailed();
    this.#advance();
  }

  get isVisible() {
    return this.timeline.isVisible;
  }

  /** Whether somebody reads along; what arrives meanwhile is not unread. Who turns away has finished typing. */
  set isVisible(isVisible) {
    if (this.timeline.isVisible && !isVisible) this.typing?.leave();
    this.timeline.isVisible = isVisible;
  }

  /** Marks this row's message, and all before it, as read; all, when null. What is read stays read. */
  markRead(upTo = null) {
    return this.#tell(this.timeline.markRead(upTo));
  }

  /** Puts back what an earlier run had, into a component that is new. What was being sent has failed, and holds back nothing. */
  restore({ messages, draft }, now) {
    this.composer.restore(draft);
    const changes = this.timeline.restore(messages, now);
    for (const message of this.timeline.messages) {
      if (message.state === 'failed') this.#queue.appendPassedOver(message.localId);
    }
    this.#tell(changes, { kind: 'restored', text: draft });
  }

  get #isConnected() {
    return !this.#hasEnded && (this.#channel?.connectionId ?? null) !== null;
  }

  #message(now, localId) {
    return {
      text: this.draft,
      senderId: this.senderId ?? this.#channel?.connectionId ?? null,
      alias: this.alias,
      sentAt: now,
      receivedAt: now,
      localId,
      seq: null,
      direction: 'sent',
      state: 'sending',
    };
  }

  #refusal(message, channel) {
    if (this.composer.refusal) return this.composer.refusal;
    if (channel === null) return this.readyToSend === null ? { reason: 'notConnected' } : null;
    // Sending may take one more number, for the end of typing.
    const typingN = this.typing === null ? null : this.typing.typingN + 1;
    const excess = encodeMessage({ ...message, typingN }, this.wireForm).length - SIGNAL_DATA_LENGTH;
    if (excess > 0) return { reason: 'signalTooLong', excess };
    if (!this.#isConnected) return { reason: 'notConnected' };
    return this.#queue.isFull ? { reason: 'tooManyWaiting' } : null;
  }

  #lastRefusal(message) {
    if (this.timeline.ownMessage(message.localId)) return { reason: 'localIdTaken' };
    return this.readyToSend !== null && !this.readyToSend(message) ? { reason: 'byDelegate' } : null;
  }

  #receive(event, now) {
    this.#noteConnection();
    const message = decodeSignal({ ...event, receivedAt: now });
    const from = event.from?.connectionId ?? null;
    const isOwn = from !== null && (this.#echoes.isOwn(from) || from === this.senderId);
    if (message === null) {
      this.#tell([], { kind: 'otherSignal', signal: event, isOwn });
      return [];
    }
    if (isOwn) {
      const localId = message.localId ?? this.#echoes.settleBare(message.text);
      if (localId !== null && this.timeline.ownMessage(localId)) return this.#settle(localId, message.seq);
      // Somebody else in this program sent it as the same connection.
      return this.#tell(this.timeline.insert({ ...message, direction: 'sent' }, now));
    }
    const changes = this.timeline.insert(message, now);
    return this.#tell(changes, changes.length > 0 ? { kind: 'messageReceived', from, message } : null);
  }

  /** A channel may have been connected before it was given to the component, or come back unheard. */
  #noteConnection() {
    const connectionId = this.#hasEnded ? null : (this.#channel?.connectionId ?? null);
    if (connectionId === null) return;
    if (this.#echoes.note(connectionId)) this.timeline.startEra();
    this.typing?.take({ kind: 'noticed', connectionId });
  }

  /** A promise of what becomes of the message; gives it to the channel if it is its turn. */
  #whenKnown(localId) {
    return new Promise((resolve) => {
      this.#waiting.set(localId, resolve);
      this.#advance();
    });
  }

  #advance() {
    const next = this.#queue.next;
    if (next !== null) this.#transmit(next);
  }

  async #transmit(localId) {
    const message = this.timeline.ownMessage(localId);
    this.#queue.start(localId);
    if (this.#echoes.note(this.#channel.connectionId)) this.timeline.startEra();
    if (this.wireForm === BARE_TYPE) this.#echoes.expectBare(localId, message.text);
    try {
      const data = encodeMessage({ ...message, typingN: this.#typingNumbers.get(localId) }, this.wireForm);
      const answer = await this.#channel.send({ type: this.wireForm, data });
      this.#settle(localId, answer?.seq ?? null);
    } catch (error) {
      // The echo may have come although the answer did not: then it was sent.
      if (this.timeline.ownMessage(localId)?.state !== 'sending') return;
      if (error.code !== NOT_CONNECTED) this.#echoes.forget(localId);
      this.#queue.fail(localId);
      this.#tell(this.timeline.fail(localId, { code: error.code ?? null, message: error.message }));
      this.#end(localId);
      this.#advance();
    }
  }

  /** The session has the message, as its acknowledgement or its echo says. */
  #settle(localId, seq) {
    const changes = this.#tell(this.timeline.confirm(localId, seq));
    this.#queue.remove(localId);
    this.#typingNumbers.delete(localId);
    this.#end(localId);
    this.#advance();
    return changes;
  }

  #end(localId) {
    this.#waiting.get(localId)?.(this.#outcome(localId));
    this.#waiting.delete(localId);
  }

  #outcome(localId) {
    const message = this.timeline.ownMessage(localId);
    if (!message) return { outcome: 'discarded' };
    return message.state === 'failed' ? { outcome: 'failed', failure: message.failure } : { outcome: 'sent' };
  }

  #tell(changes, activity = null) {
    const isUnread = this.#toldUnreadCount !== this.unreadCount;
    this.#toldUnreadCount = this.unreadCount;
    if (activity !== null) this.typing?.take(activity);
    if (changes.length > 0 || activity !== null) this.changed(changes, activity);
    if (isUnread) this.changed([], { kind: 'unread', count: this.unreadCount });
    return changes;
  }
}
