import { BarePeers } from './bare-peers.js';
import { ChangeReports } from './change-reports.js';
import { Composer } from './sending/composer.js';
import { EchoBook } from './sending/echo-book.js';
import { HeldRestriction } from './sending/held-restriction.js';
import { SIGNAL_DATA_LENGTH } from './sending/length-unit.js';
import { HistoryLoading } from './history/history-loading.js';
import { NameBook } from './name-book.js';
import { MessageSending } from './sending/message-sending.js';
import { OwnConnection } from './own-connection.js';
import { ChatTimeline } from './timeline/chat-timeline.js';
import { BARE_TYPE, CHAT_TYPE, decodeSignal, encodeMessage } from './wire/chat-wire-form.js';

// Samples with the same length in a signal as the real values.
const SAMPLE = { sentAt: 1_700_000_000_000, localId: '0000000000000000' };

/**
 * A text chat without a page: the rows, the draft, what is unread, and the sending of messages.
 *
 * With a `channel` it sends by itself, one message at a time, and follows each until the session has it. A channel is
 * `{connectionId, send({type, data})}`: `connectionId` is null before connecting, and `send` promises `{seq}` (or
 * nothing) once the server has acknowledged, else an error with `code` and `message`. Give the component the events of
 * the channel through `handle`. Without a channel `onMessageReadyToSend(message)` sends; with one it may only refuse,
 * by returning false.
 *
 * A channel whose server knows moderation has `restriction(now)`: what keeps the user from writing at this moment, or
 * null. The component asks it at each call that has a time. The draft stays meanwhile, and no typing is sent (MOD-4).
 *
 * A channel whose server knows users also has `user`, one's own (USR-1), and the connections of its events have theirs.
 * `connections` are those that are there when the component gets the channel; later ones come as events.
 * One of a session with a history has `hasHistory`, `epoch`, and `history({before, after, limit})`, which
 * promises a page: `{first, last, more, messages}` (HIS-6). The component then reads the newest page once it is
 * connected, what it has missed after an absence, and with `loadEarlier` what was before.
 *
 * `typing` is a `ChatTyping` or null. The component feeds it, and messages carry its number (TYP-5).
 *
 * `isAdaptive`: while a program is there that writes bare text, as OpenTok's first sample, messages are bare text, too,
 * and no typing is sent. Such programs show JSON and typing signals as they are.
 *
 * `changed(changes, activity)` is called after each change of the rows, and for every event that does not change them.
 * `activity` is null or `{kind, …}` with the kind `draftEdited`, `draftSet` or `restored` (`text`), `messageSubmitted`
 * (`localId`), `messageReceived` (`from`, `message`), `otherSignal` (`signal`), `connectionCreated`,
 * `connectionDestroyed`, `connected`, `reconnecting`, `reconnected`, `disconnected`, `historyChanged`,
 * `restrictionChanged`, `erased`, or `unread` (`count`).
 * An error that it throws goes to `reportError`, and changes nothing else.
 */
export class TextChatComponent {
  /** @type {string | null} The sender of one's own messages: by custom one's connection id, and a name to show. */
  senderId = null;
  /** @type {string | null} One's own name in messages. */
  alias = null;

  /**
   * The names of the senders, for the rows (CHAT-4). The component notes who is here, and who has written.
   * @type {NameBook} @readonly
   */
  names = new NameBook();

  #channel = null;
  #echoes = new EchoBook();
  #sending;
  #history;
  #restriction = new HeldRestriction();
  #barePeers = new BarePeers(() => this.#holdTyping());
  #connection;
  #reports = new ChangeReports({ changed: () => this.changed, unreadCount: () => this.unreadCount });

  /** @param {ChatOptions} [options] */
  constructor({
    channel = null,
    composer = new Composer(),
    timeline = new ChatTimeline(),
    wireForm = CHAT_TYPE,
    isAdaptive = false,
    onMessageReadyToSend = null,
    typing = null,
    changed = () => {},
  } = {}) {
    /** @type {Composer} @readonly */
    this.composer = composer;
    /** @type {ChatTimeline} @readonly */
    this.timeline = timeline;
    /** @type {WireForm} */
    this.wireForm = wireForm;
    /** @type {((message: MessageContent) => boolean) | null} */
    this.onMessageReadyToSend = onMessageReadyToSend;
    /** @type {ChatTyping | null} @readonly */
    this.typing = typing;
    /** @type {(changes: TimelineChange[], activity: ChatActivity | null) => void} */
    this.changed = changed;
    this.#channel = channel;
    const echoes = this.#echoes;
    const shared = {
      timeline, names: this.names, channel: () => this.#channel, report: (...told) => this.#report(...told),
    };
    this.#sending = new MessageSending({
      ...shared,
      echoes,
      wireForm: () => (this.#barePeers.areHeeded ? BARE_TYPE : this.wireForm),
      aboutToSend: () => this.#connection.note(),
    });
    this.#history = new HistoryLoading({
      ...shared,
      isOwn: (connection) => this.#isOwn(connection),
      settled: (localIds) => this.#sending.settled(localIds),
    });
    this.#connection = new OwnConnection({ ...shared, echoes, history: this.#history, typing: () => this.typing });
    this.#connection.note();
    this.isAdaptive = isAdaptive;
  }

  /** @type {ChatChannel | null} */
  get channel() {
    return this.#channel;
  }

  set channel(channel) {
    this.#channel = channel;
    this.#connection.channelChanged();
    this.#barePeers.clear();
    this.#sending.isPaused = false;
    if (channel === null) {
      this.typing?.handle({ kind: 'disconnected' });
    } else {
      this.#connection.note();
      this.#sending.startNext();
    }
  }

  /** @type {TimelineRow[]} All rows, from the top. */
  get rows() {
    return this.timeline.rows;
  }

  /** @type {boolean} */
  get isAdaptive() {
    return this.#barePeers.isAdaptive;
  }

  set isAdaptive(value) {
    this.#barePeers.isAdaptive = value;
  }

  /** @type {string} */
  get draft() {
    return this.composer.text;
  }

  /** @type {number} How much more text fits into the draft. */
  get remaining() {
    return this.composer.remaining;
  }

  /** @type {number} */
  get unreadCount() {
    return this.timeline.unreadCount;
  }

  /**
   * One's own connections, the newest last: save them with the messages, and give them to `restore`.
   * @type {string[]}
   */
  get ownConnectionIds() {
    return [...this.#echoes.ownConnections];
  }

  /**
   * Whether the history has messages before those that are shown, and the chat has room for them; null: not known, as
   * without a history.
   * @type {boolean | null}
   */
  get hasEarlier() {
    return this.#history.hasEarlier;
  }

  /** @type {boolean} */
  get isLoadingEarlier() {
    return this.#history.reader.isLoadingEarlier;
  }

  /** @type {SendFailure | null} Why the history could not be read: `{code, message}`; null after a success. */
  get historyError() {
    return this.#history.reader.error;
  }

  /**
   * What keeps the user from writing, as of the last call that had a time: `{kind, until, reason}`; null: nothing. Show
   * it at the field, which is read-only meanwhile. The activity `restrictionChanged` tells when it changes.
   * @type {WriteRestriction | null}
   */
  get restriction() {
    return this.#restriction.present;
  }

  /**
   * When to call `advance`; null: the restriction holds until it is lifted, or there is none.
   * @type {(now: number) => number | null}
   */
  nextRestrictionCheck(now) {
    return this.#restriction.nextCheck(now);
  }

  /**
   * Handles the end of a restriction, which comes without an event. Call it at `nextRestrictionCheck`.
   * @type {(now: number) => void}
   */
  advance(now) {
    this.#noteRestriction(now);
  }

  /**
   * Whether the draft can be sent, as far as the component knows; `onMessageReadyToSend` may still refuse it.
   * @type {boolean}
   */
  get canSend() {
    return this.refusal() === null;
  }

  /** @type {string | null} The failed message that holds back those behind it; see `passFailed`. */
  get obstacle() {
    return this.#sending.obstacle;
  }

  /**
   * Why the draft cannot be sent: `{reason, excess}` with `blank`, `tooLong`, `signalTooLong`, `notConnected`,
   * `restricted` (with `restriction`) or `tooManyWaiting`, checked in this order; null: it can, unless
   * `onMessageReadyToSend` refuses it. A restriction counts as of the last call that had a time.
   * @type {() => Refusal | null}
   */
  refusal() {
    return this.#refusalOf(this.#message(SAMPLE.sentAt, SAMPLE.localId));
  }

  /**
   * The user has changed the draft to this text. A text that is too long is refused whole, and nothing changes.
   * @type {(newText: string) => EditResult}
   */
  edit(newText) {
    return this.#changeDraft(newText, 'draftEdited');
  }

  /**
   * The program changes the draft, as `edit` does, but the user does not type.
   * @type {(newText: string) => EditResult}
   */
  setDraft(newText) {
    return this.#changeDraft(newText, 'draftSet');
  }

  #changeDraft(newText, kind) {
    const before = this.draft;
    const result = this.composer.edit(newText);
    if (result.isAccepted && before !== this.draft) {
      this.#connection.note();
      this.typing?.handle({ kind, text: this.draft });
      this.#report([], { kind, text: this.draft });
    }
    return result;
  }

  /**
   * Handles an event of the channel: `{kind, …}` with the kind `signal` (`type`, `data`, `from`, `seq`), `lost`,
   * `connected` (`connectionId`), `reconnecting`, `reconnected` (`connectionId`), `disconnected`, `connectionCreated`
   * or `connectionDestroyed` (`connection`), `history` (`page`), `erased` (`ref`, `through`, or `user` and `before`) or
   * `restrictionsChanged`. Returns the changes of the rows.
   *
   * A signal or a message of the history is one's own if the server's stamp names one's own user, this component's
   * connection, present or past, or `senderId`. What the data states about its sender changes nothing (CHAT-4).
   * @type {(event: ChannelEvent, now: number) => TimelineChange[]}
   */
  handle(event, now) {
    this.#noteRestriction(now);
    switch (event.kind) {
      case 'signal':
        return this.#receive(event, now);
      case 'lost':
        return this.#report(this.timeline.noteGap(this.#history.reader.lost()));
      case 'history':
        return this.#history.answerToConnect(event.page);
      case 'erased':
        this.#history.reader.erased(event);
        return this.#report(this.timeline.erase(event), event);
      case 'connected':
        this.#connection.connected(event.connectionId);
        this.#sending.isPaused = false;
        break;
      case 'reconnecting':
        this.#sending.isPaused = true;
        this.#connection.reconnecting();
        break;
      case 'reconnected':
        this.#sending.isPaused = false;
        this.#connection.reconnected(event.connectionId ?? null);
        break;
      case 'disconnected':
        this.#connection.disconnected();
        this.#barePeers.clear();
        return this.#sending.failWaiting(event);
      case 'connectionCreated':
        this.#connection.created(event.connection);
        break;
      case 'connectionDestroyed':
        this.#connection.destroyed(event.connection);
        this.#barePeers.departed(event.connection.connectionId);
        break;
      case 'restrictionsChanged':
        this.#history.readOn();
        return [];
      default:
        throw new TypeError(
          `Cannot handle an event of the kind ${event.kind}: see the kinds of TextChatComponent.handle.`,
        );
    }
    this.#report([], event);
    this.#sending.startNext();
    this.#history.readOn();
    return [];
  }

  /**
   * Loads one more page before the oldest message. Two calls at once are one. `changed` tells when it has come, or why
   * not; then it may be called again. Returns whether a page will come.
   * @type {() => boolean}
   */
  loadEarlier() {
    return this.#history.loadEarlier();
  }

  /**
   * Queues the draft as a message and returns at once: null, or the refusal. The row is shown and the draft is empty
   * then.
   *
   * The component sends queued messages through the channel by itself, one at a time, in the order in which they were
   * written, and marks each row as sent or failed. A failed message holds back those behind it, until `retry` sends it,
   * `discard` removes it, or `passFailed` lets the others pass. `cancel` withdraws a message that has not left.
   * `localId` is a new name for the message.
   * @type {(now: number, localId: string) => Refusal | null}
   */
  enqueue(now, localId) {
    const refusal = this.#show(now, localId);
    if (refusal === null) this.#sending.startNext();
    return refusal;
  }

  /**
   * Queues the draft as `enqueue` does, and promises the outcome: `{outcome}` `sent`, `failed` (with `failure`),
   * `refused` (with `refusal`), `discarded`, or `heldBack` (with `by`, the local id of a failed message): `send` never
   * waits behind a failed message, and the message stays queued.
   * @type {(now: number, localId: string) => Promise<SendOutcome>}
   */
  send(now, localId) {
    const refusal = this.enqueue(now, localId);
    return refusal === null ? this.#sending.deliveryOf(localId) : Promise.resolve({ outcome: 'refused', refusal });
  }

  /**
   * Promises the outcome of one's own message, also while a failed message holds it back; known at once if it is not
   * being sent.
   * @type {(localId: string) => Promise<SendOutcome>}
   */
  outcomeOf(localId) {
    return this.#sending.outcomeOf(localId);
  }

  /**
   * Withdraws a message that is queued and has not left. Its row has failed with `{code: null, message: 'cancelled'}`,
   * and it holds back no other message: those behind it are sent. Returns whether the message was withdrawn.
   * @type {(localId: string) => boolean}
   */
  cancel(localId) {
    return this.#sending.cancel(localId);
  }

  /**
   * Sends a failed message again, as the same row at the same index, and promises the outcome as `send` does. Any other
   * message stays as it is: while it is being sent the outcome is `stillSending`.
   * @type {(localId: string) => Promise<SendOutcome>}
   */
  retry(localId) {
    return this.#sending.retry(localId, this.#connection.isUp);
  }

  /** @type {(localId: string) => TimelineChange[]} Removes a failed message. Any other message stays. */
  discard(localId) {
    return this.#sending.discard(localId);
  }

  /** Lets the messages behind failed ones pass. */
  passFailed() {
    this.#sending.passFailed();
  }

  /**
   * Whether the chat is visible to the user. Messages that arrive meanwhile count as read. A change to false also ends
   * the user's typing. Default false.
   * @type {boolean}
   */
  get isVisible() {
    return this.timeline.isVisible;
  }

  set isVisible(isVisible) {
    if (this.timeline.isVisible && !isVisible) this.typing?.leave();
    this.timeline.isVisible = isVisible;
  }

  /**
   * Marks this row's message and all before it as read; null: all. A message stays read.
   * @type {(upTo?: string | null) => TimelineChange[]}
   */
  markRead(upTo = null) {
    return this.#report(this.timeline.markRead(upTo));
  }

  /**
   * Groups the rows by another rule, such as `OPENTOK_RULE`. The messages stay as they are, and those that are being
   * sent go on.
   * @type {(rule: GroupingRule) => TimelineChange[]}
   */
  useRule(rule) {
    return this.#report(this.timeline.useRule(rule));
  }

  /**
   * Restores the messages and the draft of an earlier run into a new component. A message that was being sent has
   * failed, and holds back nothing. By `ownConnectionIds` the chat recognizes one's own messages in the history.
   * @type {(saved: { messages: readonly ChatMessage[]; draft: string; ownConnectionIds?: readonly string[] }, now:
   * number) => void}
   */
  restore({ messages, draft, ownConnectionIds = [] }, now) {
    for (const id of ownConnectionIds) this.#echoes.note(id);
    for (const message of messages) this.names.noteMessage(message);
    this.composer.restore(draft);
    const changes = this.timeline.restore(messages, now);
    for (const message of this.timeline.messages) {
      if (message.state === 'failed') this.#sending.appendPassedOver(message.localId);
    }
    this.typing?.handle({ kind: 'draftSet', text: draft });
    this.#report(changes, { kind: 'restored', text: draft });
  }

  /** The channel knows what holds. */
  #noteRestriction(now) {
    const present = this.#connection.hasEnded ? null : (this.#channel?.restriction?.(now) ?? null);
    if (!this.#restriction.note(present)) return;
    this.#holdTyping();
    this.#report([], { kind: 'restrictionChanged' });
  }

  /** No typing is sent while the user may not write, nor to programs that would show it as text. */
  #holdTyping() {
    this.typing?.handle({ kind: 'restricted', value: this.restriction !== null || this.#barePeers.areHeeded });
  }

  #message(now, localId) {
    const typingN = this.typing?.typingN ?? null;
    return {
      text: this.draft,
      senderId: this.senderId ?? this.#channel?.connectionId ?? null,
      user: this.#connection.user,
      senderData: null,
      isFromServer: false,
      alias: this.alias,
      sentAt: now,
      receivedAt: now,
      localId,
      seq: null,
      direction: 'sent',
      state: this.#channel === null ? 'sent' : 'sending',
      // Submitting may send one more typing signal, so check the length with its number.
      typingN: typingN === null ? null : typingN + 1,
    };
  }

  #refusalOf(message) {
    if (this.composer.refusal) return this.composer.refusal;
    if (this.#channel === null) return this.onMessageReadyToSend === null ? { reason: 'notConnected' } : null;
    const excess = encodeMessage(message, this.wireForm).length - SIGNAL_DATA_LENGTH;
    if (excess > 0) return { reason: 'signalTooLong', excess };
    if (!this.#connection.isUp) return { reason: 'notConnected' };
    if (this.restriction !== null) return { reason: 'restricted', restriction: this.restriction };
    return this.#sending.isFull ? { reason: 'tooManyWaiting' } : null;
  }

  /** Makes the draft a row. Returns the refusal, or null. */
  #show(now, localId) {
    this.#noteRestriction(now);
    const message = this.#message(now, localId);
    const refusal = this.#refusalOf(message);
    if (refusal !== null) return refusal;
    if (this.timeline.ownMessage(localId)) return { reason: 'localIdTaken' };
    message.typingN = this.typing?.typingN ?? null;
    if (this.onMessageReadyToSend !== null && !this.onMessageReadyToSend(message)) return { reason: 'byDelegate' };
    this.composer.clear();
    this.typing?.handle({ kind: 'messageSubmitted' });
    message.typingN = this.typing?.typingN ?? null;
    if (this.#channel === null) {
      // The delegate chooses the form: the echo may be bare text.
      this.#echoes.expectBare(localId, message.text);
      this.#report(this.timeline.insert(message, now), { kind: 'messageSubmitted', localId });
    } else {
      this.#sending.append(localId);
      this.#report(this.timeline.appendPending(message, now), { kind: 'messageSubmitted', localId });
    }
    return null;
  }

  #receive(event, now) {
    this.#connection.note();
    const message = decodeSignal({ ...event, receivedAt: now });
    const from = event.from?.connectionId ?? null;
    const { data: senderData, user } = event.from ?? {};
    this.names.noteMessage(message ?? { senderId: from, senderData, user, alias: null });
    const isOwn = this.#isOwn(event.from);
    if (!isOwn) this.#barePeers.note(event);
    if (event.seq !== null && event.seq !== undefined) this.#history.reader.received(event.seq);
    if (message === null) {
      if (!isOwn) this.typing?.receive(event);
      this.#report([], { kind: 'otherSignal', signal: event });
      return [];
    }
    if (isOwn) {
      // A bare text of another connection of the user is no echo.
      const isEcho = this.#echoes.isOwn(from) || from === this.senderId;
      const localId = message.localId ?? (isEcho ? this.#echoes.settleBare(message.text) : null);
      if (localId !== null && this.timeline.ownMessage(localId)) return this.#sending.settle(localId, message.seq);
      // Another tab of the user sent it, or another part of this program as the same connection.
      return this.#report(this.timeline.insert({ ...message, direction: 'sent' }, now));
    }
    const changes = this.timeline.insert(message, now);
    if (changes.length === 0) return this.#report(changes);
    if (from !== null) this.typing?.handle({ kind: 'messageReceived', from, typingN: message.typingN });
    return this.#report(changes, { kind: 'messageReceived', from, message });
  }

  /** CHAT-9. */
  #isOwn(connection) {
    return this.#connection.isOwn(connection) || connection?.connectionId === this.senderId;
  }

  #report(changes, activity = null) {
    this.#reports.tell(changes, activity);
    this.#history.tell();
    return changes;
  }
}
