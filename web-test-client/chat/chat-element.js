import {
  CHAT_TYPE, ChatTimeline, ChatTyping, Composer, displayName, NameBook, newLocalId, OPENTOK_RULE, readerCalendar,
  SessionChannel, STANDARD_RULE, TextChatComponent, TYPING_PRESETS,
} from '../text-chat/index.js';
import { ChatAttributes, CREDENTIALS } from './chat-attributes.js';
import { chatTemplate } from './chat-template.js';
import { ComposerView } from './composer-view.js';
import { JOIN_TIME } from './connection/connection-plan.js';
import { OwnSession } from './connection/own-session.js';
import { windowOf } from './dom.js';
import { DraftStore } from './draft-store.js';
import { EarlierView } from './earlier-view.js';
import { FramePace } from './frame-pace.js';
import { guardWindow } from './keys/key-guard.js';
import { MessagesView } from './messages-view.js';
import { useStyle } from './shared-style.js';
import { TypingView } from './typing-view.js';

/** The most messages that the element keeps. */
const MAX_MESSAGES = 20_000;

/** How long the divider stays once the user sees the messages below it. */
const READ_MILLISECONDS = 4000;

/** Name and time are at the top of a group. */
const BUBBLE_RULE = Object.freeze({ ...STANDARD_RULE, timePosition: 'first' });
const OPENTOK_LOOK_RULE = Object.freeze({ ...OPENTOK_RULE, timePosition: 'first' });

const ENDINGS = {
  forceDisconnected: 'You were removed from this chat.',
  networkDisconnected: 'The connection was lost.',
};

const COMES_BACK = 'The chat tries again by itself.';

const SILENT_SERVER =
  `The server has not answered for ${JOIN_TIME / 1000} seconds. Check that it is running.`;

const BLOCKED = 'This page does not allow the chat to connect. Tell the people who run the page.';

const lackText = (names) => `This chat is not set up yet: it lacks ${names.join(', ')}.`;

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
    ended: ({ reason, comesBack }) => this.#ended(reason, comesBack),
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
      limit: MAX_MESSAGES,
      factsOf: (message) => this.#customs.factsOf?.(message) ?? factsOf(message),
      dayOf,
      retry: (localId) => this.#retryMessage(localId),
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
    this.#earlier = new EarlierView(part, () => this.#chat.loadEarlier());
    this.#composer = new ComposerView(part, {
      send: () => this.#send(),
      edited: (text) => {
        this.#drafts.text = text;
      },
    });
    this.#typing = new TypingView(part, {
      nameOf: (connectionId) => this.nameOf({ senderId: connectionId, alias: null }),
      isPair: () => this.#session?.connections.length() === 2,
    });
    this.#composer.setEnabled(false);
  }

  connectedCallback() {
    this.adoptProperties();
    const { defaultView } = this.ownerDocument;
    // Such as a document that a parser has made: nobody sees the chat there, and it waits.
    if (defaultView === null) return;
    this.#visit = new AbortController();
    const { signal } = this.#visit;
    guardWindow(defaultView);
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
        this.#composer.placeholder = after ?? 'Send a message…';
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
    const text = lackText(names);
    // A program may attach a session later, and shows the element then.
    if (isUsed || this.checkVisibility()) this.#log(text);
    if (isUsed) this.#fail({ code: null, message: text, isOfPage: true });
    else this.#showStatus(text);
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

  #ended(reason, comesBack) {
    this.#setState('disconnected');
    this.#showProblem(ENDINGS[reason] ?? 'The connection has ended.', { comesBack });
  }

  /** `isOfPage`: only the page can mend it. */
  #fail({ code, message, isSilent = false, isBlocked = false, isOfPage = isBlocked }, { comesBack = false } = {}) {
    const text = isSilent ? SILENT_SERVER : `${message.replace(/[.\s]+$/, '')}.`;
    this.#setState('failed');
    this.#showProblem(isBlocked ? BLOCKED : text, { comesBack, mayRetry: !isOfPage });
    this.#log(text);
    this.#emit('signalbox-error', { code, message: text });
  }

  #showProblem(text, { comesBack, mayRetry = true }) {
    this.#showStatus(comesBack ? `${text} ${COMES_BACK}` : text, mayRetry);
  }

  /** Tells developers, once. */
  #log(text) {
    if (this.#logged.has(text)) return;
    this.#logged.add(text);
    console.error(`<signalbox-chat>: ${text}`);
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
    return this.#customs.nameOf?.(message) ?? this.#names.nameOf(message);
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
    this.#part('empty-text').textContent =
      hasEarlier === false
        ? `No messages yet.${this.#canWrite ? ' Write the first one.' : ''}`
        : isNothingKept ? 'You see messages from now on.' : '';
  }

  #send() {
    this.#chat.send(Date.now(), newLocalId()).then(({ outcome, refusal }) => {
      // A message that failed holds back those behind it.
      this.#messages.showHeld();
      if (outcome === 'refused' && refusal.reason === 'byDelegate') this.#composer.showHint('Not sent.');
      this.#composer.show();
    });
    this.#messages.scrollToEnd();
  }

  async #retryMessage(localId) {
    const { outcome } = await this.#chat.retry(localId);
    if (outcome === 'refused') this.#composer.showHint('You are not connected. Join again to send it.');
    this.#messages.showHeld();
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
    if (this.#chat !== null) this.#showHistory();
    if (state === 'connecting') this.#showStatus('Connecting…');
    else this.#showStatus(null);
    if (state === 'connected') this.#returnFocus();
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

  #showStatus(text, mayRetry = false) {
    this.#statusLine.hidden = text === null;
    this.#statusLine.dataset.state = this.#state;
    this.#statusText.textContent = text ?? '';
    this.#retry.hidden = !mayRetry;
  }

  /** Returns false if a listener has refused it. */
  #emit(name, detail, options = {}) {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, ...options }));
  }
}

function factsOf({ direction, seq }) {
  return [seq === null ? 'no seq yet' : `seq ${seq}`, direction].join(' · ');
}
