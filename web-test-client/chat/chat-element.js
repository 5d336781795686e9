import { createOT } from '../opentok/api/ot.js';
import { browserEnvironment } from '../opentok/browser.js';
import { signalingAddress } from '../opentok/client/server-address.js';
import {
  CHAT_TYPE, ChatTimeline, ChatTyping, Composer, displayName, NameBook, newLocalId, OPENTOK_RULE, readerCalendar,
  SessionChannel, STANDARD_RULE, TextChatComponent, TYPING_PRESETS,
} from '../text-chat/index.js';
import { ChatAttributes, CREDENTIALS } from './chat-attributes.js';
import { CHAT_STYLE } from './chat-style.js';
import { chatTemplate } from './chat-template.js';
import { ComposerView } from './composer-view.js';
import { DraftStore } from './draft-store.js';
import { EarlierView } from './earlier-view.js';
import { guardWindow } from './keys/key-guard.js';
import { FramePace } from './frame-pace.js';
import { MessagesView } from './messages-view.js';
import { TypingView } from './typing-view.js';

/** The most messages that the element keeps. */
const MAX_MESSAGES = 20_000;

/** A server that has not let the user in after this time counts as absent. */
const JOIN_MILLISECONDS = 8000;

/** How long the divider stays once the user sees the messages below it. */
const READ_MILLISECONDS = 4000;

/** Name and time are at the top of a group. */
const BUBBLE_RULE = Object.freeze({ ...STANDARD_RULE, timePosition: 'first' });
const OPENTOK_LOOK_RULE = Object.freeze({ ...OPENTOK_RULE, timePosition: 'first' });

const ENDINGS = {
  forceDisconnected: 'You were removed from this chat.',
  networkDisconnected: 'The connection was lost.',
};

const dayOf = readerCalendar();

/** The style sheet that all elements share. */
let style = null;

function sharedStyle() {
  if (style === null) {
    style = new CSSStyleSheet();
    style.replaceSync(CHAT_STYLE);
  }
  return style;
}

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
  /** Whether the session was made by the element, from its attributes. */
  #isOwnSession = false;
  /** A signal of another client rarely changes the box. */
  #composerPace = new FramePace(() => this.#composer.show());
  #listeners = null;
  #names = new NameBook();
  #drafts = null;
  /** The draft that a program has set before there was a room. */
  #earlyDraft = null;
  #customs = {};
  #policy = TYPING_PRESETS.standard;
  #wireForm = CHAT_TYPE;
  #hasWish = false;
  /** Attributes have changed since the element has used them. */
  #hasNewCredentials = false;
  /** The API key when an attribute with it has changed last. */
  #lastKey = null;
  #joinTimer = null;
  #readTimer = null;
  #state = 'disconnected';
  /** The control that got the focus when the one that had it was disabled or hidden. */
  #focusMovedTo = null;
  #visibilityChanged = () => this.noteReading();

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sharedStyle()];
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
    guardWindow(this.ownerDocument.defaultView ?? window);
    document.addEventListener('visibilitychange', this.#visibilityChanged);
    if (this.#chat === null) this.#startChat();
    if (this.#messages.isPinned) this.#messages.scrollToEnd();
    // An element that is only moved to another place still has its session.
    const needsSession = this.#session === null || this.#hasNewCredentials;
    if (needsSession) this.#wish();
  }

  disconnectedCallback() {
    document.removeEventListener('visibilitychange', this.#visibilityChanged);
    clearTimeout(this.#readTimer);
    this.#chat?.typing.leave();
    // An element that is only moved to another place is in the document again at once.
    queueMicrotask(() => {
      if (!this.isConnected && this.#isOwnSession) this.disconnect();
    });
  }

  attributeChangedCallback(name, before, after) {
    if (before === after) return;
    switch (name) {
      case 'max-length':
        this.#composer.setMaxLength(this.maxLength);
        break;
      case 'placeholder':
        this.#part('composer-text').placeholder = after ?? 'Send a message…';
        break;
      case 'api-key':
      case 'key':
        if (this.apiKey === this.#lastKey) return;
        this.#lastKey = this.apiKey;
        this.#credentialsChanged();
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
        this.#credentialsChanged();
    }
  }

  #credentialsChanged() {
    this.#hasNewCredentials = true;
    // A program sets several attributes one after the other: connect once, with all of them.
    if (this.isConnected) this.#wish();
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

  /** Connects with the attributes. Also after a failure. */
  connect() {
    this.#keepFocus(() => this.#connect());
  }

  #connect() {
    this.#hasWish = false;
    this.#hasNewCredentials = false;
    const [sessionId, apiKey, token] = [this.session, this.apiKey, this.token].map((value) => value?.trim());
    const server = this.#server;
    const needed = { session: sessionId, 'api-key': apiKey, token, server: server === null ? '' : 'given' };
    const missing = Object.keys(needed).filter((name) => !needed[name]);
    this.#endOwnSession();
    if (missing.length > 0) {
      this.#fail({ code: null, message: `The chat cannot connect: it lacks ${missing.join(', ')}.` });
      return;
    }
    if (server === undefined) {
      this.#fail({ code: null, message: `The server’s address is not valid: ${this.server}.` });
      return;
    }
    let session;
    try {
      // A library returns the same session for the same id, so each element has its own.
      const OT = createOT(browserEnvironment(), server);
      session = OT.initSession(apiKey, sessionId, { connectionAwayEvents: true });
    } catch (error) {
      this.#fail({ code: error.code ?? null, message: error.message });
      return;
    }
    this.#isOwnSession = true;
    this.#attach(session, sessionId);
    this.#setState('connecting');
    this.#joinTimer = setTimeout(() => {
      this.#endOwnSession();
      this.#fail({
        code: null,
        message: `The server has not answered for ${JOIN_MILLISECONDS / 1000} seconds. Check that it is running.`,
      });
    }, JOIN_MILLISECONDS);
    session.connect(token, (error) => {
      if (session !== this.#session) return;
      clearTimeout(this.#joinTimer);
      if (error) this.#fail({ code: error.code, message: `${error.message.replace(/[.\s]+$/, '')}.` });
    });
  }

  /** Leaves the session. The messages and the draft stay. */
  disconnect() {
    this.#keepFocus(() => {
      this.#endOwnSession();
      this.detach();
      this.#setState('disconnected');
    });
  }

  /**
   * Chats in a session of the program's own library, which the program connects. `isNew`: the messages that are shown
   * belong to an earlier session of the same room; they stay, and a line tells so. Without it, another session starts
   * with no messages.
   */
  attach(session, { room = session.sessionId ?? session.id, isNew = false } = {}) {
    this.#keepFocus(() => {
      this.#endOwnSession();
      this.#isOwnSession = false;
      this.#attach(session, room, isNew);
    });
  }

  #attach(session, room, isNew = false) {
    this.detach();
    if (this.#room !== room || this.#chat === null) {
      this.#room = room;
      this.#startChat();
    } else if (isNew) {
      this.#messages.noteNewSession(() => this.#chat.handle({ kind: 'lost' }, Date.now()));
    } else if (this.#chat.timeline.messageCount > 0) {
      // A new connection gets no message that was sent while the user was away.
      this.#chat.handle({ kind: 'lost' }, Date.now());
    }
    this.#session = session;
    this.#listeners = {
      sessionConnected: () => {
        this.#showIdentity();
        this.#setState('connected');
      },
      sessionReconnecting: () => this.#setState('reconnecting'),
      sessionReconnected: () => this.#setState('connected'),
      sessionDisconnected: ({ reason }) => this.#ended(reason),
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

  /** Ends the use of a session that `attach` began, without disconnecting it. */
  detach() {
    if (this.#session === null) return;
    for (const [name, listener] of Object.entries(this.#listeners)) this.#session.off(name, listener);
    this.#channel.stop();
    this.#chat.channel = null;
    this.#session = null;
    this.#composer.setEnabled(false);
  }

  #room = null;

  /** Undefined for an attribute that is no address; null if no server is known. */
  get #server() {
    const given = this.server?.trim();
    if (!given) return SignalboxChat.defaultServer;
    return signalingAddress(given, location.protocol) === null ? undefined : given;
  }

  /** Connects when the program has set all attributes. A server alone is no wish: frameworks get the others later. */
  #wish() {
    if (this.#hasWish) return;
    if (!this.#isOwnSession && !CREDENTIALS.some((name) => this.hasAttribute(name))) return;
    this.#hasWish = true;
    queueMicrotask(() => {
      if (this.#hasWish && this.isConnected) this.connect();
    });
  }

  #endOwnSession() {
    clearTimeout(this.#joinTimer);
    if (!this.#isOwnSession) return;
    const session = this.#session;
    this.detach();
    session?.disconnect();
    this.#isOwnSession = false;
  }

  #ended(reason) {
    this.#keepFocus(() => {
      this.#setState('disconnected');
      if (this.#isOwnSession) this.#showStatus(ENDINGS[reason] ?? 'The connection has ended.', true);
    });
  }

  #fail(error) {
    this.#keepFocus(() => {
      this.#setState('failed');
      this.#showStatus(error.message, true);
    });
    this.#emit('signalbox-error', error);
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

  focus() {
    this.#composer.focus();
  }

  scrollToEnd() {
    this.#messages.scrollToEnd();
  }

  /** The element was shown or hidden, or the user has started or stopped to read. */
  noteReading() {
    if (this.#chat === null) return;
    const isReading = !document.hidden && this.isConnected && this.checkVisibility() && this.#messages.isPinned;
    this.#chat.isVisible = isReading;
    this.#messages.showUnread(this.unreadCount);
    if (document.hidden) this.#chat.typing.leave();
    else this.#messages.nameDays(Date.now());
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
        ? 'No messages yet. Write the first one.'
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

  #setState(state) {
    clearTimeout(state === 'connecting' ? null : this.#joinTimer);
    this.#part('offline-hint').hidden = state !== 'reconnecting';
    this.#composer.setEnabled(state === 'connected' || state === 'reconnecting');
    if (state === 'connecting') this.#showStatus('Connecting…');
    else if (state === 'connected' || !this.#isOwnSession) this.#showStatus(null);
    if (state === 'connected') this.#returnFocus();
    if (this.#state === state) return;
    this.#state = state;
    this.#emit('signalbox-state', { state });
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
