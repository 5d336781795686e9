import {
  CHAT_TYPE, ChatTimeline, ChatTyping, displayName, NameBook, newLocalId, readerCalendar, SessionChannel, STANDARD_RULE,
  TextChatComponent, TYPING_PRESETS,
} from '../text-chat/index.js';
import { AutomaticRejoin } from './automatic-rejoin.js';
import { ComposerView } from './composer-view.js';
import { instantiate } from './dom.js';
import { DraftStore } from './draft-store.js';
import { InspectorView } from './inspector-view.js';
import { MessagesView } from './messages-view.js';
import { OptionsStore } from './options-store.js';
import { OptionsView } from './options-view.js';
import { ParticipantsView } from './participants-view.js';
import { TypingView } from './typing-view.js';

const STATUS = {
  connecting: 'Connecting…',
  connected: 'Connected',
  reconnecting: 'Reconnecting…',
  disconnected: 'Not connected',
};

const ENDINGS = {
  forceDisconnected: 'You were removed from this room.',
  networkDisconnected: 'The connection was lost. You no longer receive messages.',
};

/** The most messages that the page keeps. */
const MAX_MESSAGES = 2000;

/** How long the divider stays once the user sees the messages below it. */
const READ_MILLISECONDS = 4000;

/** Name and time are shown at the top of a group. */
const RULE = Object.freeze({ ...STANDARD_RULE, timePosition: 'first' });

const dayOf = readerCalendar();

/**
 * One user of a room: a connection, and everything that the page shows of it. A page may have several panes; they share
 * nothing.
 *
 * `OT` is the library of this pane, and `network` the switch of its sockets. `access()` promises `{apiKey, sessionId,
 * token, name, room}`, anew for each connection. The pane calls `joined()`, `left()`, `failed(message)` (only before it
 * has ever joined) and `unread()`.
 */
export class Pane {
  #OT;
  #access;
  #callbacks;
  #suffix;
  #network;
  #name = null;
  #room = null;
  #hasJoined = false;
  #session = null;
  #channel = null;
  #chat = null;
  #drafts = null;
  #names = new NameBook();
  #policy = TYPING_PRESETS.standard;
  #isOptedOut = false;
  #wireForm = CHAT_TYPE;
  #readTimer = null;
  #automaticRejoin = new AutomaticRejoin(() => this.enter());
  #visibilityChanged = () => this.#readingChanged();

  constructor({ OT, network, suffix = '', access, joined, left, failed, unread }) {
    this.#OT = OT;
    this.#access = access;
    this.#suffix = suffix;
    this.#callbacks = { joined, left, failed, unread };
    const { element, part } = instantiate('pane-template', suffix);
    this.element = element;
    this.#network = network;
    this.part = part;
    this.participants = new ParticipantsView(part, (connection) => {
      this.#session.forceDisconnect(connection, (error) => this.#noteOutcome('forceDisconnect', error));
    });
    this.messages = new MessagesView(part, {
      nameOf: (message) => this.#names.nameOf(message),
      dayOf,
      retry: (localId) => this.#retry(localId),
      discard: (localId) => this.#chat.discard(localId),
      pass: () => this.#chat.passFailed(),
      isHeld: (localId) => this.#chat.obstacle !== null && localId !== this.#chat.obstacle,
      moved: () => this.#readingChanged(),
    });
    this.composer = new ComposerView(part, () => this.#send());
    this.typing = new TypingView(part, (connectionId) => this.#names.nameOf({ senderId: connectionId, alias: null }));
    this.inspector = new InspectorView(part, (options, targetId) => this.#sendSignal(options, targetId));
    this.options = new OptionsView(part, {
      network,
      store: new OptionsStore(suffix),
      policyChosen: (policy) => {
        this.#policy = policy;
        if (this.#chat) this.#chat.typing.policy = policy;
      },
      wireFormChosen: (wireForm) => {
        this.#wireForm = wireForm;
        if (this.#chat) this.#chat.wireForm = wireForm;
      },
      optedOut: (isOptedOut) => {
        this.#isOptedOut = isOptedOut;
        if (this.#chat) this.#chat.typing.isOptedOut = isOptedOut;
      },
    });
    part('rejoin').addEventListener('click', () => this.enter());
    document.addEventListener('visibilitychange', this.#visibilityChanged);
    OT.on('exception', (event) => this.inspector.note('bad', 'exception', `${event.code} ${event.message}`));
    this.#setStatus('disconnected');
    this.composer.setEnabled(false);
  }

  get unreadCount() {
    return this.#chat?.unreadCount ?? 0;
  }

  async enter() {
    this.#automaticRejoin.reset();
    this.part('rejoin').disabled = true;
    this.#setStatus('connecting');
    try {
      this.#connect(await this.#access());
    } catch {
      this.#failed('The server sent no token. Check that it is running.');
    }
  }

  leave() {
    // A session that has ended already emits no event.
    if (this.part('status').dataset.state === 'disconnected') this.#callbacks.left();
    else this.#session?.disconnect();
  }

  /** Disconnects, and removes the pane from the page. */
  remove() {
    document.removeEventListener('visibilitychange', this.#visibilityChanged);
    this.#automaticRejoin.stop();
    clearTimeout(this.#readTimer);
    // The next pane of this library uses the same switch.
    this.#network.isOffline = false;
    this.#chat?.typing.stop();
    this.#channel?.stop();
    this.#session?.off();
    this.#session?.disconnect();
    this.#OT.off('exception');
    this.element.remove();
  }

  #connect({ apiKey, sessionId, token, name, room }) {
    this.#session?.off();
    this.#channel?.stop();
    const previous = this.#session;
    const session = this.#OT.initSession(apiKey, sessionId, { connectionAwayEvents: true });
    session.off();
    this.#session = session;
    this.#name = name;
    this.#room = room ?? sessionId;
    // After a rejoin of the same room the chat continues.
    if (previous !== session || !this.#chat) this.#startChat();
    this.#listen(session);
    this.#channel = new SessionChannel(session, (event) => this.#chat.handle(event, Date.now()));
    this.#chat.channel = this.#channel;
    session.connect(token, (error) => {
      if (error) this.#failed(error.message);
    });
  }

  #startChat() {
    this.#chat?.typing.stop();
    this.messages.clear();
    this.#names = new NameBook();
    this.#drafts = new DraftStore(this.#room + this.#suffix);
    this.#chat = new TextChatComponent({
      wireForm: this.#wireForm,
      timeline: new ChatTimeline({ rule: RULE, calendar: dayOf, limit: MAX_MESSAGES }),
      typing: new ChatTyping({
        policy: this.#policy,
        isOptedOut: this.#isOptedOut,
        publish: (signal) => this.#channel.send(signal),
        changed: (snapshot) => this.typing.show(snapshot),
      }),
      changed: (changes, activity) => this.#changed(changes, activity),
    });
    this.#chat.restore({ messages: [], draft: this.#drafts.text }, Date.now());
    this.composer.chat = this.#chat;
  }

  #changed(changes, activity) {
    if (changes.length > 0) this.messages.apply(changes);
    switch (activity?.kind) {
      case 'draftEdited':
        this.#drafts.text = activity.text;
        break;
      case 'messageSubmitted':
        this.#drafts.text = '';
        this.#chat.markRead();
        break;
      case 'unread':
        this.messages.showUnread(activity.count);
        this.#callbacks.unread();
        break;
    }
    this.composer.show();
  }

  #send() {
    this.#chat.send(Date.now(), newLocalId()).then(() => {
      // A message that failed holds back those behind it.
      this.messages.showHeld();
      this.composer.show();
    });
    this.messages.scrollToEnd();
  }

  async #retry(localId) {
    const { outcome } = await this.#chat.retry(localId);
    if (outcome === 'refused') this.composer.showHint('You are not connected. Join again to send it.');
    this.messages.showHeld();
  }

  #sendSignal(options, targetId) {
    const session = this.#session;
    const to = targetId ? session.connections.get(targetId) : undefined;
    const name = options.type ? `signal:${options.type}` : 'signal';
    this.inspector.note('out', name, `to ${to ? displayName(to) : 'all'}${dataText(options.data)}`);
    session.signal(to ? { ...options, to } : options, (error) => this.#noteOutcome('signal', error));
  }

  #listen(joined) {
    const { inspector } = this;
    joined.on({
      sessionConnected: () => {
        inspector.note('good', 'sessionConnected', joined.connection.connectionId);
        this.#chat.alias = this.#name || displayName(joined.connection);
        this.#show(joined);
      },
      sessionDisconnected: (event) => {
        inspector.note('bad', 'sessionDisconnected', event.reason);
        this.#left(event.reason);
      },
      sessionReconnecting: () => {
        inspector.note('bad', 'sessionReconnecting', '');
        this.#setStatus('reconnecting');
      },
      sessionReconnected: ({ outcome }) => {
        inspector.note('good', 'sessionReconnected', outcome);
        this.#setStatus('connected');
      },
      sessionConnectFailed: (event) => inspector.note('bad', 'sessionConnectFailed', `${event.code} ${event.message}`),
      connectionCreated: ({ connection }) => {
        const isMe = connection.connectionId === joined.connection.connectionId;
        this.#names.note(connection);
        inspector.note('in', 'connectionCreated', `${displayName(connection)} · ${connection.connectionId}`);
        inspector.addTarget(connection, isMe);
        this.participants.add(connection, { isMe, mayRemove: joined.capabilities.permittedTo('forceDisconnect') });
      },
      connectionDestroyed: ({ connection, reason }) => {
        inspector.note('in', 'connectionDestroyed', `${displayName(connection)} · ${reason}`);
        inspector.removeTarget(connection);
        this.participants.remove(connection);
      },
      connectionAway: ({ connection }) => {
        inspector.note('in', 'connectionAway', `${displayName(connection)} · ${connection.connectionId}`);
        this.participants.setAway(connection, true);
      },
      connectionBack: ({ connection }) => {
        inspector.note('in', 'connectionBack', `${displayName(connection)} · ${connection.connectionId}`);
        this.participants.setAway(connection, false);
      },
      signal: (event) => {
        if (event.from) this.#names.note(event.from);
        const sender = event.from ? displayName(event.from) : 'the server';
        inspector.note('in', event.type, `from ${sender}${dataText(event.data)}`);
      },
    });
  }

  #show(joined) {
    this.#hasJoined = true;
    this.participants.clear();
    this.inspector.clearTargets();
    this.#setStatus('connected');
    this.part('notice').hidden = true;
    this.part('own-name').textContent = this.#name || displayName(joined.connection);
    this.composer.setEnabled(true);
    this.element.hidden = false;
    this.#callbacks.joined();
    this.#readingChanged();
    this.messages.scrollToEnd();
  }

  #left(reason) {
    this.#setStatus('disconnected');
    this.part('rejoin').disabled = false;
    this.participants.clear();
    this.inspector.clearTargets();
    this.composer.setEnabled(false);
    if (reason === 'clientDisconnected') {
      this.#callbacks.left();
      return;
    }
    this.#showNotice(ENDINGS[reason] ?? `The connection ended (${reason}).`);
    this.part('rejoin').focus();
    this.#automaticRejoin.ended({ wasLost: reason === 'networkDisconnected' });
  }

  #failed(message) {
    this.#setStatus('disconnected');
    this.part('rejoin').disabled = false;
    // After a failed "Join again" the chat stays on the page; after a failed first attempt the form stays.
    if (this.#hasJoined && !this.element.hidden) this.#showNotice(message);
    else this.#callbacks.failed(message);
  }

  #showNotice(text) {
    this.part('notice-text').textContent = text;
    this.part('notice').hidden = false;
  }

  #setStatus(state) {
    this.options.setConnected(state === 'connected');
    this.part('status').dataset.state = state;
    this.part('status-text').textContent = STATUS[state];
    this.part('offline-hint').hidden = state !== 'reconnecting';
  }

  /** The user has started or stopped reading: the page was shown or hidden, or the list was scrolled. */
  #readingChanged() {
    if (!this.#chat) return;
    const isReading = !document.hidden && !this.element.hidden && this.messages.isPinned;
    this.#chat.isVisible = isReading;
    this.messages.showUnread(this.unreadCount);
    if (document.hidden) this.#chat.typing.leave();
    else this.messages.nameDays(Date.now());
    clearTimeout(this.#readTimer);
    // Wait, so that the user sees in the divider where the unread messages begin.
    if (isReading) this.#readTimer = setTimeout(() => this.#chat.markRead(), READ_MILLISECONDS);
  }

  #noteOutcome(request, error) {
    if (error) this.inspector.note('bad', `${request} refused`, `${error.code} ${error.name}: ${error.message}`);
    else this.inspector.note('good', `${request} acknowledged`, '');
  }
}

function dataText(data) {
  return data === undefined ? '' : `: ${typeof data === 'string' ? data : JSON.stringify(data)}`;
}
