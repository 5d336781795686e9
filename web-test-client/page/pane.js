import { defineChatOfPage } from './chat-element.js';
import { exactTime } from '../chat/views/dom.js';
import { LONGEST_WAIT } from '../chat/room/moderation.js';
import { BARE_TYPE, CHAT_TYPE, decodeSignal, displayName } from '../text-chat/index.js';
import { BANNED, causeOfEnd, causeOfFailedConnect, endOf, mayComeBack, NO_ANSWER } from '../chat/words/causes.js';
import { AutomaticRejoin } from './automatic-rejoin.js';
import { instantiate } from './dom.js';
import { entriesOf } from './inspector/frames.js';
import { InspectorView } from './inspector/inspector-view.js';
import { OptionsStore } from './options/options-store.js';
import { OptionsView } from './options/options-view.js';
import { ParticipantsView } from './participants/participants-view.js';
import { Reconnection } from './reconnection.js';

defineChatOfPage();

/** The most messages whose way the page remembers. */
const MAX_DELIVERIES = 20_000;

/** A server that has not let the user in after this time counts as absent. */
const JOIN_MILLISECONDS = 8000;

/** How long the page shows what a reconnection brought. */
const REPORT_MILLISECONDS = 15_000;

/**
 * One user of a room: a connection, a `<signalbox-chat>`, and everything else that the page shows of it. A page may have several panes; they share
 * only the names of their ends.
 *
 * `OT` is the library of this pane, and `network` the switch of its sockets. `hasTools`: the page shows what developers use. `access(signal)` promises `{apiKey,
 * sessionId, token, name, room, endName}`, anew for each connection, until the `AbortSignal` fires. `endName` is the
 * name of this end where its token does not distinguish it. The pane reports it with `nameEnd(connectionId, name)`;
 * `ends`, which the panes of a page share, maps connection ids to such names. `witness` is a `Witness`. The pane
 * calls `joined()`, `left()`, `failed(message)` (only before it has ever joined), `unread()` and
 * `offlineChanged(isOffline)`.
 */
export class Pane {
  #OT;
  #access;
  #callbacks;
  #suffix;
  #words;
  #network;
  #ends;
  #nameEnd;
  #witness;
  #endName = null;
  #attempt = null;
  #reconnection = new Reconnection();
  #reportTimer = null;
  /** Local id → {sentAt, acknowledgedAt}, of own messages. */
  #deliveries = new Map();
  #name = null;
  #room = null;
  #hasRoom = false;
  #hasJoined = false;
  #session = null;
  #token = null;
  #banTimer = null;
  #automaticRejoin = new AutomaticRejoin(() => this.enter());

  constructor({
    OT, network, words, hasTools, suffix = '', access, ends, nameEnd, witness, joined, left, failed, unread, offlineChanged = () => {},
  }) {
    this.#OT = OT;
    this.#access = access;
    this.#suffix = suffix;
    this.#words = words;
    this.#ends = ends;
    this.#nameEnd = nameEnd;
    this.#witness = witness;
    this.#callbacks = { joined, left, failed, unread };
    const { element, part } = instantiate('pane-template', suffix, words);
    this.element = element;
    this.#network = network;
    this.part = part;
    this.participants = new ParticipantsView(part, {
      words,
      openMenu: (person, button) => this.chat.openPersonMenu(person, button, [
        ...(hasTools ? [{ text: words.text('sendSignal'), act: () => this.inspector.composeTo(person.connectionId) }] : []),
        { text: words.text('mention', { name: person.name }), act: () => this.#mention(person.name) },
      ]),
    });
    this.chat = part('chat');
    this.chat.customize({
      nameOf: ({ senderId }) => this.#ends.get(senderId) ?? null,
      factsOf: (message) => this.#factsOf(message),
      channel: (channel) => this.#followed(channel),
      received: (event) => this.#received(event),
      draftKey: (room) => room + suffix,
    });
    this.chat.addEventListener('signalbox-unread', () => this.#callbacks.unread());
    this.inspector = new InspectorView(part, {
      send: (options, targetId) => this.#sendSignal(options, targetId),
      nameOf: (connectionId) => this.chat.nameOf({ senderId: connectionId, alias: null }),
    });
    network.watch = (direction, text) => this.#watched(direction, text);
    this.options = new OptionsView(part, {
      network,
      offlineChanged,
      store: new OptionsStore(suffix),
      policyChosen: (policy) => (this.chat.typingPolicy = policy),
      wireFormChosen: (wireForm) => (this.chat.wireForm = wireForm),
      optedOut: (isOptedOut) => (this.chat.isTypingShown = !isOptedOut),
      lookChosen: (look) => (this.chat.look = look),
      maxLengthChosen: (length) => (this.chat.maxLength = length),
    });
    part('cancel-rejoin').addEventListener('click', () => this.cancel());
    part('try-now').addEventListener('click', () => network.tryNow());
    part('rejoin').addEventListener('click', () => this.enter());
    OT.on('exception', (event) => this.inspector.note('bad', 'exception', `${event.code} ${event.message}`));
    this.#setStatus('disconnected');
  }

  get unreadCount() {
    return this.chat.unreadCount;
  }

  /** Joins. The user has waited for `waited` milliseconds already. */
  async enter(waited = 0) {
    this.#automaticRejoin.reset();
    this.#endAttempt();
    const attempt = new AbortController();
    this.#attempt = attempt;
    const timer = setTimeout(() => this.#giveUp(attempt), Math.max(1000, JOIN_MILLISECONDS - waited));
    attempt.signal.addEventListener('abort', () => clearTimeout(timer));
    this.#setStatus('connecting');
    try {
      const access = await this.#access(attempt.signal);
      if (attempt === this.#attempt) this.#connect(access, attempt);
    } catch {
      if (attempt === this.#attempt) this.#failed(this.chat.textOf('unreachable'));
    }
  }

  /** Ends the attempt to join, if there is one. */
  cancel() {
    if (this.#attempt === null) return;
    this.#endAttempt();
    this.#session?.disconnect();
    this.#setStatus('disconnected');
  }

  #giveUp(attempt) {
    if (attempt !== this.#attempt) return;
    this.cancel();
    this.#failed(this.chat.textOf(NO_ANSWER));
  }

  #endAttempt() {
    const attempt = this.#attempt;
    this.#attempt = null;
    attempt?.abort();
  }

  leave() {
    // A session that has ended already emits no event.
    if (this.part('status').dataset.state === 'disconnected') this.#callbacks.left();
    else this.#session?.disconnect();
  }

  /** An end of this page has a name of its own. */
  endNamed(connectionId, name) {
    this.participants.rename(connectionId, name);
  }

  /** Switches the network of this pane off or on. */
  setOffline(isOffline) {
    this.options.setOffline(isOffline);
  }

  /** Disconnects, and removes the pane from the page. */
  remove() {
    this.#automaticRejoin.stop();
    clearTimeout(this.#reportTimer);
    clearTimeout(this.#banTimer);
    this.#endAttempt();
    this.#witness.left();
    this.chat.component.typing.stop();
    this.chat.detach();
    this.#session?.off();
    this.#session?.disconnect();
    this.#network.watch = () => {};
    // The next pane of this library uses the same switch.
    this.#network.isOffline = false;
    this.#OT.off('exception');
    this.element.remove();
  }

  #connect({ apiKey, sessionId, token, name, room, endName = null }, attempt) {
    this.#endName = endName;
    this.#token = token;
    this.#session?.off();
    const previous = this.#session;
    const session = this.#OT.initSession(apiKey, sessionId, { connectionAwayEvents: true });
    session.off();
    this.#session = session;
    this.#name = name;
    this.#hasRoom = room !== undefined;
    const previousRoom = this.#room;
    this.#room = room ?? sessionId;
    if (previousRoom !== this.#room) this.#deliveries.clear();
    this.chat.alias = name || null;
    // After a rejoin of the same room the chat continues, also when the server has begun a new session for it.
    this.chat.attach(session, { room: this.#room, isNew: previous !== session, token });
    this.#listen(session);
    session.connect(token, (error) => {
      if (attempt !== this.#attempt) return;
      this.#endAttempt();
      if (!error) return;
      const cause = causeOfFailedConnect(error, navigator.onLine);
      this.#failed(this.#reasonOf(cause, error.restriction), cause);
    });
  }

  /** An event of the channel, before the chat handles it. */
  #received(event) {
    if (event.kind !== 'signal') return;
    const isMissed = event.from?.connectionId !== this.#session.connection?.connectionId && isChat(event.type);
    if (isMissed && this.#reconnection.received(event.seq)) this.#showReport();
    this.#witness.received(event);
  }

  /** The channel of the chat. It notes when each message was sent and acknowledged. */
  #followed(channel) {
    const send = (signal) => {
      const outcome = channel.send(signal);
      if (!isChat(signal.type)) return outcome;
      const delivery = { sentAt: Date.now(), acknowledgedAt: null };
      const message = decodeSignal({ ...signal, receivedAt: delivery.sentAt });
      if (message?.localId) this.#noteDelivery(message.localId, delivery);
      this.#witness.sent(signal, outcome);
      outcome.then(
        () => {
          delivery.acknowledgedAt = Date.now();
          this.chat.showFacts();
        },
        () => {},
      );
      return outcome;
    };
    return new Proxy(channel, {
      get(_, name) {
        if (name === 'send') return send;
        const value = channel[name];
        return typeof value === 'function' ? value.bind(channel) : value;
      },
    });
  }

  /** The user addresses somebody. */
  #mention(name) {
    const { draft } = this.chat;
    this.chat.draft = `${draft}${draft === '' || draft.endsWith(' ') ? '' : ' '}@${name} `;
    this.chat.focus();
  }

  #noteDelivery(localId, delivery) {
    this.#deliveries.set(localId, delivery);
    if (this.#deliveries.size > MAX_DELIVERIES) this.#deliveries.delete(this.#deliveries.keys().next().value);
  }

  /** What the page knows about a message's way, in one line, for developers; null for other users. */
  #factsOf({ direction, state, seq, localId, receivedAt }) {
    if (!this.inspector.isOpen) return null;
    const facts = [seq === null ? 'no seq yet' : `seq ${seq}`];
    if (direction === 'received') return [...facts, `received ${exactTime(receivedAt)}`].join(' · ');
    const { sentAt, acknowledgedAt } = this.#deliveries.get(localId) ?? {};
    if (acknowledgedAt) {
      facts.push(`acknowledged ${exactTime(acknowledgedAt)}, ${acknowledgedAt - sentAt} ms after sending`);
    } else {
      facts.push(state === 'sent' ? 'acknowledged' : 'not acknowledged');
    }
    return facts.join(' · ');
  }

  /** A message on the socket, before the library reads it. */
  #watched(direction, text) {
    const entries = entriesOf(direction, text, Date.now());
    this.inspector.frame(entries);
    if (direction !== 'in') return;
    for (const entry of entries) {
      this.#witness.frame(entry);
      if (entry.message?.ev !== 'connected') continue;
      this.#reconnection.entered(entry.message);
      if (this.#endName !== null) this.#nameEnd(entry.message.connection.connectionId, this.#endName);
    }
  }

  #sendSignal(options, targetId) {
    const session = this.#session;
    const to = targetId ? session.connections.get(targetId) : undefined;
    session.signal(to ? { ...options, to } : options, (error) => this.#noteRefusal('signal', error));
  }

  #listen(joined) {
    const { inspector } = this;
    joined.on({
      sessionConnected: () => {
        this.#show(joined);
      },
      sessionDisconnected: (event) => {
        inspector.note('bad', 'sessionDisconnected', event.reason);
        this.#left(event);
      },
      sessionReconnecting: () => {
        inspector.note('bad', 'sessionReconnecting', '');
        this.#reconnection.began(performance.now());
        this.#hideReport();
        this.#setStatus('reconnecting');
      },
      sessionReconnected: ({ outcome }) => {
        inspector.note('good', 'sessionReconnected', outcome);
        this.#reconnection.reconnected(outcome, performance.now());
        this.#showReport();
        this.#showEmpty();
        this.#setStatus('connected');
      },
      sessionConnectFailed: (event) => inspector.note('bad', 'sessionConnectFailed', `${event.code} ${event.message}`),
      connectionCreated: ({ connection }) => {
        const isMe = connection.connectionId === joined.connection.connectionId;
        inspector.addTarget(connection, isMe);
        this.participants.add(connection, {
          name: this.#ends.get(connection.connectionId) ?? this.#nameOf(connection),
          isMe,
        });
      },
      connectionDestroyed: ({ connection }) => {
        inspector.removeTarget(connection);
        this.participants.remove(connection);
      },
      connectionAway: ({ connection }) => this.participants.setAway(connection, true),
      connectionBack: ({ connection }) => this.participants.setAway(connection, false),
    });
  }

  #nameOf(connection) {
    return displayName(connection, (id) => this.chat.textOf('guest', { id: { text: id } }).trim());
  }

  #show(joined) {
    this.#hasJoined = true;
    this.participants.clear();
    this.inspector.clearTargets();
    this.#showEmpty();
    this.#setStatus('connected');
    this.part('notice').hidden = true;
    this.part('own-name').textContent = this.#nameOf({ ...joined.connection, data: this.#name || joined.connection.data });
    this.element.hidden = false;
    this.#callbacks.joined();
    this.chat.noteReading();
    this.chat.scrollToEnd();
  }

  #left({ reason, error, restriction }) {
    this.#setStatus('disconnected');
    this.#witness.left();
    this.#reconnection.ended();
    this.#hideReport();
    this.participants.clear();
    this.inspector.clearTargets();
    if (reason === 'clientDisconnected') {
      this.#callbacks.left();
      return;
    }
    // A server with rooms gives a new token to everybody who joins again.
    const given = { reason, error: this.#hasRoom ? null : error, restriction };
    const end = endOf(given, this.#token, this.#session.serverTime);
    const cause = causeOfEnd(end.reason, end.error, end.restriction);
    this.#showNotice(this.#reasonOf(cause, end.restriction), cause);
    this.#offerLater(cause === BANNED ? end.restriction?.until : undefined);
    // A user who was removed is not brought back by the next key.
    if (mayComeBack(cause)) this.part('rejoin').focus();
    this.#automaticRejoin.ended({ wasLost: cause === 'lost' });
  }

  /** Why there is no connection. A ban has more to tell. */
  #reasonOf(cause, restriction) {
    const isBan = cause === BANNED && (restriction ?? null) !== null;
    return isBan ? this.chat.textOfRestriction(restriction) : this.chat.textOf(cause);
  }

  #failed(message, cause = null) {
    this.#endAttempt();
    this.#setStatus('disconnected');
    // After a failed "Join again" the chat stays on the page; after a failed first attempt the form stays.
    if (this.#hasJoined && !this.element.hidden) this.#showNotice(message, cause);
    else this.#callbacks.failed(message, cause !== null && !mayComeBack(cause));
  }

  /** A user who was removed may come back; with what is refused for good, no button helps. */
  #showNotice(text, cause) {
    this.part('notice-text').textContent = text;
    this.part('rejoin').hidden = cause !== null && cause !== 'removed' && !mayComeBack(cause);
    this.part('notice').hidden = false;
  }

  /** A ban has an end. */
  #offerLater(time) {
    clearTimeout(this.#banTimer);
    const wait = time - this.#session.serverTime;
    if (wait <= LONGEST_WAIT) this.#banTimer = setTimeout(() => (this.part('rejoin').hidden = false), wait);
  }

  #setStatus(state) {
    this.options.setConnected(state === 'connected');
    this.part('status').dataset.state = state;
    this.part('status-text').textContent = this.#words.text(state);
    this.part('try-now').hidden = state !== 'reconnecting';
    const isJoining = state === 'connecting';
    this.part('rejoin').disabled = isJoining;
    this.part('cancel-rejoin').hidden = !isJoining;
  }

  /** What an empty list means: nobody has written, or the room forgets what was written before (HIS-8). */
  #showEmpty() {
    const isKept = this.#session.hasHistory;
    this.part('nobody-wrote').textContent = isKept ? this.#words.text('nobodyWrote') : this.chat.textOf('fromNowOn');
    this.part('write-first').hidden = !isKept || !this.#session.maySignal;
  }

  /** Shows what the reconnection brought, for a while. */
  #showReport() {
    this.tell(this.#reconnection.textIn(this.#words));
  }

  /** Shows a sentence above the messages, for a while. */
  tell(text) {
    this.chat.showNote(text);
    clearTimeout(this.#reportTimer);
    this.#reportTimer = setTimeout(() => this.#hideReport(), REPORT_MILLISECONDS);
  }

  #hideReport() {
    this.chat.showNote(null);
  }

  /** The socket shows acknowledgements. A request that the library refuses by itself is not on the socket. */
  #noteRefusal(request, error) {
    if (error) this.inspector.note('bad', `${request} refused`, `${error.code} ${error.name}: ${error.message}`);
  }
}

function isChat(type) {
  return type === CHAT_TYPE || type === BARE_TYPE;
}
