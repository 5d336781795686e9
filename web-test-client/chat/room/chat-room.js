import { Code } from '../../client/wire/codes.js';
import {
  CHAT_TYPE, ChatTimeline, ChatTyping, Composer, displayName, newLocalId, OPENTOK_RULE, readerCalendar,
  STANDARD_RULE, TextChatComponent, TYPING_PRESETS,
} from '../../text-chat/index.js';
import { dataLength, MESSAGE_DATA_LENGTH, messageData } from '../../text-chat/wire/message-data.js';
import { ComposerView } from '../views/composer-view.js';
import { windowOf } from '../views/dom.js';
import { EarlierView } from '../views/earlier-view.js';
import { FramePace } from '../views/frame-pace.js';
import { MessagesView } from '../views/messages-view.js';
import { textNodes } from '../views/row-elements.js';
import { RowPlaces } from '../views/row-places.js';
import { restrictionText } from '../words/restriction-words.js';
import { TypingView } from '../views/typing-view.js';
import { changedCustoms } from './customs.js';
import { MoreControl } from './more-control.js';
import { DraftStore } from './draft-store.js';
import { LONGEST_WAIT, Moderation } from './moderation.js';
import { SessionLink } from './session-link.js';

/** The most messages that the element keeps. */
const MAX_MESSAGES = 20_000;

/** How long the divider stays once the user sees the messages below it. */
const READ_MILLISECONDS = 4000;

/** Name and time are at the top of a group. */
const BUBBLE_RULE = Object.freeze({ ...STANDARD_RULE, timePosition: 'first' });
const OPENTOK_LOOK_RULE = Object.freeze({ ...OPENTOK_RULE, timePosition: 'first' });

const dayOf = readerCalendar();

/**
 * The chat of a room in the shadow tree of the element: its `TextChatComponent`, the views of it, the names and the
 * draft. Sessions come and go; the messages of the room stay.
 */
export class ChatRoom {
  #host;
  #part;
  #words;
  #emit;
  #stateChanged;
  #focus;
  #isRestricted = false;
  #messages;
  #earlier;
  #more;
  #composer;
  #typing;
  /** A signal of another client rarely changes the box. */
  #composerPace = new FramePace(() => this.#composer.show(), () => windowOf(this.#host));
  /** Senders may change what others are called as often as they may write. */
  #namePace = new FramePace(() => this.#messages.showNames(), () => windowOf(this.#host));
  #id = null;
  #chat = null;
  #link = new SessionLink();
  /** The revision of the names that are shown, and whether guests are marked. */
  #shownNames = '';
  #drafts = null;
  /** The draft that a program has set before there was a room. */
  #earlyDraft = null;
  #customs = {};
  #policy = TYPING_PRESETS.standard;
  #wireForm = CHAT_TYPE;
  #state = 'disconnected';
  /** A message was refused because of the role. */
  #isRefusedAsReader = false;
  /** Why the page has refused the last message, in its own words; null: it gave no reason. */
  #refusedBecause = null;
  /** The chat was connected, or tried to be, in the session of now. */
  #hasBegun = false;
  #readTimer = null;
  #restrictionTimer = null;

  /**
   * `host` is the element. `emit(name, detail, options)` sends an event, and returns false if a listener refuses it.
   * `stateChanged(state)` is called with what the session says. `focus()` is the `FocusKeeper` of the element.
   */
  constructor(host, part, { words, emit, stateChanged, focus }) {
    this.#host = host;
    this.#part = part;
    this.#words = words;
    this.#emit = emit;
    this.#stateChanged = stateChanged;
    this.#focus = focus;
    /** What a moderator may do here. */
    this.moderation = new Moderation(part, {
      words,
      nameOfUser: ({ user, senderId }) => {
        return user === null ? this.nameOf({ senderId, alias: null }) : this.#chat.names.nameOfUser(user);
      },
      tell: (key) => this.#composer.showHint(key),
    });
    this.#messages = new MessagesView(part, {
      nameOf: (message) => this.nameOf(message),
      isGuest: (message) => this.#chat.names.isGuest(message),
      // A name that the program gives is its own matter.
      numberOf: (message) => (this.#customs.nameOf ? null : this.#chat.names.numberOf(message)),
      hasMenu: (message) => this.moderation.hasMenu(message) || this.#actionsOf(message).length > 0,
      openMenu: (message, name, button) =>
        this.moderation.openMessageMenu(message, name, button, this.#actionsOf(message)),
      avatarOf: (message) => this.#customs.avatarOf?.(message) ?? null,
      nodesFor: (message) => this.#more.nodesFor(message),
      places: new RowPlaces(host, (message) => this.#customs.renderMessage?.(message)),
      words,
      limit: MAX_MESSAGES,
      factsOf: (message) => this.#customs.factsOf?.(message) ?? this.#factsOf(message),
      dayOf,
      retry: (localId) => this.#retryMessage(localId),
      edit: (localId) => this.#editMessage(localId),
      discard: (localId) => this.#chat.discard(localId),
      pass: () => this.#chat.passFailed(),
      isHeld: (localId) => this.#chat.obstacle !== null && localId !== this.#chat.obstacle,
      moved: () => this.noteReading(),
      nearBeginning: () => {
        // After a failure the user asks again.
        if (this.#chat?.historyError === null) this.#chat.loadEarlier();
      },
      droppedCount: () => this.#chat?.timeline.droppedCount ?? 0,
    });
    this.#earlier = new EarlierView(part, words, () => this.#chat.loadEarlier());
    this.#composer = new ComposerView(part, {
      words,
      send: () => this.send(),
      edited: (text) => {
        this.#drafts.text = text;
        this.#more.edited(text);
      },
      takeFiles: (files) => this.canWrite && this.#more.take(files),
    });
    this.#more = new MoreControl(part, {
      words,
      customs: () => this.#customs,
      hasMarkup: () => host.hasMarkup,
      strings: () => host.strings,
      linkify: textNodes,
      send: (content) => this.send(content),
      tell: (text) => this.#composer.showHint({ text }),
      loaded: () => this.#messages.showContents(),
    });
    this.#typing = new TypingView(part, {
      words,
      nameOf: (connectionId) => this.#typingNameOf({ senderId: connectionId, alias: null }),
      isPair: () => this.#link.session?.connections.length() === 2,
    });
    this.#composer.setEnabled(false);
    this.#composer.hasEmoji = true;
  }

  // What the element passes on

  get component() {
    return this.#chat;
  }

  get messages() {
    return this.#messages;
  }

  get composer() {
    return this.#composer;
  }

  get draft() {
    return this.#part('composer-text').value;
  }

  set draft(text) {
    if (this.#id === null) this.#earlyDraft = text;
    this.#composer.write(text);
  }

  get policy() {
    return this.#policy;
  }

  set policy(policy) {
    this.#policy = policy;
    if (this.#chat !== null) this.#chat.typing.policy = policy;
  }

  get wireForm() {
    return this.#wireForm;
  }

  set wireForm(type) {
    this.#wireForm = type;
    if (this.#chat !== null) this.#chat.wireForm = type;
  }

  /** Adds what the page gives, see `ChatCustoms` in `index.d.ts`. */
  customize(customs) {
    this.#customs = changedCustoms(this.#customs, customs);
    this.#more.customized();
    if (this.#chat === null) return;
    this.#messages.showContents();
    this.#messages.showMenus();
    this.#messages.showNames();
  }

  /** The page's own commands for a message, as items of its menu. */
  #actionsOf(message) {
    const { actions = [] } = this.#customs;
    const given = (typeof actions === 'function' ? actions(message) : actions) ?? [];
    return given.map(({ name, text, isDanger = false }) => ({
      text,
      isDanger,
      act: () => this.#emit('signalbox-action', { action: name, message }),
    }));
  }

  /** Shows all texts in another language. */
  set words(words) {
    this.#words = words;
    const views = [this.#messages, this.#earlier, this.#composer, this.#more, this.#typing, this.moderation];
    for (const view of views) view.words = words;
    this.#showRestriction();
    this.#showHistory();
  }

  /** The look of the element has changed. The chat itself goes on, with its queue, its gaps and its typing. */
  lookChanged() {
    this.#composer.showsCounter = this.#host.look === 'opentok';
    this.#chat?.useRule(this.#rule);
  }

  /** Texts have light markup from now on, or no longer. */
  markupChanged() {
    this.#messages.showContents();
  }

  adaptChanged() {
    if (this.#chat !== null) this.#chat.isAdaptive = this.#host.isAdaptive;
  }

  typingChanged() {
    if (this.#chat !== null) this.#chat.typing.isOptedOut = !this.#host.isTypingShown;
  }

  // The page

  /** The element has come into a page. */
  arrived() {
    if (this.#chat === null) this.#startChat();
    this.#messages.nameDays(Date.now());
    if (this.#messages.isPinned) this.#messages.scrollToEnd();
    this.#checkRestriction();
  }

  /** The element has left its page. */
  departed() {
    clearTimeout(this.#readTimer);
    clearTimeout(this.#restrictionTimer);
    // Without the document there is no timer either.
    this.#messages.nameDays(Date.now());
    this.#chat?.typing.leave();
  }

  /** The element was shown or hidden, or the user has started or stopped to read. */
  noteReading() {
    if (this.#chat === null) return;
    const isHidden = this.#host.ownerDocument.hidden;
    const isReading = !isHidden && this.#host.isConnected && this.#host.checkVisibility() && this.#messages.isPinned;
    this.#chat.isVisible = isReading;
    this.#messages.showUnread(this.#chat.unreadCount);
    if (isHidden) this.#chat.typing.leave();
    this.#messages.nameDays(Date.now());
    clearTimeout(this.#readTimer);
    // Wait, so that the user sees in the divider where the unread messages begin.
    if (isReading) this.#readTimer = setTimeout(() => this.#chat.markRead(), READ_MILLISECONDS);
  }

  // The session

  /** Chats in this session. `isNew`: it is another one of the same room. */
  attach(session, id, isNew) {
    this.release();
    let mayHaveMissed = false;
    if (this.#id !== id || this.#chat === null) {
      this.#id = id;
      this.#startChat();
    } else if (isNew) {
      this.#messages.noteNewSession(() => this.#chat.handle({ kind: 'lost' }, Date.now()));
    } else if (this.#chat.timeline.messageCount > 0) {
      // A new connection gets no message that was sent while the user was away.
      mayHaveMissed = true;
    }
    const connected = () => {
      this.showIdentity();
      this.moderation.connected();
      this.#messages.showMenus();
      this.#stateChanged('connected');
    };
    const noteMissed = () => {
      if (mayHaveMissed) this.#chat.handle({ kind: 'lost' }, Date.now());
      mayHaveMissed = false;
    };
    if (session.connection) noteMissed();
    this.#isRefusedAsReader = false;
    this.moderation.attach(session);
    this.#chat.channel = this.#link.open(session, {
      connected: () => {
        noteMissed();
        connected();
      },
      reconnecting: () => this.#stateChanged('reconnecting'),
      reconnected: () => {
        this.moderation.connected();
        this.#stateChanged('connected');
      },
      disconnected: () => {
        this.moderation.ended();
        this.#stateChanged('disconnected');
      },
      received: (event) => {
        this.#customs.received?.(event);
        this.#chat.handle(event, Date.now());
        this.#showNames();
      },
      wrap: (channel) => this.#customs.channel?.(channel),
    });
    if (session.connection) connected();
  }

  /** Stops listening to the session. */
  release() {
    if (this.#link.session === null) return;
    this.#link.close();
    this.moderation.release();
    this.#messages.showMenus();
    this.#chat.channel = null;
    this.#composer.setEnabled(false);
  }

  /** The state of the element. */
  set state(state) {
    this.#state = state;
    this.#part('offline-hint').hidden = state !== 'reconnecting';
    this.#composer.setEnabled(this.canWrite);
    this.#composer.isReadOnly = this.#isReadOnly;
    this.#checkRestriction();
    this.noteBegun(this.#hasBegun || (state !== 'disconnected' && state !== 'failed'));
    this.#showHistory();
  }

  /** Whether there was something to see of the session of now. Another one may begin without an end. */
  noteBegun(hasBegun) {
    this.#hasBegun = hasBegun;
    this.#composer.isOver = hasBegun && (this.#state === 'failed' || this.#state === 'disconnected');
  }

  get canWrite() {
    return this.#state === 'connected' || this.#state === 'reconnecting';
  }

  showIdentity() {
    if (this.#chat === null) return;
    const own = this.#link.session?.connection;
    this.#chat.alias = this.#host.alias || (own ? displayName(own) : null);
    if (this.#host.senderId !== null) this.#chat.senderId = this.#host.senderId;
  }

  /** Whether the role of the user may not write. A session of OpenTok does not tell; there the first refusal does. */
  get #isReadOnly() {
    return this.#isRefusedAsReader || this.#link.session?.maySignal === false;
  }

  /** After a refusal because of the role, those behind the message would be refused, too: nothing waits for it. */
  #noteRole() {
    const isOfRole = ({ failure }) => failure?.code === Code.permissionDenied && failure.restriction === undefined;
    const isRefused = this.#chat.timeline.messages.some(isOfRole);
    if (isRefused) this.#isRefusedAsReader = true;
    this.#composer.isReadOnly = this.#isReadOnly;
    if (isRefused) this.#chat.passFailed();
  }

  /** A restriction ends by itself, and the field is free again (MOD-2). */
  #checkRestriction() {
    this.#chat?.advance(Date.now());
    this.#showRestriction();
  }

  /** Tells the user why they cannot write for now. */
  #showRestriction() {
    clearTimeout(this.#restrictionTimer);
    const restriction = this.canWrite ? (this.#chat?.restriction ?? null) : null;
    const wasRestricted = this.#isRestricted;
    this.#isRestricted = restriction !== null;
    const sentence = this.#isRestricted ? restrictionText(this.#words, restriction) : null;
    this.#focus().keep(() => (this.#composer.restriction = sentence));
    if (wasRestricted && !this.#isRestricted && this.canWrite) this.#focus().canWrite();
    if (!this.#isRestricted) return;
    const now = Date.now();
    const next = this.#chat.nextRestrictionCheck(now);
    if (next === null) return;
    this.#restrictionTimer = setTimeout(() => this.#checkRestriction(), Math.min(next - now, LONGEST_WAIT));
  }

  // The chat

  /** A name that is shown may have turned out to be another's, or guests are among users now. */
  #showNames() {
    const { revision, hasUsers } = this.#chat.names;
    const names = `${revision} ${hasUsers}`;
    if (names === this.#shownNames) return;
    this.#shownNames = names;
    this.#namePace.request(1);
  }

  /** A sentence about users who type names a guest as such: there is no place for a mark. */
  #typingNameOf(sender) {
    const name = this.nameOf(sender);
    return this.#chat.names.isGuest(sender) ? this.#words.text('guestNamed', { name }) : name;
  }

  /** The name to show for the sender of a message. */
  nameOf(message) {
    return this.#customs.nameOf?.(message) ?? this.#chat.names.nameOf(message, {
      guest: (id) => this.#words.text('guest', { id: { text: id } }).trim(),
      server: () => this.#words.text('server'),
    });
  }

  /** When a message was sent or has come. */
  #factsOf({ direction, state, receivedAt }) {
    if (direction === 'sent' && state !== 'sent') return null;
    const time = { text: this.#words.dayAndTime(receivedAt) };
    return this.#words.text(direction === 'sent' ? 'sentAt' : 'receivedAt', { time });
  }

  #startChat() {
    this.#chat?.typing.stop();
    this.#messages.clear();
    this.#drafts = new DraftStore(this.#customs.draftKey?.(this.#id) ?? `${this.#host.id}.${this.#id}`);
    this.#makeChat();
    this.#showHistory();
    this.#composer.open(this.#chat, this.#earlyDraft ?? this.#drafts.text);
    if (this.#id !== null) this.#earlyDraft = null;
  }

  get #rule() {
    return this.#host.look === 'opentok' ? OPENTOK_LOOK_RULE : BUBBLE_RULE;
  }

  #makeChat() {
    const chat = new TextChatComponent({
      wireForm: this.#wireForm,
      isAdaptive: this.#host.isAdaptive,
      composer: new Composer({ maxLength: this.#host.maxLength }),
      timeline: new ChatTimeline({ rule: this.#rule, calendar: dayOf, limit: MAX_MESSAGES }),
      typing: new ChatTyping({
        policy: this.#policy,
        isOptedOut: !this.#host.isTypingShown,
        publish: (signal) => this.#link.channel?.send(signal) ?? Promise.resolve({}),
        changed: (snapshot) => this.#typing.show(snapshot),
      }),
      onMessageReadyToSend: (message) => this.#link.channel !== null && this.#maySend(message),
      // The chat of an earlier room may still get the answer to a message. The view is not its own any more.
      changed: (changes, activity) => {
        if (chat === this.#chat) this.#changed(changes, activity);
      },
    });
    chat.restore({ messages: [], draft: '', ownConnectionIds: this.#drafts.ownConnectionIds }, Date.now());
    this.#chat = chat;
    this.noteReading();
  }

  /** The page may refuse the message, and say why, or add data to it. */
  #maySend(message) {
    let isRefused = false;
    this.#refusedBecause = null;
    const detail = {
      message,
      data: this.#more.dataFor(message.text, message.data),
      refuse: (reason = null) => {
        isRefused = true;
        this.#refusedBecause = reason;
      },
    };
    const isAllowed = this.#emit('signalbox-send', detail, { cancelable: true }) && !isRefused;
    if (isAllowed) message.data = messageData(detail.data);
    if (dataLength(message.data) > MESSAGE_DATA_LENGTH) {
      throw new RangeError(`The data of a message is longer than ${MESSAGE_DATA_LENGTH} bytes as JSON.`);
    }
    return isAllowed;
  }

  #changed(changes, activity) {
    if (changes.length > 0) this.#messages.apply(changes, { isLoaded: activity?.kind === 'historyChanged' });
    this.#showNames();
    switch (activity?.kind) {
      case 'historyChanged':
        this.#showHistory();
        break;
      case 'connected':
      case 'reconnected':
        this.#drafts.ownConnectionIds = this.#chat.ownConnectionIds;
        this.#showHistory();
        break;
      case 'restrictionChanged':
        this.#showRestriction();
        break;
      case 'messageSubmitted':
        this.#drafts.text = '';
        this.#chat.markRead();
        break;
      case 'messageReceived':
        this.#emit('signalbox-message', { message: activity.message });
        break;
      case 'unread':
        this.#messages.showUnread(activity.count);
        this.#emit('signalbox-unread', { count: activity.count });
        return;
    }
    if (activity?.kind === 'messageReceived' || activity?.kind === 'otherSignal') this.#composerPace.request(1);
    else this.#composer.show();
  }

  /** Shows whether there are earlier messages, and what it means that there are none. */
  #showHistory() {
    if (this.#chat === null) return;
    const { hasEarlier, isLoadingEarlier, historyError } = this.#chat;
    this.#earlier.show({ hasEarlier, isLoading: isLoadingEarlier, hasFailed: historyError !== null });
    const isConnected = (this.#chat.channel?.connectionId ?? null) !== null;
    const isNothingKept = isConnected && !(this.#chat.channel.hasHistory ?? false);
    const key = hasEarlier === false
      ? this.#isReadOnly || !this.canWrite ? 'noMessagesToRead' : 'noMessages'
      : isNothingKept ? 'fromNowOn' : null;
    this.#part('empty-text').textContent = key === null ? '' : this.#words.text(key);
  }

  /** Sends the draft, or the content of the page, and promises the outcome. */
  async send(content) {
    const result = this.#chat.send(Date.now(), newLocalId(), content);
    this.#messages.scrollToEnd();
    const { outcome, refusal } = await result;
    // A message that failed holds back those behind it.
    this.#messages.showHeld();
    if (outcome === 'refused' && refusal.reason === 'byDelegate') {
      this.#composer.showHint(this.#refusedBecause === null ? 'notSent' : { text: this.#refusedBecause });
    }
    this.#noteRole();
    // A refusal tells the session what holds, without an event.
    this.#checkRestriction();
    this.#composer.show();
    return result;
  }

  async #retryMessage(localId) {
    const { outcome } = await this.#chat.retry(localId);
    if (outcome === 'refused') this.#composer.showHint('notConnected');
    this.#messages.showHeld();
  }

  /** A refused message goes back into the field, before what is there, so that the user can shorten it. */
  #editMessage(localId) {
    const { text } = this.#chat.timeline.ownMessage(localId);
    this.#chat.discard(localId);
    this.#composer.write([text, this.draft].filter((each) => each !== '').join('\n'));
    this.#composer.focus();
  }
}
