import { ChangeCalls } from './changes/change-calls.js';
import { ChatEffects } from './chat-effects.js';
import { ChatRules } from './chat-rules.js';
import { NameBook } from './name-book.js';
import { Composer } from './sending/composer.js';
import { SendCalls } from './sending/send-calls.js';
import { ChatTimeline } from './timeline/chat-timeline.js';
import { CHAT_TYPE } from './wire/chat-wire-form.js';

// Samples with the same length in a signal as the real values.
const SAMPLE = { sentAt: 1_700_000_000_000, localId: '0000000000000000' };

/**
 * A text chat without a page: the rows, the draft, what is unread, and the sending of messages.
 *
 * With a `channel`, a `ChatChannel`, it sends by itself, one message at a time, and follows each until the session has it.
 * Give the component the events of the channel through `handle`. Without a channel `onMessageReadyToSend(message)` sends;
 * with one it may only refuse, by returning false.
 *
 * A channel whose server knows moderation has `restriction(now)`, which the component asks at each call that has a time.
 * The draft stays meanwhile, and no typing is sent (MOD-4). One of a session with a history has `hasHistory`, `epoch` and
 * `history`: the component then reads the newest page once it is connected, what it has missed after an absence, and with
 * `loadEarlier` what was before (HIS-6). One whose server tells changes has `changes`, `change` and `erase` (CHG-3).
 *
 * `typing` is a `ChatTyping` or null. The component feeds it, and messages carry its number (TYP-5).
 *
 * `isAdaptive`: while a program is there that writes bare text, as OpenTok's first sample, messages are bare text, too,
 * and no typing is sent. Such programs show JSON and typing signals as they are.
 *
 * `handOver(localId)` is called before a message leaves. A promise that it returns delays the message: for a program that
 * keeps `unsent`, and must note first that a later run may not send the message again.
 *
 * `changed(changes, activity)` is called after each change of the rows, and for every event that does not change them.
 * `activity` is null, or says what has happened: a `ChatActivity`. An error that it throws goes to `reportError`.
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

  #channel;
  #rules;
  #effects;
  #sends;
  #changes;

  /** @param {ChatOptions} [options] */
  constructor({
    channel = null,
    composer = new Composer(),
    timeline = new ChatTimeline(),
    wireForm = CHAT_TYPE,
    isAdaptive = false,
    onMessageReadyToSend = null,
    typing = null,
    handOver = null,
    changed = () => {},
    timers = undefined,
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
    /** @type {((localId: string) => Promise<unknown> | null) | null} */
    this.handOver = handOver;
    /** @type {(changes: TimelineChange[], activity: ChatActivity | null) => void} */
    this.changed = changed;
    this.#channel = channel;
    this.#rules = new ChatRules(this);
    this.#effects = new ChatEffects(this, this.#rules, timers);
    this.#sends = new SendCalls(this, this.#rules, this.#effects);
    this.#changes = new ChangeCalls(this, this.#rules, this.#effects);
    this.#rules.barePeers.isAdaptive = isAdaptive;
    this.#effects.note();
    this.#effects.proceed();
  }

  /** @type {ChatChannel | null} */
  get channel() {
    return this.#channel;
  }

  set channel(channel) {
    this.#channel = channel;
    this.#rules.own.channelChanged();
    this.#rules.barePeers.clear();
    if (channel === null) this.typing?.handle({ kind: 'disconnected' });
    else this.#effects.note();
    this.#effects.holdTyping();
    this.#effects.proceed();
  }

  /** @type {TimelineRow[]} All rows, from the top. */
  get rows() {
    return this.timeline.rows;
  }

  /** @type {boolean} */
  get isAdaptive() {
    return this.#rules.barePeers.isAdaptive;
  }

  set isAdaptive(value) {
    this.#rules.barePeers.isAdaptive = value;
    this.#effects.holdTyping();
  }

  /** @type {string} */
  get draft() {
    return this.composer.text;
  }

  /** @type {number} How much more text fits into the draft. */
  get remaining() {
    return this.composer.remaining;
  }

  /**
   * How many messages of others the user has not read. In a session with read markers, those above the user's marker; at
   * least as many as the connect has told, at most 100, while not all of them are loaded.
   * @type {number}
   */
  get unreadCount() {
    return this.#rules.unreadCount;
  }

  /**
   * One's own connections, the newest last: save them with the messages, and give them to `restore`.
   * @type {string[]}
   */
  get ownConnectionIds() {
    return [...this.#rules.echoes.ownConnections];
  }

  /**
   * Whether the history has messages before those that are shown, and the chat has room for them; null: not known, as
   * without a history.
   * @type {boolean | null}
   */
  get hasEarlier() {
    return this.#rules.hasEarlier;
  }

  /** @type {boolean} */
  get isLoadingEarlier() {
    return this.#rules.reader.isLoadingEarlier;
  }

  /** @type {SendFailure | null} Why the history could not be read: `{code, message}`; null after a success. */
  get historyError() {
    return this.#rules.reader.error;
  }

  /**
   * What keeps the user from writing, as of the last call that had a time: `{kind, until, reason}`; null: nothing. Show
   * it at the field, which is read-only meanwhile. The activity `restrictionChanged` tells when it changes.
   * @type {WriteRestriction | null}
   */
  get restriction() {
    return this.#rules.restriction.present;
  }

  /**
   * When to call `advance`; null: the restriction holds until it is lifted, or there is none.
   * @type {(now: number) => number | null}
   */
  nextRestrictionCheck(now) {
    return this.#rules.restriction.nextCheck(now);
  }

  /**
   * Handles the end of a restriction, which comes without an event. Call it at `nextRestrictionCheck`.
   * @type {(now: number) => void}
   */
  advance(now) {
    this.#effects.noteRestriction(now);
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
    return this.#rules.sending.obstacle;
  }

  /**
   * Why the draft cannot be sent: `{reason, excess}` with `blank`, `tooLong`, `signalTooLong`, `notConnected`,
   * `restricted` (with `restriction`) or `tooManyWaiting`, checked in this order; null: it can, unless
   * `onMessageReadyToSend` refuses it. A restriction counts as of the last call that had a time.
   * @type {() => Refusal | null}
   */
  refusal() {
    return this.#rules.refusalOf(this.#rules.message(SAMPLE.sentAt, SAMPLE.localId));
  }

  /**
   * The user has changed the draft to this text. A text that is too long is refused whole, and nothing changes.
   * @type {(newText: string) => EditResult}
   */
  edit(newText) {
    return this.#sends.changeDraft(newText, 'draftEdited');
  }

  /**
   * The program changes the draft, as `edit` does, but the user does not type.
   * @type {(newText: string) => EditResult}
   */
  setDraft(newText) {
    return this.#sends.changeDraft(newText, 'draftSet');
  }

  /**
   * Handles an event of the channel. Returns the changes of the rows.
   *
   * A signal or a message of the history is one's own if the server's stamp names one's own user, this component's
   * connection, present or past, or `senderId`. What the data states about its sender changes nothing (CHAT-4).
   * @type {(event: ChannelEvent, now: number) => TimelineChange[]}
   */
  handle(event, now) {
    this.#effects.noteRestriction(now);
    return this.#effects.carryOut(this.#rules.handle(event, now));
  }

  /**
   * Loads one more page before the oldest message. Two calls at once are one. `changed` tells when it has come, or why
   * not; then it may be called again. Returns whether a page will come.
   * @type {() => boolean}
   */
  loadEarlier() {
    if (this.hasEarlier === false || !this.#rules.reader.loadEarlier()) return false;
    this.#effects.proceed();
    return true;
  }

  /**
   * Queues the draft as a message and returns at once: null, or the refusal. The row is shown and the draft is empty
   * then.
   *
   * The component sends queued messages one at a time, in the order in which they were written, and marks each row as sent
   * or failed. A failed message holds back those behind it, until `retry` sends it, `discard` removes it, or `passFailed`
   * lets the others pass. `cancel` withdraws a message that has not left. `localId` is a new name for the message.
   *
   * With `content` the message has this `text` in place of the draft, which stays, and no limit but that of a signal; or
   * the draft with `data`, an object of the program (CHAT-11).
   * @type {(now: number, localId: string, content?: ContentToSend) => Refusal | null}
   */
  enqueue(now, localId, content = {}) {
    return this.#sends.enqueue(now, localId, content);
  }

  /**
   * Queues the draft as `enqueue` does, and promises the outcome. `send` never waits behind a failed message: the outcome is
   * `heldBack` then, and the message stays queued.
   * @type {(now: number, localId: string, content?: ContentToSend) => Promise<SendOutcome>}
   */
  send(now, localId, content = {}) {
    const refusal = this.enqueue(now, localId, content);
    return refusal === null ? this.#sends.deliveryOf(localId) : Promise.resolve({ outcome: 'refused', refusal });
  }

  /**
   * Promises the outcome of one's own message, also while a failed message holds it back; known at once if it is not
   * being sent.
   * @type {(localId: string) => Promise<SendOutcome>}
   */
  outcomeOf(localId) {
    return this.#effects.wait(() => this.#rules.sending.outcomeOf(localId));
  }

  /**
   * Withdraws a message that is queued and has not left. Its row has failed with `{code: null, message: 'cancelled'}`,
   * and it holds back no other message: those behind it are sent. Returns whether the message was withdrawn.
   * @type {(localId: string) => boolean}
   */
  cancel(localId) {
    return this.#sends.cancel(localId);
  }

  /**
   * Sends a failed message again, as the same row at the same index, and promises the outcome as `send` does.
   * @type {(localId: string) => Promise<SendOutcome>}
   */
  retry(localId) {
    return this.#sends.retry(localId);
  }

  /** @type {(localId: string) => TimelineChange[]} Removes a failed message. Any other message stays. */
  discard(localId) {
    return this.#effects.carryOut({ changes: this.#rules.sending.discard(localId) });
  }

  /** Lets the messages behind failed ones pass. */
  passFailed() {
    this.#rules.sending.passFailed();
    this.#effects.proceed();
  }

  // Changes of messages that the session has. The draft stays.

  /**
   * Whether the user may give this row's message another text, as far as is known: it is their own, the session permits it
   * (CHG-3), and nothing keeps them from writing. A guest's own are those of the present connection.
   * @type {(id: string) => boolean}
   */
  canEdit(id) {
    return this.#rules.changing.refusalOf(id, 'edit') === null;
  }

  /**
   * Whether the user may delete this row's message, as far as is known. What moderators may erase is another matter.
   * @type {(id: string) => boolean}
   */
  canDelete(id) {
    return this.#rules.changing.refusalOf(id, 'erase') === null;
  }

  /**
   * Gives one's own message another text. The row changes with the server's answer or the event, whichever comes first,
   * and the promise is resolved then. It is rejected with the server's error, or at once with a `ChangeRefusal`: an error
   * with the `reason` `unknown`, `erased`, `notOwn`, `notConnected`, `notPermitted`, `restricted`, `blank`, `tooLong` or
   * `unchanged`, checked in this order.
   * @type {(id: string, text: string) => Promise<void>}
   */
  async editMessage(id, text) {
    await this.#changes.edit(id, text);
  }

  /**
   * Deletes one's own message: everybody sees that there was one. As `editMessage`.
   * @type {(id: string) => Promise<void>}
   */
  async deleteMessage(id) {
    await this.#changes.erase(id);
  }

  /** @type {(id: string) => boolean} Whether the draft can answer this row's message. Bare text cannot. */
  canReply(id) {
    return this.#rules.changing.canReply(id);
  }

  /**
   * The draft answers this row's message; null: none. The next message has it, and then the target is null.
   * @type {(id: string | null) => void}
   */
  reply(id) {
    this.#rules.changing.reply(id);
  }

  /** @type {string | null} The row that the draft answers. Null: none, or its message was erased. */
  get replyTarget() {
    return this.#rules.changing.replyTarget;
  }

  /**
   * What the message answers: `{state: 'shown', id, message}`, `{state: 'deleted', id}`, or `{state: 'earlier', seq}` if
   * it is not loaded, or gone. Null: the message answers none.
   * @type {(message: MessageContent) => Quote | null}
   */
  quoteOf(message) {
    return this.#rules.changing.quoteOf(message);
  }

  /**
   * Loads earlier messages until the one that this message answers is there, at most 10 pages. Promises the id of its
   * row; null: it was not found.
   * @type {(message: MessageContent) => Promise<string | null>}
   */
  loadQuoted(message) {
    return this.#changes.loadQuoted(message);
  }

  /**
   * Whether the user may react to this row's message, as far as is known: anybody's, where the session permits it. Guests
   * may not.
   * @type {(id: string) => boolean}
   */
  canReact(id) {
    return this.#changes.reacting.refusalOf(id) === null;
  }

  /**
   * Adds a reaction of the user to this row's message, or takes it away. The row changes with the server's answer, and the
   * promise is resolved then. It is rejected as that of `editMessage`. While an answer of the message is due, later calls
   * wait, and only their outcome is sent.
   * @type {(id: string, key: string) => Promise<void>}
   */
  async toggleReaction(id, key) {
    await this.#changes.reacting.toggle(id, key);
  }

  /**
   * Promises who has reacted to this row's message: at most 50 users in all, or of one key. A name is null if it is not
   * known.
   * @type {(id: string, key?: string | null) => Promise<Reactors[]>}
   */
  reactors(id, key = null) {
    return this.#changes.reactors(id, key);
  }

  /**
   * Who has read the user's messages, where the session shares read markers: the row of the last that another user has
   * read, and all users who have, those who have read most first. Null: nobody is known to have.
   * @type {Receipt | null}
   */
  get receipt() {
    return this.#rules.receipts.named(this.names);
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
   * Marks this row's message and all before it as read; null: all. A message stays read. In a session with read markers
   * the user's marker follows, at most once a second (READ-1).
   * @type {(upTo?: string | null) => TimelineChange[]}
   */
  markRead(upTo = null) {
    return this.#effects.mark(this.#rules.markRead(upTo));
  }

  /**
   * Groups the rows by another rule, such as `OPENTOK_RULE`. The messages stay as they are, and those that are being
   * sent go on.
   * @type {(rule: GroupingRule) => TimelineChange[]}
   */
  useRule(rule) {
    return this.#effects.tell(this.timeline.useRule(rule));
  }

  /**
   * One's own messages that the session does not have yet, oldest first: `{localId, text, alias, sentAt, replyTo,
   * data, state, failure}` with the state `waiting`, `leaving` or `failed`. Save them after each change, and give them to `takeUp` in
   * a later run. There are at most 100.
   * @type {UnsentMessage[]}
   */
  get unsent() {
    return this.#rules.sending.unsent;
  }

  /**
   * Takes up the `unsent` of an earlier run, behind what is there. A message that waited is sent. One that was leaving
   * may have arrived: it has failed, holds back nothing, and is shown as sent if the history or an echo brings it. Nothing
   * happens to a message that is there already.
   * @type {(unsent: readonly UnsentMessage[], now: number) => TimelineChange[]}
   */
  takeUp(unsent, now) {
    const { senderId, user } = this.#rules.message(now, '');
    return this.#effects.carryOut({ changes: this.#rules.sending.takeUp(unsent, { senderId, user }, now) });
  }

  /**
   * Restores the messages and the draft of an earlier run into a new component. A message that was being sent has
   * failed, and holds back nothing. By `ownConnectionIds` the chat recognizes one's own messages in the history.
   * @type {(saved: { messages: readonly ChatMessage[]; draft: string; ownConnectionIds?: readonly string[] }, now:
   * number) => void}
   */
  restore({ messages, draft, ownConnectionIds = [] }, now) {
    for (const id of ownConnectionIds) this.#rules.echoes.note(id);
    for (const message of messages) this.names.noteMessage(message);
    this.composer.restore(draft);
    const changes = this.timeline.restore(messages, now);
    this.#rules.sending.passOver(this.timeline.messages);
    this.#effects.carryOut({
      typing: [{ kind: 'draftSet', text: draft }], changes, activity: { kind: 'restored', text: draft },
    });
  }
}
