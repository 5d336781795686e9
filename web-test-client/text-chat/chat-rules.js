import { BarePeers } from './bare-peers.js';
import { Changing } from './changes/changing.js';
import { HistoryReader } from './history/history-reader.js';
import { ReadMarkers } from './readers/read-markers.js';
import { Receipts } from './readers/receipts.js';
import { OwnConnection } from './own-connection.js';
import { EchoBook } from './sending/echo-book.js';
import { HeldRestriction } from './sending/held-restriction.js';
import { SIGNAL_DATA_LENGTH } from './sending/length-unit.js';
import { Sending } from './sending/sending.js';
import { stampOf } from './timeline/message-form.js';
import { dataLength, messageData, MESSAGE_DATA_LENGTH } from './wire/message-data.js';
import { BARE_TYPE, CHAT_TYPE, decodeKept, decodeSignal, encodeMessage } from './wire/chat-wire-form.js';

/**
 * What the events of the channel and the acts of the user change in a chat. Pure: it reads the settings of `chat` and the
 * state of its channel and typing, and calls none of them.
 *
 * An outcome is `{typing, heard, changes, activity}`, each only where there is something: inputs for typing, a signal
 * that may be about typing, the changes of the rows, and what has happened.
 */
export class ChatRules {
  echoes = new EchoBook();
  reader = new HistoryReader();
  restriction = new HeldRestriction();
  barePeers = new BarePeers();
  markers = new ReadMarkers();
  receipts;
  sending;
  own;
  changing;
  #chat;
  #timeline;
  #names;

  constructor(chat) {
    const { timeline, names } = chat;
    this.#chat = chat;
    this.#timeline = timeline;
    this.#names = names;
    this.sending = new Sending(timeline, this.echoes);
    this.receipts = new Receipts(timeline, this.markers);
    const { echoes, reader, markers } = this;
    this.own = new OwnConnection({ echoes, reader, markers, timeline, names });
    this.changing = new Changing(chat, this);
  }

  get isUp() {
    return this.own.isUp(this.#chat.channel);
  }

  /** See `TextChatComponent.hasEarlier`. */
  get hasEarlier() {
    return this.reader.hasRead ? !this.#timeline.hasBeginning && this.#timeline.hasRoom : null;
  }

  /** No typing is sent while the user may not write, nor to programs that would show it as text. */
  get holdsTyping() {
    return this.restriction.present !== null || this.barePeers.areHeeded;
  }

  /** The message to send now; null: none. */
  startNext() {
    const { wireForm } = this.#chat;
    if (!this.isUp || this.own.isReturning) return null;
    return this.sending.start(this.barePeers.areHeeded ? BARE_TYPE : wireForm);
  }

  /** The page to read now; null: none. */
  nextPage() {
    return this.#chat.channel === null ? null : this.reader.next(this.#timeline);
  }

  /** Inputs for typing, if the channel has a connection that no event has told of. */
  note() {
    const { channel, typing } = this.#chat;
    return this.own.note(channel, typing?.connection ?? null);
  }

  // The user's messages

  /**
   * The draft as a message, or this content. Submitting may send one more typing signal, so its length is checked with
   * that number.
   */
  message(now, localId, { text = null, data = null } = {}) {
    const { channel, draft, senderId, alias, typing, wireForm } = this.#chat;
    const typingN = typing?.typingN ?? null;
    return {
      text: text ?? draft,
      wireForm,
      connectionId: null,
      senderId: senderId ?? channel?.connectionId ?? null,
      user: channel?.user ?? null,
      senderData: null,
      isFromServer: false,
      alias,
      sentAt: now,
      receivedAt: now,
      localId,
      seq: null,
      direction: 'sent',
      state: channel === null ? 'sent' : 'sending',
      typingN: typingN === null ? null : typingN + 1,
      replyTo: this.changing.replySeq,
      version: null,
      editedAt: null,
      data: messageData(data),
    };
  }

  /** `isDraft`: the text is the draft, which has limits of its own. */
  refusalOf(message, isDraft = true) {
    const { channel, composer, onMessageReadyToSend, wireForm } = this.#chat;
    if (isDraft && composer.refusal) return composer.refusal;
    const dataExcess = dataLength(message.data) - MESSAGE_DATA_LENGTH;
    if (dataExcess > 0) return { reason: 'dataTooLong', excess: dataExcess };
    if (channel === null) return onMessageReadyToSend === null ? { reason: 'notConnected' } : null;
    const excess = encodeMessage(message, wireForm).length - SIGNAL_DATA_LENGTH;
    if (excess > 0) return { reason: 'signalTooLong', excess };
    if (!this.isUp) return { reason: 'notConnected' };
    const { present: restriction } = this.restriction;
    if (restriction !== null) return { reason: 'restricted', restriction };
    return this.sending.isFull ? { reason: 'tooManyWaiting' } : null;
  }

  /** The message becomes a row, and waits for the channel if there is one. */
  submit(message, now) {
    const { localId } = message;
    // Without a channel the delegate chooses the form: the echo may be bare text.
    if (this.#chat.channel === null) this.echoes.expectBare(localId, message.text);
    const changes = this.#chat.channel === null
      ? this.#timeline.insert(message, now)
      : this.sending.append(message, now);
    this.changing.reply(null);
    return { changes, activity: { kind: 'messageSubmitted', localId } };
  }

  // Events

  /** See `TextChatComponent.handle`. */
  handle(event, now) {
    const { channel } = this.#chat;
    switch (event.kind) {
      case 'signal':
        return this.#receive(event, now);
      case 'lost':
        return { changes: this.#timeline.noteGap(this.reader.lost()) };
      case 'history':
        return this.#merge(this.reader.answerToConnect(event.page, this.#timeline));
      case 'erased':
        this.reader.overlay(event);
        return { changes: this.#erased(event), activity: event };
      case 'changed':
        this.reader.changed({ ...event, at: now });
        return { changes: event.rel === 'edit' ? this.edited(event, now) : [], activity: event };
      case 'reactions':
      case 'reacted':
        this.reader.received(event.seq);
        return { changes: this.reacted(event), activity: event };
      case 'read':
        this.markers.moved(event);
        return { changes: this.#readThrough(), activity: event };
      case 'connected': {
        const typing = this.own.connected(event.connectionId, channel);
        return { typing, changes: this.#readThrough(), activity: event };
      }
      case 'reconnecting':
        return { typing: this.own.reconnecting(), activity: event };
      case 'reconnected': {
        const typing = this.own.reconnected(event.connectionId ?? null, channel);
        return { typing, changes: this.#readThrough(), activity: event };
      }
      case 'disconnected':
        this.barePeers.clear();
        return { typing: this.own.disconnected(channel), changes: this.sending.failWaiting(), activity: event };
      case 'connectionCreated':
        return { typing: this.own.created(event.connection), activity: event };
      case 'connectionDestroyed':
        this.barePeers.departed(event.connection.connectionId);
        return { typing: this.own.destroyed(event.connection), activity: event };
      case 'restrictionsChanged':
        return {};
      default:
        throw new TypeError(
          `Cannot handle an event of the kind ${event.kind}: see the kinds of TextChatComponent.handle.`,
        );
    }
  }

  #receive(event, now) {
    const typing = this.note();
    const message = decodeSignal({ ...event, receivedAt: now });
    const from = event.from?.connectionId ?? null;
    const { data: senderData, user } = event.from ?? {};
    this.#names.noteMessage(message ?? { senderId: from, senderData, user, alias: null });
    const isOwn = this.#isOwn(event.from);
    if (!isOwn) this.barePeers.note(event);
    if (event.seq !== null && event.seq !== undefined) this.reader.received(event.seq);
    if (message === null) {
      return { typing, heard: isOwn ? null : event, activity: { kind: 'otherSignal', signal: event } };
    }
    if (isOwn) {
      // A bare text of another connection of the user is no echo.
      const isEcho = this.echoes.isOwn(from) || from === this.#chat.senderId;
      const localId = message.localId ?? (isEcho ? this.echoes.settleBare(message.text) : null);
      const isKnown = localId !== null && this.#timeline.ownMessage(localId) !== null;
      // Else another tab of the user sent it, or another part of this program as the same connection.
      const changes = isKnown
        ? this.sending.settle(localId, message.seq, now, stampOf(message))
        : this.#timeline.insert({ ...message, direction: 'sent' }, now);
      return { typing, changes };
    }
    const changes = this.#timeline.insert(message, now);
    if (changes.length === 0) return { typing };
    // Before it there is nothing that the user has not read.
    if (this.#timeline.isVisible && this.#timeline.unreadCount === 0) this.#noteRead(message.seq);
    if (from !== null) typing.push({ kind: 'messageReceived', from, typingN: message.typingN });
    return { typing, changes, activity: { kind: 'messageReceived', from, message } };
  }

  /** A message has other data now (CHAT-13). Nothing happens where it is not shown, or has a later edition. */
  edited({ seq, ref, data }, now) {
    const shown = this.#timeline.rowWithSeq(ref)?.message;
    if (!shown) return [];
    const { wireForm, senderId: connectionId, senderData, user, receivedAt: time } = shown;
    const from = shown.isFromServer ? null : { connectionId, data: senderData, user };
    const type = wireForm ?? CHAT_TYPE;
    const message = decodeKept({ seq: ref, from, type, data, time, changed: seq, edited: now });
    const changes = this.#timeline.change(message);
    if (changes.length > 0) this.#names.noteMessage(message);
    return changes;
  }

  /** What users have reacted with to a message, `{seq, ref, reactions}` or, the user, `{ref, keys}`. */
  reacted(told) {
    this.reader.overlay(told);
    return this.#timeline.setReactions(told);
  }

  /** With the messages of a user, the user's marker and reactions go (CHG-15). The counts are told. */
  #erased(erasure) {
    const { user } = erasure;
    const changes = this.#timeline.erase(erasure);
    if (user === undefined) return changes;
    this.markers.erased(user);
    if (user !== (this.#chat.channel?.user ?? null)) return changes;
    this.#timeline.marker = this.markers.marker;
    const isMine = ({ reactions }) => reactions.some((each) => each.isMine);
    const mine = this.#timeline.messages.filter(isMine);
    return [...changes, ...mine.flatMap(({ seq }) => this.#timeline.setReactions({ ref: seq, keys: [] }))];
  }

  // Read markers

  /** See `TextChatComponent.unreadCount`. */
  get unreadCount() {
    return Math.max(this.#timeline.unreadCount, this.markers.unreadAtLeast(this.#timeline));
  }

  /** See `TextChatComponent.markRead`. The user's own messages alone move no marker. */
  markRead(upTo) {
    const marker = this.markers.marker ?? -1;
    const last = this.#timeline.findLast(({ seq }) => seq !== null, upTo);
    const isOthers = ({ seq, direction }) => seq !== null && (direction === 'received' || seq <= marker);
    const others = this.#timeline.findLast(isOthers, upTo);
    if (others !== null && others.message.seq > marker) this.#noteRead(last.message.seq);
    return this.#timeline.markRead(upTo);
  }

  #noteRead(seq) {
    if (seq === null || !this.markers.isOn) return;
    this.markers.read(seq);
    this.#timeline.marker = this.markers.marker;
  }

  /** The user's marker may have moved elsewhere. */
  #readThrough() {
    const { marker } = this.markers;
    return marker === null ? [] : this.#timeline.readThrough(marker);
  }

  /** The answer to a task of `nextPage`. It may come too late. */
  read(task, page) {
    const place = this.reader.answer(task, page, this.#timeline);
    return place === null ? {} : this.#merge(place);
  }

  /** The page could not be read. */
  unread(task, { code = null, message }) {
    const gap = this.reader.fail(task, { code, message }) ? this.reader.unreadGap : null;
    return gap === null ? {} : { changes: this.#timeline.noteGap(gap) };
  }

  /**
   * A page ends no typing, reports no message as received, and does not count as unread, unless it brings what an
   * absence has missed.
   */
  #merge(place) {
    const messages = [];
    const arrived = [];
    for (const kept of place.messages) {
      const message = decodeKept(kept);
      if (message === null) continue;
      this.#names.noteMessage(message);
      const isOwn = this.#isOwn(kept.from);
      const told = { counts: kept.reactions ?? [], seq: kept.reacted ?? 0, own: kept.own };
      messages.push({ ...message, told, ...(isOwn ? { direction: 'sent' } : {}) });
      if (isOwn && this.#timeline.ownMessage(message.localId)?.seq === null) arrived.push(message.localId);
    }
    const changes = this.#timeline.merge(messages, place);
    this.sending.arrived(arrived);
    return { changes, activity: { kind: 'historyChanged' } };
  }

  /** Whether the author of one's own message is the user, or else the present connection (CHG-5). */
  isAuthor({ user, connectionId }) {
    const { channel } = this.#chat;
    const isUsers = user !== null && user === (channel.user ?? null);
    return isUsers || (connectionId ?? channel.connectionId) === channel.connectionId;
  }

  /** Whether a connection is one's own: by its user, or as one that this chat has, or has had (CHAT-9). */
  #isOwn(connection) {
    if (connection === null || connection === undefined) return false;
    const { connectionId, user = null } = connection;
    const { channel, senderId } = this.#chat;
    const isUsers = user !== null && user === (channel?.user ?? null);
    return isUsers || this.echoes.isOwn(connectionId) || connectionId === senderId;
  }
}
