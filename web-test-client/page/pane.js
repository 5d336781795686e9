import { displayName } from '../text-chat/display-name.js';
import { STANDARD_RULE } from '../text-chat/timeline/grouping-rule.js';
import { NameBook } from '../text-chat/name-book.js';
import { readerCalendar } from '../text-chat/timeline/reader-calendar.js';
import { SessionChannel } from '../text-chat/session-channel.js';
import { TextChatComponent } from '../text-chat/text-chat-component.js';
import { ChatTimeline } from '../text-chat/timeline/chat-timeline.js';
import { CHAT_TYPE } from '../text-chat/wire/chat-wire-form.js';
import { TYPING_PRESETS } from '../text-chat/typing/typing-presets.js';
import { ChatTyping } from '../text-chat/typing/chat-typing.js';
import { ComposerView } from './composer-view.js';
import { instantiate } from './dom.js';
import { DraftStore } from './draft-store.js';
import { InspectorView } from './inspector-view.js';
import { MessagesView } from './messages-view.js';
import { OptionsStore } from './options-store.js';
import { OptionsView } from './options-view.js';
import { PeopleView } from './people-view.js';
import { TypingView } from './typing-view.js';

const STATUS = {
  connecting: 'Connecting…',
  connected: 'Connected',
  reconnecting: 'Reconnecting…',
  disconnected: 'Not connected',
};

const ENDINGS = {
  forceDisconnected: 'You were removed from this room.',
  networkDisconnected: 'The connection was lost. Messages are no longer received.',
};

/** Messages that stay on the page. */
const KEPT_MESSAGES = 2000;

/** So long the divider stays once the reader has seen what is below it. */
const READ_MILLISECONDS = 4000;

/** Who has come back to the page so short a time ago finds it trying once more by itself. */
const BACK_MILLISECONDS = 10_000;

/** Name and time stand on top of a group. */
const RULE = Object.freeze({ ...STANDARD_RULE, timePlace: 'first' });

const dayOf = readerCalendar();

/**
 * One end of a conversation: a connection, and all that is shown of it. The page may have several; they share nothing.
 *
 * `OT` is a library of its own, `cable` what its sockets go through. `access()` promises `{apiKey, sessionId, token, name, room}`,
 * anew for each connection. `joined()`, `left()`, `failed(message)` (before it was ever there) and `unread()` tell the page.
 */
export class Pane {
  #OT;
  #access;
  #tell;
  #suffix;
  #cable;
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
  /** It has given up coming back: the network was gone for too long, or the page was asleep. */
  #hasGivenUp = false;
  #backAt = -Infinity;
  #visibilityChanged = () => {
    this.#readingChanged();
    if (!document.hidden) this.#comeBack();
  };
  #online = () => this.#comeBack();

  constructor({ OT, cable, suffix = '', access, joined, left, failed, unread }) {
    this.#OT = OT;
    this.#access = access;
    this.#suffix = suffix;
    this.#tell = { joined, left, failed, unread };
    const { element, part } = instantiate('pane-template', suffix);
    this.element = element;
    this.#cable = cable;
    this.part = part;
    this.people = new PeopleView(part, (connection) => {
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
      cable,
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
    addEventListener('online', this.#online);
    OT.on('exception', (event) => this.inspector.note('bad', 'exception', `${event.code} ${event.message}`));
    this.#setStatus('disconnected');
    this.composer.setEnabled(false);
  }

  get unreadCount() {
    return this.#chat?.unreadCount ?? 0;
  }

  async enter() {
    this.#hasGivenUp = false;
    this.part('rejoin').disabled = true;
    this.#setStatus('connecting');
    try {
      this.#connect(await this.#access());
    } catch {
      this.#failed('The server did not hand out a token. Is it still running?');
    }
  }

  leave() {
    // One that has ended already says nothing more.
    if (this.part('status').dataset.state === 'disconnected') this.#tell.left();
    else this.#session?.disconnect();
  }

  /** Ends it for good. */
  remove() {
    document.removeEventListener('visibilitychange', this.#visibilityChanged);
    removeEventListener('online', this.#online);
    clearTimeout(this.#readTimer);
    // Somebody else may connect through it later.
    this.#cable.isUnplugged = false;
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
    const session = this.#OT.initSession(apiKey, sessionId);
    session.off();
    this.#session = session;
    this.#name = name;
    this.#room = room ?? sessionId;
    // Coming back to the same room continues the same conversation on the page.
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
      timeline: new ChatTimeline({ rule: RULE, calendar: dayOf, limit: KEPT_MESSAGES }),
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
        this.#tell.unread();
        break;
    }
    this.composer.show();
  }

  #send() {
    this.#chat.send(Date.now(), newLocalId()).then(() => {
      // Only now is it known what stands in the way of others.
      this.messages.showHeld();
      this.composer.show();
    });
    this.messages.scrollToEnd();
  }

  async #retry(localId) {
    const { outcome } = await this.#chat.retry(localId);
    if (outcome === 'refused') this.composer.say('Not connected. Join again to send it.');
    this.messages.showHeld();
  }

  #sendSignal(options, targetId) {
    const session = this.#session;
    const to = targetId ? session.connections.get(targetId) : undefined;
    this.inspector.note('out', options.type ? `signal:${options.type}` : 'signal', `to ${to ? displayName(to) : 'everybody'}${shown(options.data)}`);
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
        this.people.add(connection, { isMe, mayRemove: joined.capabilities.permittedTo('forceDisconnect') });
      },
      connectionDestroyed: ({ connection, reason }) => {
        inspector.note('in', 'connectionDestroyed', `${displayName(connection)} · ${reason}`);
        inspector.removeTarget(connection);
        this.people.remove(connection);
      },
      signal: (event) => {
        if (event.from) this.#names.note(event.from);
        inspector.note('in', event.type, `from ${event.from ? displayName(event.from) : 'the server'}${shown(event.data)}`);
      },
    });
  }

  #show(joined) {
    this.#hasJoined = true;
    this.people.clear();
    this.inspector.clearTargets();
    this.#setStatus('connected');
    this.part('notice').hidden = true;
    this.part('own-name').textContent = this.#name || displayName(joined.connection);
    this.composer.setEnabled(true);
    this.element.hidden = false;
    this.#tell.joined();
    this.#readingChanged();
    this.messages.scrollToEnd();
  }

  #left(reason) {
    this.#setStatus('disconnected');
    this.part('rejoin').disabled = false;
    this.people.clear();
    this.inspector.clearTargets();
    this.composer.setEnabled(false);
    if (reason === 'clientDisconnected') {
      this.#tell.left();
      return;
    }
    this.#showNotice(ENDINGS[reason] ?? `The connection ended (${reason}).`);
    this.part('rejoin').focus();
    this.#hasGivenUp = reason === 'networkDisconnected';
    if (performance.now() - this.#backAt < BACK_MILLISECONDS) this.#tryAgain();
  }

  /** Somebody is here again, or the network is. What slept may find only now that it was away for too long. */
  #comeBack() {
    this.#backAt = performance.now();
    this.#tryAgain();
  }

  #tryAgain() {
    if (!this.#hasGivenUp || document.hidden) return;
    // Once: after that it is the reader's to say.
    this.#backAt = -Infinity;
    this.enter();
  }

  #failed(message) {
    this.#setStatus('disconnected');
    this.part('rejoin').disabled = false;
    // A failed "Join again" leaves the conversation on the page; a failed first try leaves the form.
    if (this.#hasJoined && !this.element.hidden) this.#showNotice(message);
    else this.#tell.failed(message);
  }

  #showNotice(text) {
    this.part('notice-text').textContent = text;
    this.part('notice').hidden = false;
  }

  #setStatus(state) {
    this.options.setConnected(state === 'connected');
    this.part('status').dataset.state = state;
    this.part('status-text').textContent = STATUS[state];
    this.part('away').hidden = state !== 'reconnecting';
  }

  /** Somebody has begun to read along, or has stopped: looked away, or scrolled up. */
  #readingChanged() {
    if (!this.#chat) return;
    const isReading = !document.hidden && !this.element.hidden && this.messages.isPinned;
    this.#chat.isVisible = isReading;
    this.messages.showUnread(this.unreadCount);
    if (document.hidden) this.#chat.typing.leave();
    else this.messages.nameDays(Date.now());
    clearTimeout(this.#readTimer);
    // Not at once: the divider shows where to begin.
    if (isReading) this.#readTimer = setTimeout(() => this.#chat.markRead(), READ_MILLISECONDS);
  }

  #noteOutcome(request, error) {
    if (error) this.inspector.note('bad', `${request} refused`, `${error.code} ${error.name}: ${error.message}`);
    else this.inspector.note('good', `${request} acknowledged`, '');
  }
}

function shown(data) {
  return data === undefined ? '' : `: ${typeof data === 'string' ? data : JSON.stringify(data)}`;
}

function newLocalId() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
