import { CHAT_TYPE, displayName, TYPING_PRESETS } from '../../text-chat/index.js';
import { ComposerView } from '../views/composer-view.js';
import { windowOf } from '../views/dom.js';
import { EarlierView } from '../views/earlier-view.js';
import { FramePace } from '../views/frame-pace.js';
import { MessagesView } from '../views/messages-view.js';
import { textNodes } from '../views/row-elements.js';
import { RowPlaces } from '../views/row-places.js';
import { TypingView } from '../views/typing-view.js';
import { ChangesControl } from '../changes/changes-control.js';
import { ReactionsControl } from '../reactions/reactions-control.js';
import { MoreControl } from './more-control.js';
import { DraftStore } from './draft-store.js';
import { Moderation } from './moderation.js';
import { Outbox } from './outbox.js';
import { PageCustoms } from './page-customs.js';
import { personOf } from '../connection/person.js';
import { ReadingWatch } from './reading-watch.js';
import { dayOf, makeRoomChat, MAX_MESSAGES, ruleOf } from './room-chat.js';
import { RestrictionWatch } from './restriction-watch.js';
import { SenderNames } from './sender-names.js';
import { SendingControl } from './sending-control.js';
import { SessionLink } from './session-link.js';

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
  #restriction;
  #changes;
  #messages;
  #earlier;
  #more;
  #composer;
  #typing;
  /** A signal of another client rarely changes the box. */
  #composerPace = new FramePace(() => this.#composer.show(), () => windowOf(this.#host));
  /** Senders may change what others are called as often as they may write. */
  #namePace = new FramePace(() => this.#showNames(), () => windowOf(this.#host));
  #names;
  #sending;
  #id = null;
  /** Whose chat it is, as a key of `personOf`; null: not known yet. */
  #person = null;
  /** The server has told it. */
  #isPersonSure = false;
  #chat = null;
  #link = new SessionLink();
  #drafts = null;
  #outbox = null;
  /** The draft that a program has set before there was a room. */
  #earlyDraft = null;
  #customs;
  #policy = TYPING_PRESETS.standard;
  #wireForm = CHAT_TYPE;
  #state = 'disconnected';
  /** The chat was connected, or tried to be, in the session of now. */
  #hasBegun = false;
  #reading;

  /**
   * `host` is the element. `emit(name, detail, options)` sends an event, and returns false if a listener refuses it.
   * `stateChanged(state)` is called with what the session says. `focus()` is the `FocusKeeper` of the element.
   */
  constructor(host, part, { words, emit, stateChanged, focus }) {
    this.#host = host;
    this.#part = part;
    this.#words = words;
    this.#emit = emit;
    this.#customs = new PageCustoms(emit);
    this.#stateChanged = stateChanged;
    this.#focus = focus;
    /** What a moderator may do here. */
    this.moderation = new Moderation(part, {
      words,
      nameOfUser: ({ user, senderId }) => {
        return user === null ? this.nameOf({ senderId, alias: null }) : this.#chat.names.nameOfUser(user);
      },
      tell: (text) => this.#composer.showHint({ text }),
      now: () => this.now,
      strings: () => host.strings,
      loaded: () => this.#messages.showMenus(),
    });
    const shared = {
      host, part, words: () => this.#words, chat: () => this.#chat, customs: this.#customs,
      messages: () => this.#messages,
      composer: () => this.#composer,
      moderation: () => this.moderation,
      reactions: () => this.reactions,
      mayChange: () => this.canWrite && !this.#restriction.isReadOnly && this.#chat.restriction === null,
      nameOf: (message) => this.nameOf(message),
      avatarOf: (message) => this.#customs.given.avatarOf?.(message) ?? null,
    };
    this.#names = new SenderNames({ ...shared, changed: () => this.#namePace.request(1) });
    this.#sending = new SendingControl({ ...shared, restriction: () => this.#restriction, now: () => this.now });
    this.#changes = new ChangesControl(shared);
    this.reactions = new ReactionsControl(shared);
    this.#messages = new MessagesView(part, {
      ...this.#names.calls,
      hasMenu: (message) =>
        !message.isErased || this.moderation.hasMenu(message) || this.#customs.actionsOf(message).length > 0,
      openMenu: (row, name, button) => this.#changes.openMenu(row, name, button),
      changes: this.#changes,
      reactions: this.reactions,
      avatarOf: shared.avatarOf,
      nodesFor: (message) => this.#more.nodesFor(message),
      places: new RowPlaces(host, (message) => this.#customs.given.renderMessage?.(message)),
      words,
      limit: MAX_MESSAGES,
      factsOf: (message) => this.#customs.given.factsOf?.(message) ?? this.#changes.factsOf(message),
      dayOf,
      ...this.#sending.calls,
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
      takes: (event) => this.#changes.loaded?.takes(event) ?? false,
      takeFiles: (files) => this.canWrite && this.#more.take(files),
    });
    this.#more = new MoreControl(part, {
      words,
      customs: () => this.#customs.given,
      hasMarkup: () => host.hasMarkup,
      strings: () => host.strings,
      linkify: textNodes,
      send: (content) => this.send(content),
      tell: (text) => this.#composer.showHint({ text }),
      loaded: () => this.#messages.showContents(),
    });
    this.#typing = new TypingView(part, {
      words,
      nameOf: (connectionId) => this.#names.typingNameOf({ senderId: connectionId, alias: null }),
      isPair: () => this.#link.session?.connections.length() === 2,
    });
    this.#composer.setEnabled(false);
    this.#composer.hasEmoji = true;
    this.#reading = new ReadingWatch(host, this.#messages, { chat: () => this.#chat, now: () => this.now });
    this.#restriction = new RestrictionWatch({
      chat: () => this.#chat,
      session: () => this.#link.session,
      now: () => this.now,
      words: () => this.#words,
      canWrite: () => this.canWrite,
      show: (sentence) => this.#focus().keep(() => (this.#composer.restriction = sentence)),
      ended: () => this.#focus().canWrite(),
    });
  }

  // What the element passes on

  /** The time by the server's clock. */
  get now() {
    return this.#link.now;
  }

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
    this.#customs.change(customs);
    this.#more.customized();
    if (this.#chat === null) return;
    this.#messages.showContents();
    this.#messages.showMenus();
    this.#showNames();
  }

  /** Shows all texts in another language. */
  set words(words) {
    this.#words = words;
    const views = [
      this.#changes, this.reactions, this.#messages, this.#earlier, this.#composer, this.#more, this.#typing,
      this.moderation,
    ];
    for (const view of views) view.words = words;
    this.#restriction.show();
    this.#showHistory();
  }

  /** The look of the element has changed. The chat itself goes on, with its queue, its gaps and its typing. */
  lookChanged() {
    this.#composer.showsCounter = this.#host.look === 'opentok';
    this.#chat?.useRule(ruleOf(this.#host));
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
    this.#messages.arrived();
    this.noteReading();
    this.#restriction.check();
  }

  /** The element has left its page. */
  departed() {
    this.#reading.stop();
    this.#restriction.stop();
    // Without the document there is no timer either.
    this.#messages.nameDays(this.now);
    this.#chat?.typing.leave();
  }

  /** The element was shown or hidden, or the user has started or stopped to read. */
  noteReading() {
    this.#reading.note();
  }

  // The session

  /** Chats in this session. `isNew`: it is another one of the same room. `token` is the one of its connection, or null. */
  attach(session, id, { isNew = false, token = null } = {}) {
    this.release();
    let mayHaveMissed = false;
    const person = personOf(token);
    const isOther = person !== null && person !== this.#person;
    if (this.#id !== id || isOther || this.#chat === null) {
      this.#id = id;
      this.#person = person;
      this.#isPersonSure = false;
      this.#startChat();
    } else if (isNew) {
      this.#messages.noteNewSession(() => this.#chat.handle({ kind: 'lost' }, this.now));
    } else if (this.#chat.timeline.messageCount > 0) {
      // A new connection gets no message that was sent while the user was away.
      mayHaveMissed = true;
    }
    const connected = () => {
      this.#identify(personOf(token, session.connection));
      this.showIdentity();
      this.moderation.connected();
      this.#messages.showMenus();
      this.#stateChanged('connected');
    };
    const noteMissed = () => {
      if (mayHaveMissed) this.#chat.handle({ kind: 'lost' }, this.now);
      mayHaveMissed = false;
    };
    if (session.connection) noteMissed();
    this.#restriction.begin();
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
        this.#customs.given.received?.(event);
        this.#reading.look();
        this.#chat.handle(event, this.now);
        this.#names.look();
      },
      wrap: (channel) => this.#customs.given.channel?.(channel),
    });
    if (session.connection) connected();
  }

  /** The server has told who it is. A chat of somebody else gives way to an empty one. */
  #identify(person) {
    const { draft } = this;
    const wasSure = this.#isPersonSure;
    this.#isPersonSure = true;
    if (person === this.#person) return;
    this.#person = person;
    const { channel } = this.#chat;
    this.#chat.channel = null;
    this.#startChat();
    // Of the same token, or by a program that has set it before anybody was known.
    if (!wasSure && draft !== '') this.#composer.write(draft);
    this.#chat.channel = channel;
  }

  /** The server has accepted a newer token for the connection. */
  tokenChanged(token) {
    const person = personOf(token, this.#link.session?.connection);
    if (person === this.#person || this.#link.session === null) return;
    this.#person = person;
    this.#drafts.rename(person);
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
    this.#composer.isReadOnly = this.#restriction.isReadOnly;
    this.#restriction.check();
    this.#messages.showMenus();
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

  // The chat

  #showNames() {
    this.#messages.showNames();
    this.reactions.renamed();
  }

  /** The name to show for the sender of a message. */
  nameOf(message) {
    return this.#names.nameOf(message);
  }

  #startChat() {
    this.#chat?.typing.stop();
    const hadUnread = this.#chat !== null && this.#chat.unreadCount > 0;
    this.#messages.clear();
    this.#changes.loaded?.clear();
    this.#drafts = new DraftStore(this.#customs.given.draftKey?.(this.#id) ?? `${this.#host.id}.${this.#id}`, this.#person);
    this.#outbox?.leave();
    this.#makeChat();
    this.#outbox = new Outbox(this.#chat, {
      room: this.#id, person: this.#person, isInPage: () => this.#host.isConnected, now: () => this.now,
    });
    this.#showHistory();
    this.#composer.open(this.#chat, this.#earlyDraft ?? this.#drafts.text);
    if (this.#id !== null) this.#earlyDraft = null;
    if (hadUnread) this.#emit('signalbox-unread', { count: 0 });
  }

  #makeChat() {
    const chat = makeRoomChat(this.#host, {
      wireForm: this.#wireForm,
      policy: this.#policy,
      publish: (signal) => this.#link.channel?.send(signal) ?? Promise.resolve({}),
      typingChanged: (snapshot) => this.#typing.show(snapshot),
      maySend: (message) =>
        this.#link.channel !== null && this.#customs.maySend(message, this.#more.dataFor(message.text, message.data)),
      handOver: (localId) => this.#outbox.handOver(localId),
      // The chat of an earlier room may still get the answer to a message. The view is not its own any more.
      changed: (changes, activity) => {
        if (chat === this.#chat) this.#changed(changes, activity);
      },
    });
    chat.restore({ messages: [], draft: '', ownConnectionIds: this.#drafts.ownConnectionIds }, this.now);
    this.#chat = chat;
    this.noteReading();
  }

  #changed(changes, activity) {
    this.#outbox?.note();
    if (changes.length > 0) this.#messages.apply(changes, { isLoaded: activity?.kind === 'historyChanged' });
    this.#names.look();
    this.#changes.loaded?.changed(changes);
    switch (activity?.kind) {
      case 'historyChanged':
        this.#showHistory();
        // What was there before may be unread.
        if (changes.length > 0) this.#reading.note();
        break;
      case 'connected':
      case 'reconnected':
        this.#drafts.ownConnectionIds = this.#chat.ownConnectionIds;
        this.#showHistory();
        break;
      case 'restrictionChanged':
        this.#restriction.show();
        this.#messages.showMenus();
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
        this.#reading.noteUnread();
        this.#emit('signalbox-unread', { count: activity.count });
        return;
    }
    if (activity?.kind === 'messageReceived' || activity?.kind === 'otherSignal') this.#composerPace.request(1);
    else this.#composer.show();
  }

  /** Shows whether there are earlier messages, and what it means that there are none. */
  #showHistory() {
    if (this.#chat === null) return;
    this.#earlier.show({ chat: this.#chat, mayWrite: this.canWrite && !this.#restriction.isReadOnly });
  }

  /** Sends the draft, or the content of the page, and promises the outcome. */
  send(content) {
    return this.#sending.send(content);
  }
}
