import { signalingAddress } from '../client/server-address.js';
import { CHAT_TYPE, TYPING_PRESETS } from '../text-chat/index.js';
import { ChatAttributes, CREDENTIALS } from './chat-attributes.js';
import { JOIN_TIME } from './connection/connection-plan.js';
import { OwnSession } from './connection/own-session.js';
import { guardWindow } from './keys/key-guard.js';
import { ChatRoom } from './room/chat-room.js';
import { FocusKeeper } from './room/focus-keeper.js';
import { CHAT_STRINGS } from './strings/index.js';
import { useStyle } from './style/shared-style.js';
import { chatTemplate } from './views/chat-template.js';
import { isShown } from './views/sight.js';
import { StatusView } from './views/status-view.js';
import { BANNED, causeOfEnd, causeOfFailure, mayComeBack, NOT_SET_UP } from './words/causes.js';
import { languageOf, LanguageWatch } from './words/language.js';
import { restrictionText } from './words/restriction-words.js';
import { Words } from './words/words.js';
import { writeWords } from './words/write-words.js';

/** For developers. */
const SILENT_SERVER =
  `The server has not answered for ${JOIN_TIME / 1000} seconds. Check that it is running.`;

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

  #part;
  #room;
  #status;
  #focus;
  /** The session that the element makes from its attributes. */
  #own = new OwnSession({
    changing: (act) => this.#focus.keep(act),
    opening: (session, { sessionId, token, isQuiet }) => {
      this.#room.attach(session, sessionId, { token });
      if (!isQuiet) this.#setState('connecting');
    },
    closing: () => this.#room.release(),
    refreshed: (token) => this.#room.tokenChanged(token),
    lacking: ({ names, isUsed }) => this.#lacking(names, isUsed),
    failed: (error, { comesBack }) => this.#fail(error, { comesBack }),
    ended: (end) => this.#ended(end),
    idle: () => this.#setState('disconnected'),
  });
  /** Whether the session is one of the program's. */
  #isAttached = false;
  /** The program's texts. */
  #strings = null;
  /** Of now: those of the browser until the element is in a document. */
  #words = wordsFor(navigator.language);
  #language = new LanguageWatch(() => this.#showWords());
  /** The attributes are read soon, when the program has set them all. */
  #readsSoon = false;
  /** What the console has been told. */
  #logged = new Set();
  /** The API key when an attribute with it has changed last. */
  #lastKey = null;
  #state = 'disconnected';
  /** While the element is in a page: ends what it listens to there. */
  #visit = null;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    useStyle(root);
    root.append(chatTemplate());
    const part = (id) => root.getElementById(id);
    this.#part = part;
    this.#room = new ChatRoom(this, part, {
      words: this.#words,
      emit: (name, detail, options) => this.#emit(name, detail, options),
      stateChanged: (state) => this.#sessionChanged(state),
      focus: () => this.#focus,
    });
    this.#status = new StatusView(part, {
      textOf: (key, values) => this.textOf(key, values),
      textOfRestriction: (restriction) => this.textOfRestriction(restriction),
      retry: () => this.connect(),
    });
    this.#focus = new FocusKeeper(this, () => this.#status.retryButton ?? part('messages-scroll'));
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
    this.#focus.arrived({ canWrite: this.#room.canWrite });
    this.#language.begin(this);
    this.#showWords();
    this.ownerDocument.addEventListener('visibilitychange', () => this.noteReading(), { signal });
    defaultView.addEventListener('beforeprint', () => this.#room.messages.print(), { signal });
    defaultView.addEventListener('afterprint', () => this.#room.messages.printed(), { signal });
    // A frame that is removed, or a window that is closed, tells its elements nothing.
    if (defaultView !== window) {
      defaultView.addEventListener('pagehide', () => this.#own.handle({ is: 'removed' }), { signal });
    }
    this.#room.arrived();
    // A session that the program has attached stays until an attribute changes.
    if (!this.#isAttached) this.#readSoon();
  }

  disconnectedCallback() {
    this.#visit?.abort();
    this.#visit = null;
    this.#language.end();
    this.#room.departed();
    // Libraries that exchange a page, or sort a list, put an element back before their task ends.
    setTimeout(() => {
      if (!this.#isInPage && !this.#isAttached) this.#own.handle({ is: 'removed' });
    }, 0);
  }

  adoptedCallback() {
    useStyle(this.shadowRoot);
    this.#room.messages.adopted();
  }

  get #isInPage() {
    return this.#visit !== null;
  }

  attributeChangedCallback(name, before, after) {
    if (before === after) return;
    switch (name) {
      case 'max-length':
        this.#room.composer.setMaxLength(this.maxLength);
        break;
      case 'placeholder':
        this.#room.composer.placeholder = after;
        break;
      case 'api-key':
      case 'key':
        if (this.apiKey === this.#lastKey) return;
        this.#lastKey = this.apiKey;
        this.#readSoon();
        break;
      case 'look':
        this.#room.lookChanged();
        break;
      case 'alias':
      case 'sender-id':
        this.#room.showIdentity();
        break;
      case 'adapt':
        this.#room.adaptChanged();
        break;
      case 'emoji':
        this.#room.composer.hasEmoji = this.hasEmoji;
        break;
      case 'markup':
        this.#room.markupChanged();
        break;
      case 'typing':
        this.#room.typingChanged();
        break;
      case 'edits':
      case 'deletes':
      case 'replies':
      case 'reactions':
      case 'receipts':
        this.#room.messages.showMenus();
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
    return this.#room.policy;
  }

  set typingPolicy(policy) {
    this.#room.policy = policy ?? TYPING_PRESETS.standard;
  }

  /** The signal type of one's messages: `text-chat` or `TextChat`. */
  get wireForm() {
    return this.#room.wireForm;
  }

  set wireForm(type) {
    this.#room.wireForm = type ?? CHAT_TYPE;
  }

  /** What the user may react with, emoji or short texts; null: the element's six. */
  get reactionKeys() {
    return this.#room.reactions.keys;
  }

  set reactionKeys(keys) {
    this.#room.reactions.keys = keys ?? null;
  }

  // State

  /** `disconnected`, `connecting`, `connected`, `reconnecting` or `failed`. */
  get state() {
    return this.#state;
  }

  get unreadCount() {
    return this.#room.component?.unreadCount ?? 0;
  }

  /** The messages, as values: `{text, senderId, alias, sentAt, receivedAt, direction, state, …}`. */
  get messages() {
    return this.#room.component?.timeline.messages ?? [];
  }

  /** The text in the box. */
  get draft() {
    return this.#room.draft;
  }

  set draft(text) {
    this.#room.draft = text ?? '';
  }

  /** The `TextChatComponent` behind the element. */
  get component() {
    return this.#room.component;
  }

  // Connecting

  /** Connects anew with the attributes, also after a failure. */
  connect() {
    this.#focus.keep(() => {
      this.#leaveAttached();
      this.#own.handle({ is: 'connect', credentials: this.#credentials });
    });
  }

  /** Leaves the session. The messages and the draft stay. */
  disconnect() {
    this.#focus.keep(() => {
      this.#own.handle({ is: 'leave' });
      this.detach();
    });
  }

  /**
   * Chats in a session of the program's own library, which the program connects. `isNew`: the messages that are shown
   * belong to an earlier session of the same room; they stay, and a line tells so. Without it, another session starts
   * with no messages. `token` is the one with which the program connects it: by it the chat knows a guest who comes back.
   */
  attach(session, { room = session.sessionId ?? session.id, isNew = false, token = null } = {}) {
    this.#focus.keep(() => {
      this.#own.handle({ is: 'leave' });
      this.#readsSoon = false;
      this.#isAttached = true;
      this.#status.show(null);
      this.#room.noteBegun(false);
      this.#room.attach(session, room, { isNew, token });
    });
  }

  /** Stops the use of a session that `attach` began, without disconnecting it. */
  detach() {
    if (!this.#isAttached) return;
    this.#leaveAttached();
    this.#focus.keep(() => this.#setState('disconnected'));
  }

  #leaveAttached() {
    if (this.#isAttached) this.#room.release();
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
    if (isUsed || isShown(this)) this.#log(message);
    if (isUsed) this.#fail({ code: null, message, cause: NOT_SET_UP }, { key: 'lacking', values });
    else this.#status.show('lacking', { values });
  }

  /** What a session says of itself. How the element's own one ends, its plan says. */
  #sessionChanged(state) {
    if (state !== 'disconnected') this.#setState(state);
    else if (this.#isAttached) this.#focus.keep(() => this.#setState(state));
  }

  /** Of an end for good the program hears as of a failure: it may have another token. */
  #ended({ reason, error, restriction, comesBack }) {
    const cause = causeOfEnd(reason, error, restriction);
    this.#setState('disconnected');
    this.#showCause(cause, { comesBack, restriction });
    if (mayComeBack(cause)) return;
    const message = error?.message ?? `The server ended the connection: ${restriction?.kind ?? reason}.`;
    this.#tell({ code: error?.code ?? null, message, cause, restriction });
  }

  /** The user reads the sentence for the cause, and the program and its developers get the error. */
  #fail(error, { comesBack = false, key, values } = {}) {
    const cause = error.cause ?? causeOfFailure(error, navigator.onLine);
    const message = error.isSilent ? SILENT_SERVER : `${error.message.replace(/[.\s]+$/, '')}.`;
    this.#setState('failed');
    this.#showCause(cause, { comesBack, key, values, restriction: error.restriction });
    this.#log(message);
    this.#tell({ code: error.code, message, cause, restriction: error.restriction });
  }

  /** A ban that has ended is worth another attempt, and none that lasts. */
  #showCause(cause, { comesBack, key = cause, values, restriction = null }) {
    const ban = cause === BANNED ? restriction : null;
    const retryIn = ban?.until - this.#room.now;
    this.#status.show(key, { mayRetry: mayComeBack(cause), retryIn, comesBack, values, restriction: ban });
  }

  #tell({ restriction, ...error }) {
    this.#emit('signalbox-error', { ...error, ...(restriction ? { restriction } : {}) });
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
    this.#room.words = words;
    this.#status.write();
  }

  /** A text of the element in the language of now, for the page around it. */
  textOf(key, values = {}) {
    return this.#words.text(key, { server: this.#serverName, ...values });
  }

  /** Why a user cannot write or come in, for the page around the element. */
  textOfRestriction(restriction) {
    return restrictionText(this.#words, restriction, this.#room.now);
  }

  /** The server as a user knows it: by its host. */
  get #serverName() {
    const server = this.server?.trim() || SignalboxChat.defaultServer;
    const address = signalingAddress(server ?? location.href, location.protocol);
    return address === null ? '' : new URL(address).host;
  }

  // The chat

  /**
   * Shows messages in the page's way, and adds what the page can do: see `ChatCustoms` in `index.d.ts`. Members that are
   * not given stay as they are; null takes one away.
   */
  customize(customs) {
    this.#room.customize(customs);
  }

  /**
   * Sends a message of the program: `{text, data}`. Without a text it is the draft. Promises the outcome, as
   * `TextChatComponent.send` does.
   */
  send(content = {}) {
    if (this.#room.component === null) return Promise.resolve({ outcome: 'refused', refusal: { reason: 'notConnected' } });
    return this.#room.send(content);
  }

  /** The name to show for the sender of a message. */
  nameOf(message) {
    return this.#room.nameOf(message);
  }

  /**
   * Opens the menu of a person at a button of the page: `{user, connectionId, name}`. `items` are commands of
   * the page, `{text, act}`, before those of a moderator.
   */
  openPersonMenu(person, button, items = []) {
    this.#room.moderation.openPersonMenu(person, button, items);
  }

  /** Shows the facts of the chosen message anew. */
  showFacts() {
    this.#room.messages.showFacts();
  }

  /** Shows a note above the messages, or with null none. */
  showNote(text) {
    this.#part('back-report').hidden = text === null;
    this.#part('back-report').textContent = text ?? '';
  }

  focus(options) {
    this.#room.composer.focus(options);
  }

  scrollToEnd() {
    this.#room.messages.scrollToEnd();
  }

  /** The element was shown or hidden, or the user has started or stopped to read. */
  noteReading() {
    this.#room.noteReading();
  }

  #setState(state) {
    const isNew = this.#state !== state;
    this.#state = state;
    this.#status.state = state;
    this.#room.state = state;
    if (state === 'connecting') this.#status.show('connecting');
    else this.#status.show(null);
    if (state === 'connected') this.#focus.canWrite();
    if (isNew) this.#emit('signalbox-state', { state });
  }

  /** Returns false if a listener has refused it. */
  #emit(name, detail, options = {}) {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, ...options }));
  }
}

function wordsFor(language, own = null) {
  return new Words(language, CHAT_STRINGS, { own, preferred: navigator.languages });
}
