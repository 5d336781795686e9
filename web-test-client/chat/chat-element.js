import { signalingAddress } from '../opentok/client/server-address.js';
import { Code } from '../opentok/client/wire/codes.js';
import {
  CHAT_TYPE, ChatTimeline, ChatTyping, Composer, displayName, NameBook, newLocalId, OPENTOK_RULE, readerCalendar,
  SessionChannel, STANDARD_RULE, TextChatComponent, TYPING_PRESETS,
} from '../text-chat/index.js';
import { ChatAttributes, CREDENTIALS } from './chat-attributes.js';
import { chatTemplate } from './views/chat-template.js';
import { ComposerView } from './views/composer-view.js';
import { JOIN_TIME } from './connection/connection-plan.js';
import { OwnSession } from './connection/own-session.js';
import { windowOf } from './views/dom.js';
import { DraftStore } from './draft-store.js';
import { EarlierView } from './views/earlier-view.js';
import { FramePace } from './views/frame-pace.js';
import { guardWindow } from './keys/key-guard.js';
import { MessagesView } from './views/messages-view.js';
import { useStyle } from './style/shared-style.js';
import { CHAT_STRINGS } from './strings/index.js';
import { TypingView } from './views/typing-view.js';
import { causeOfEnd, causeOfFailure, mayTryAgainAfter, NOT_SET_UP } from './words/causes.js';
import { languageOf, LanguageWatch } from './words/language.js';
import { Words } from './words/words.js';
import { writeWords } from './words/write-words.js';

/** The most messages that the element keeps. */
const MAX_MESSAGES = 20_000;

/** How long the divider stays once the user sees the messages below it. */
const READ_MILLISECONDS = 4000;

/** Name and time are at the top of a group. */
const BUBBLE_RULE = Object.freeze({ ...STANDARD_RULE, timePosition: 'first' });
const OPENTOK_LOOK_RULE = Object.freeze({ ...OPENTOK_RULE, timePosition: 'first' });

/** For developers. */
const SILENT_SERVER =
  `The server has not answered for ${JOIN_TIME / 1000} seconds. Check that it is running.`;

const dayOf = readerCalendar();

/**
 * `<signalbox-chat session="…" api-key="…" token="…">`: a text chat in a page, the counterpart of OpenTok's text chat
 * view. docs/chat-element.md describes its attributes, events, parts and slots.
 *
 * With `session`, `api-key` and `token` the element connects by itself while it is in the document. A program that has
 * a session already calls `attach(session)` instead, before it connects the session.
 */
export class SignalboxChat extends ChatAttributes {
  /** The address of the server for elements without the attribute `server`. The script that defines them sets it. */
  static defaultServer = null;

  #messages;
  #earlier;
  #composer;
  #typing;
  #statusLine;
  #statusText;
  #retry;
  #part;
  #chat = null;
  #channel = null;
  #session = null;
  /** The session that the element makes from its attributes. */
  #own = new OwnSession({
    changing: (act) => this.#keepFocus(act),
    opening: (session, { sessionId, isQuiet }) => {
      this.#attach(session, sessionId);
      if (!isQuiet) this.#setState('connecting');
    },
    closing: () => this.#release(),
    lacking: ({ names, isUsed }) => this.#lacking(names, isUsed),
    failed: (error, { comesBack }) => this.#fail(error, { comesBack }),
    ended: (end) => this.#ended(end),
    idle: () => this.#setState('disconnected'),
  });
  /** Whether the session is one of the program's. */
  #isAttached = false;
  /** A signal of another client rarely changes the box. */
  #composerPace = new FramePace(() => this.#composer.show(), () => windowOf(this));
  #listeners = null;
  #names = new NameBook();
  #drafts = null;
  /** The draft that a program has set before there was a room. */
  #earlyDraft = null;
  #customs = {};
  /** The program's texts. */
  #strings = null;
  /** Of now: those of the browser until the element is in a document. */
  #words = wordsFor(navigator.language);
  #language = new LanguageWatch(() => this.#showWords());
  /** What the line above the messages says: the key of a text, and whether the user may try again. */
  #status = { key: null, mayRetry: false, comesBack: false, values: {} };
  /** A message was refused because of the role. */
  #isRefusedAsReader = false;
  #policy = TYPING_PRESETS.standard;
  #wireForm = CHAT_TYPE;
  /** The attributes are read soon, when the program has set them all. */
  #readsSoon = false;
  /** What the console has been told. */
  #logged = new Set();
  /** The API key when an attribute with it has changed last. */
  #lastKey = null;
  #readTimer = null;
  #state = 'disconnected';
  /** The chat was connected, or tried to be, in the session of now. */
  #hasBegun = false;
  /** The element has `autofocus`, and the user could not write yet. */
  #awaitsFocus = false;
  /** The control that got the focus when the one that had it was disabled or hidden. */
  #focusMovedTo = null;
  /** While the element is in a page: ends what it listens to there. */
  #visit = null;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    useStyle(root);
    root.append(chatTemplate());
    const part = (id) => root.getElementById(id);
    this.#part = part;
    this.#statusLine = part('chat-status');
    this.#statusText = part('chat-status-text');
    this.#retry = part('chat-retry');
    this.#retry.addEventListener('click', () => this.connect());
    this.#messages = new MessagesView(part, {
      nameOf: (message) => this.nameOf(message),
      words: this.#words,
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
    this.#earlier = new EarlierView(part, this.#words, () => this.#chat.loadEarlier());
    this.#composer = new ComposerView(part, {
      words: this.#words,
      send: () => this.#send(),
      edited: (text) => {
        this.#drafts.text = text;
      },
    });
    this.#typing = new TypingView(part, {
      words: this.#words,
      nameOf: (connectionId) => this.nameOf({ senderId: connectionId, alias: null }),
      isPair: () => this.#session?.connections.length() === 2,
    });
    this.#composer.setEnabled(false);
    this.#writeWords();
  }

  connectedCallback() {
    this.adoptProperties();
    const { defaultView } = this.ownerDocument;
    // Such as a document that a parser has made: nobody sees the chat there, and it waits.
    if (defaultView === null) return;
    this.#visit = new AbortController();
    const { signal } = this.#visit;
    guardWindow(defaultView);
    this.#awaitsFocus = this.autofocus && !this.#canWrite;
    this.#language.begin(this);
    this.#showWords();
    this.ownerDocument.addEventListener('visibilitychange', () => this.noteReading(), { signal });
    // A frame that is removed, or a window that is closed, tells its elements nothing.
    if (defaultView !== window) {
      defaultView.addEventListener('pagehide', () => this.#own.handle({ is: 'removed' }), { signal });
    }
    if (this.#chat === null) this.#startChat();
    this.#messages.nameDays(Date.now());
    if (this.#messages.isPinned) this.#messages.scrollToEnd();
    // A session that the program has attached stays until an attribute changes.
    if (!this.#isAttached) this.#readSoon();
  }

  disconnectedCallback() {
    this.#visit?.abort();
    this.#visit = null;
    this.#language.end();
    clearTimeout(this.#readTimer);
    // Without the document there is no timer either.
    this.#messages.nameDays(Date.now());
    this.#chat?.typing.leave();
    // An element that is only moved to another place is in the document again at once.
    queueMicrotask(() => {
      if (!this.#isInPage && !this.#isAttached) this.#own.handle({ is: 'removed' });
    });
  }

  adoptedCallback() {
    useStyle(this.shadowRoot);
    this.#messages.adopted();
  }

  get #isInPage() {
    return this.#visit !== null;
  }

  attributeChangedCallback(name, before, after) {
    if (before === after) return;
    switch (name) {
      case 'max-length':
        this.#composer.setMaxLength(this.maxLength);
        break;
      case 'placeholder':
        this.#composer.placeholder = after;
        break;
      case 'api-key':
      case 'key':
        if (this.apiKey === this.#lastKey) return;
        this.#lastKey = this.apiKey;
        this.#readSoon();
        break;
      case 'look':
        this.#composer.showsCounter = this.look === 'opentok';
        // The rows of another look have other groups. The chat itself goes on, with its queue, its gaps and its typing.
        this.#chat?.useRule(this.#rule);
        break;
      case 'alias':
      case 'sender-id':
        this.#showIdentity();
        break;
      case 'typing':
        if (this.#chat !== null) this.#chat.typing.isOptedOut = !this.isTypingShown;
        break;
      default:
        this.#readSoon();
    }
  }

  /** The program's texts, by their keys; see docs/chat-element.md. Without one for a key, the element uses its own. */
  get strings() {
    return this.#strings;
  }

  set strings(strings) {
    this.#strings = strings ?? null;
    this.#showWords({ isAnew: true });
  }

  /** The rules of typing, such as `TYPING_PRESETS.layer`. */
  get typingPolicy() {
    return this.#policy;
  }

  set typingPolicy(policy) {
    this.#policy = policy ?? TYPING_PRESETS.standard;
    if (this.#chat !== null) this.#chat.typing.policy = this.#policy;
  }

  /** The signal type of one's messages: `text-chat` or `TextChat`. */
  get wireForm() {
    return this.#wireForm;
  }

  set wireForm(type) {
    this.#wireForm = type ?? CHAT_TYPE;
    if (this.#chat !== null) this.#chat.wireForm = this.#wireForm;
  }

  // State

  /** `disconnected`, `connecting`, `connected`, `reconnecting` or `failed`. */
  get state() {
    return this.#state;
  }

  get unreadCount() {
    return this.#chat?.unreadCount ?? 0;
  }

  /** The messages, as values: `{text, senderId, alias, sentAt, receivedAt, direction, state, …}`. */
  get messages() {
    return this.#chat?.timeline.messages ?? [];
  }

  /** The text in the box. */
  get draft() {
    return this.#part('composer-text').value;
  }

  set draft(text) {
    if (this.#room === null) this.#earlyDraft = text ?? '';
    this.#composer.write(text ?? '');
  }

  /** The `TextChatComponent` behind the element. */
  get component() {
    return this.#chat;
  }

  // Connecting

  /** Connects anew with the attributes, also after a failure. */
  connect() {
    this.#keepFocus(() => {
      this.#leaveAttached();
      this.#own.handle({ is: 'connect', credentials: this.#credentials });
    });
  }

  /** Leaves the session. The messages and the draft stay. */
  disconnect() {
    this.#keepFocus(() => {
      this.#own.handle({ is: 'leave' });
      this.detach();
    });
  }

  /**
   * Chats in a session of the program's own library, which the program connects. `isNew`: the messages that are shown
   * belong to an earlier session of the same room; they stay, and a line tells so. Without it, another session starts
   * with no messages.
   */
  attach(session, { room = session.sessionId ?? session.id, isNew = false } = {}) {
    this.#keepFocus(() => {
      this.#own.handle({ is: 'leave' });
      this.#readsSoon = false;
      this.#isAttached = true;
      this.#showStatus(null);
      this.#noteBegun(false);
      this.#attach(session, room, isNew);
    });
  }

  /** Stops the use of a session that `attach` began, without disconnecting it. */
  detach() {
    if (!this.#isAttached) return;
    this.#leaveAttached();
    this.#keepFocus(() => this.#setState('disconnected'));
  }

  #leaveAttached() {
    if (this.#isAttached) this.#release();
    this.#isAttached = false;
  }

  get #credentials() {
    const given = { session: this.session, apiKey: this.apiKey, token: this.token, server: this.server };
    const credentials = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value?.trim() || null]));
    return { ...credentials, server: credentials.server ?? SignalboxChat.defaultServer };
  }

  /** A program sets several attributes one after the other: read them once, when they are all there. */
  #readSoon() {
    if (this.#readsSoon || !this.#isInPage) return;
    this.#readsSoon = true;
    queueMicrotask(() => {
      const isWanted = this.#readsSoon && this.#isInPage && (!this.#isAttached || this.#namesSession);
      this.#readsSoon = false;
      if (!isWanted) return;
      this.#leaveAttached();
      this.#own.handle({ is: 'want', credentials: this.#credentials });
    });
  }

  get #namesSession() {
    return CREDENTIALS.some((name) => this.hasAttribute(name));
  }

  #lacking(names, isUsed) {
    const message = `The chat cannot connect: it lacks ${names.join(', ')}.`;
    const values = { names: names.join(', ') };
    // A program may attach a session later, and shows the element then.
    if (isUsed || this.checkVisibility()) this.#log(message);
    if (isUsed) this.#fail({ code: null, message, cause: NOT_SET_UP }, { key: 'lacking', values });
    else this.#showStatus('lacking', { values });
  }

  #attach(session, room, isNew = false) {
    this.#release();
    let mayHaveMissed = false;
    if (this.#room !== room || this.#chat === null) {
      this.#room = room;
      this.#startChat();
    } else if (isNew) {
      this.#messages.noteNewSession(() => this.#chat.handle({ kind: 'lost' }, Date.now()));
    } else if (this.#chat.timeline.messageCount > 0) {
      // A new connection gets no message that was sent while the user was away.
      mayHaveMissed = true;
    }
    const noteMissed = () => {
      if (mayHaveMissed) this.#chat.handle({ kind: 'lost' }, Date.now());
      mayHaveMissed = false;
    };
    if (session.connection) noteMissed();
    this.#session = session;
    this.#isRefusedAsReader = false;
    this.#listeners = {
      sessionConnected: () => {
        noteMissed();
        this.#showIdentity();
        this.#setState('connected');
      },
      sessionReconnecting: () => this.#setState('reconnecting'),
      sessionReconnected: () => this.#setState('connected'),
      sessionDisconnected: () => {
        if (this.#isAttached) this.#keepFocus(() => this.#setState('disconnected'));
      },
      connectionCreated: ({ connection }) => this.#names.note(connection),
      signal: ({ from }) => {
        if (from) this.#names.note(from);
      },
    };
    for (const [name, listener] of Object.entries(this.#listeners)) session.on(name, listener);
    this.#channel = new SessionChannel(session, (event) => {
      this.#customs.received?.(event);
      this.#chat.handle(event, Date.now());
    });
    this.#chat.channel = this.#customs.channel?.(this.#channel) ?? this.#channel;
    if (session.connection) {
      this.#showIdentity();
      this.#setState('connected');
    }
  }

  /** Stops listening to the session. */
  #release() {
    if (this.#session === null) return;
    for (const [name, listener] of Object.entries(this.#listeners)) this.#session.off(name, listener);
    this.#channel.stop();
    this.#chat.channel = null;
    this.#session = null;
    this.#composer.setEnabled(false);
  }

  #room = null;

  #ended({ reason, error, comesBack }) {
    const cause = causeOfEnd(reason, error);
    this.#setState('disconnected');
    this.#showStatus(cause, { mayRetry: mayTryAgainAfter(cause), comesBack });
  }

  /** The user reads the sentence for the cause, and the program and its developers get the error. */
  #fail(error, { comesBack = false, key, values } = {}) {
    const cause = error.cause ?? causeOfFailure(error, navigator.onLine);
    const text = error.isSilent ? SILENT_SERVER : `${error.message.replace(/[.\s]+$/, '')}.`;
    this.#setState('failed');
    this.#showStatus(key ?? cause, { mayRetry: mayTryAgainAfter(cause), comesBack, values });
    this.#log(text);
    this.#emit('signalbox-error', { code: error.code, message: text, cause });
  }

  /** Tells developers, once. */
  #log(text) {
    if (this.#logged.has(text)) return;
    this.#logged.add(text);
    console.error(`<signalbox-chat>: ${text}`);
  }

  // The language

  /** Shows all texts in the language of now, if that has changed. */
  #showWords({ isAnew = false } = {}) {
    const words = wordsFor(languageOf(this), this.#strings);
    if (!isAnew && words.language === this.#words.language) return;
    this.#words = words;
    this.#writeWords();
  }

  #writeWords() {
    const words = this.#words;
    const frame = this.#part('chat-frame');
    frame.lang = words.language;
    frame.dir = words.direction;
    writeWords(this.shadowRoot, words);
    for (const view of [this.#messages, this.#earlier, this.#composer, this.#typing]) view.words = words;
    if (this.#chat !== null) this.#showHistory();
    this.#writeStatus();
  }

  /** A text of the element in the language of now, for the page around it. */
  textOf(key, values = {}) {
    return this.#words.text(key, { server: this.#serverName, ...values });
  }

  /** The server as a user knows it: by its host. */
  get #serverName() {
    const server = this.server?.trim() || SignalboxChat.defaultServer;
    const address = signalingAddress(server ?? location.href, location.protocol);
    return address === null ? '' : new URL(address).host;
  }

  // The chat

  /**
   * For a page that shows more of its session. `nameOf(message)` and `factsOf(message)` return a text or null,
   * `channel(channel)` may wrap the channel of the chat, and `received(event)` sees each event of the channel first.
   */
  customize(customs) {
    this.#customs = customs;
  }

  /** The name to show for the sender of a message. */
  nameOf(message) {
    return this.#customs.nameOf?.(message) ?? this.#names.nameOf(message, {
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

  /** Shows the facts of the chosen message anew. */
  showFacts() {
    this.#messages.showFacts();
  }

  /** Shows a note above the messages, or with null none. */
  showNote(text) {
    this.#part('back-report').hidden = text === null;
    this.#part('back-report').textContent = text ?? '';
  }

  focus(options) {
    this.#composer.focus(options);
  }

  scrollToEnd() {
    this.#messages.scrollToEnd();
  }

  /** The element was shown or hidden, or the user has started or stopped to read. */
  noteReading() {
    if (this.#chat === null) return;
    const isHidden = this.ownerDocument.hidden;
    const isReading = !isHidden && this.isConnected && this.checkVisibility() && this.#messages.isPinned;
    this.#chat.isVisible = isReading;
    this.#messages.showUnread(this.unreadCount);
    if (isHidden) this.#chat.typing.leave();
    this.#messages.nameDays(Date.now());
    clearTimeout(this.#readTimer);
    // Wait, so that the user sees in the divider where the unread messages begin.
    if (isReading) this.#readTimer = setTimeout(() => this.#chat.markRead(), READ_MILLISECONDS);
  }

  #startChat() {
    this.#chat?.typing.stop();
    this.#messages.clear();
    this.#names = new NameBook();
    this.#drafts = new DraftStore(this.#customs.draftKey?.(this.#room) ?? `${this.id}.${this.#room}`);
    this.#makeChat();
    this.#showHistory();
    this.#composer.open(this.#chat, this.#earlyDraft ?? this.#drafts.text);
    if (this.#room !== null) this.#earlyDraft = null;
  }

  get #rule() {
    return this.look === 'opentok' ? OPENTOK_LOOK_RULE : BUBBLE_RULE;
  }

  #makeChat() {
    const chat = new TextChatComponent({
      wireForm: this.#wireForm,
      composer: new Composer({ maxLength: this.maxLength }),
      timeline: new ChatTimeline({
        rule: this.#rule,
        calendar: dayOf,
        limit: MAX_MESSAGES,
      }),
      typing: new ChatTyping({
        policy: this.#policy,
        isOptedOut: !this.isTypingShown,
        publish: (signal) => this.#channel?.send(signal) ?? Promise.resolve({}),
        changed: (snapshot) => this.#typing.show(snapshot),
      }),
      onMessageReadyToSend: (message) =>
        this.#channel !== null && this.#emit('signalbox-send', { message }, { cancelable: true }),
      // The chat of an earlier room may still get the answer to a message. The view is not its own any more.
      changed: (changes, activity) => {
        if (chat === this.#chat) this.#changed(changes, activity);
      },
    });
    chat.restore({ messages: [], draft: '', ownConnectionIds: this.#drafts.ownConnectionIds }, Date.now());
    this.#chat = chat;
    this.noteReading();
  }

  #changed(changes, activity) {
    if (changes.length > 0) this.#messages.apply(changes, { isLoaded: activity?.kind === 'historyChanged' });
    switch (activity?.kind) {
      case 'historyChanged':
        this.#showHistory();
        break;
      case 'connected':
      case 'reconnected':
        this.#drafts.ownConnectionIds = this.#chat.ownConnectionIds;
        this.#showHistory();
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
    const { hasEarlier, isLoadingEarlier, historyError } = this.#chat;
    this.#earlier.show({ hasEarlier, isLoading: isLoadingEarlier, hasFailed: historyError !== null });
    const isConnected = (this.#chat.channel?.connectionId ?? null) !== null;
    const isNothingKept = isConnected && !(this.#chat.channel.hasHistory ?? false);
    const key = hasEarlier === false
      ? this.#isReadOnly || !this.#canWrite ? 'noMessagesToRead' : 'noMessages'
      : isNothingKept ? 'fromNowOn' : null;
    this.#part('empty-text').textContent = key === null ? '' : this.#words.text(key);
  }

  #send() {
    this.#chat.send(Date.now(), newLocalId()).then(({ outcome, refusal }) => {
      // A message that failed holds back those behind it.
      this.#messages.showHeld();
      if (outcome === 'refused' && refusal.reason === 'byDelegate') this.#composer.showHint('notSent');
      this.#noteRole();
      this.#composer.show();
    });
    this.#messages.scrollToEnd();
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

  /** Whether the role of the user may not write. A session of OpenTok does not tell; there the first refusal does. */
  get #isReadOnly() {
    return this.#isRefusedAsReader || this.#session?.maySignal === false;
  }

  /** After a refusal because of the role, those behind the message would be refused, too: nothing waits for it. */
  #noteRole() {
    const isRefused = this.#chat.timeline.messages.some(({ failure }) => failure?.code === Code.permissionDenied);
    if (isRefused) this.#isRefusedAsReader = true;
    this.#composer.isReadOnly = this.#isReadOnly;
    if (isRefused) this.#chat.passFailed();
  }

  #showIdentity() {
    if (this.#chat === null) return;
    const own = this.#session?.connection;
    this.#chat.alias = this.alias || (own ? displayName(own) : null);
    if (this.senderId !== null) this.#chat.senderId = this.senderId;
  }

  get #canWrite() {
    return this.#state === 'connected' || this.#state === 'reconnecting';
  }

  #setState(state) {
    const isNew = this.#state !== state;
    this.#state = state;
    this.#part('offline-hint').hidden = state !== 'reconnecting';
    this.#composer.setEnabled(this.#canWrite);
    this.#composer.isReadOnly = this.#isReadOnly;
    this.#noteBegun(this.#hasBegun || (state !== 'disconnected' && state !== 'failed'));
    if (this.#chat !== null) this.#showHistory();
    if (state === 'connecting') this.#showStatus('connecting');
    else this.#showStatus(null);
    if (state === 'connected') {
      this.#returnFocus();
      this.#takeFocus();
    }
    if (isNew) this.#emit('signalbox-state', { state });
  }

  /**
   * Does something that may disable or hide the control with the focus. The browser would move the focus out of the
   * chat, and a user of the keyboard would start again at the beginning of the page. It goes to “Try again” instead, or
   * to the messages.
   */
  #keepFocus(act) {
    const before = this.shadowRoot.activeElement;
    act();
    if (before === null || (!before.disabled && !before.closest('[hidden]'))) return;
    const next = this.#retry.hidden ? this.#part('messages-scroll') : this.#retry;
    next.focus({ preventScroll: true });
    this.#focusMovedTo = next;
  }

  /** The user can write again, and has not chosen another control meanwhile. */
  #returnFocus() {
    const holder = this.#focusMovedTo;
    this.#focusMovedTo = null;
    if (holder !== null && this.shadowRoot.activeElement === holder) this.focus();
  }

  #noteBegun(hasBegun) {
    this.#hasBegun = hasBegun;
    this.#composer.isOver = hasBegun && (this.#state === 'failed' || this.#state === 'disconnected');
  }

  /** `autofocus`, as a built-in field has it: not if the user or the address of the page has chosen another place. */
  #takeFocus() {
    const { activeElement, body } = this.ownerDocument;
    const isFree = activeElement === null || activeElement === body;
    if (this.#awaitsFocus && isFree && this.ownerDocument.querySelector(':target') === null) this.focus();
    this.#awaitsFocus = false;
  }

  /** Shows the text with this key above the messages; null: none. `comesBack`: the chat tries again by itself. */
  #showStatus(key, { mayRetry = false, comesBack = false, values = {} } = {}) {
    this.#status = { key, mayRetry, comesBack, values };
    this.#writeStatus();
  }

  #writeStatus() {
    const { key, mayRetry, comesBack, values } = this.#status;
    const sentence = key === null ? '' : this.textOf(key, values);
    this.#statusLine.hidden = key === null;
    this.#statusLine.dataset.state = this.#state;
    this.#statusText.textContent = comesBack ? this.textOf('comesBack', { sentence: { text: sentence } }) : sentence;
    this.#retry.hidden = !mayRetry;
  }

  /** Returns false if a listener has refused it. */
  #emit(name, detail, options = {}) {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, ...options }));
  }
}

function wordsFor(language, own = null) {
  return new Words(language, CHAT_STRINGS, { own, preferred: navigator.languages });
}
