import { TypingIndicator } from './typing-indicator.js';
import { TYPING_PRESETS } from './typing-policy.js';

/**
 * Typing in one chat: what a `TextChatComponent` tells of itself goes in as activities, the effects of a `TypingIndicator` come
 * out. It alone knows which of them are keys, who is here, and when the connection is another. Pure; `now` is in ms of a clock
 * that nobody can set.
 *
 * `userOf(connection)` names the person behind a connection: people are put together by it, and called by it; null: somebody without
 * a name. By default the connection's data, unless that is empty.
 */
export class ChatTyping {
  #policy;
  #indicator;
  #userOf;
  // The connection that is up; null: none, or nobody knows what the others hear.
  #ownConnection = null;
  #isDoubtful = false;
  #isOptedOut;
  #blockedUsers;
  #text = '';
  #members = new Set();

  constructor({
    policy = TYPING_PRESETS.standard,
    isOptedOut = false,
    blockedUsers = [],
    userOf = ({ data }) => data || null,
  } = {}) {
    this.#policy = policy;
    this.#userOf = userOf;
    this.#isOptedOut = isOptedOut;
    this.#blockedUsers = [...blockedUsers];
    this.#indicator = new TypingIndicator({ policy, isConnected: false });
    this.#indicator.setOptedOut(isOptedOut, 0);
    this.#indicator.setBlocked(this.#blockedUsers, 0);
  }

  get policy() {
    return this.#policy;
  }

  get isOptedOut() {
    return this.#isOptedOut;
  }

  get blockedUsers() {
    return this.#blockedUsers;
  }

  /** Who types now; see `TypingRoster`. */
  get current() {
    return this.#indicator.current;
  }

  /** The number that the next message carries (TYP-5). */
  get typingN() {
    return this.#indicator.typingN;
  }

  get nextDeadline() {
    return this.#indicator.nextDeadline;
  }

  /** Takes an activity of the component. What says nothing about typing changes nothing. */
  take(activity, now) {
    const indicator = this.#indicator;
    switch (activity.kind) {
      case 'draftEdited':
        this.#text = activity.text;
        return indicator.textDidChange(activity.text, now);
      case 'draftSet':
      case 'restored':
        this.#text = activity.text;
        return indicator.textWasSet(activity.text, now);
      case 'messageSubmitted':
        this.#text = '';
        return indicator.messageSent(now);
      case 'messageReceived':
        return activity.from === null ? [] : indicator.receiveMessage(activity.from, activity.message.typingN ?? null, now);
      case 'otherSignal': {
        if (activity.isOwn) return [];
        const { type, data, from } = activity.signal;
        return indicator.receive({ type, data, from: from?.connectionId }, from ? this.#userOf(from) : null, now);
      }
      case 'noticed':
        // A channel that was connected before anybody listened. After a loss nobody knows what it is worth.
        if (this.#isDoubtful || activity.connectionId === this.#ownConnection) return [];
        return this.#connected(activity.connectionId, now);
      case 'connected':
        this.#members.clear();
        return this.#connected(activity.connectionId, now);
      case 'reconnecting':
        this.#isDoubtful = true;
        return this.#clear(now);
      case 'reconnected':
        return this.#connected(activity.connectionId, now);
      case 'disconnected':
        this.#isDoubtful = false;
        this.#members.clear();
        return this.#clear(now);
      case 'connectionCreated':
        this.#members.add(activity.connection.connectionId);
        return indicator.setMemberCount(this.#members.size, now);
      case 'connectionDestroyed': {
        const { connectionId } = activity.connection;
        this.#members.delete(connectionId);
        return [...indicator.connectionDestroyed(connectionId, now), ...indicator.setMemberCount(this.#members.size, now)];
      }
      default:
        return [];
    }
  }

  advance(now) {
    return this.#indicator.advance(now);
  }

  publishFailed(n, now) {
    return this.#indicator.publishFailed(n, now);
  }

  /** What the app says itself, as often as it likes: `begin`, `pause` or `finish`. Edits of the draft say it anyway. */
  send(action, now) {
    return this.#indicator.send(action, now);
  }

  /** The user has turned away from the room. */
  leave(now) {
    return this.#indicator.leave(now);
  }

  setOptedOut(isOptedOut, now) {
    this.#isOptedOut = isOptedOut;
    return this.#indicator.setOptedOut(isOptedOut, now);
  }

  /** Exactly these users are never shown; as `userOf` names them. */
  setBlockedUsers(users, now) {
    this.#blockedUsers = [...users];
    return this.#indicator.setBlocked(this.#blockedUsers, now);
  }

  /** Another behaviour from now on. Numbers go on (TYP-3); who is shown is forgotten, and comes back with the next signal. */
  setPolicy(policy, now) {
    const effects = this.#indicator.leave(now);
    const wasShown = this.#isShowing;
    this.#policy = policy;
    this.#indicator = new TypingIndicator({
      policy,
      ownConnection: this.#ownConnection,
      isConnected: this.#ownConnection !== null,
      startingAfter: this.#indicator.typingN,
    });
    this.#indicator.setOptedOut(this.#isOptedOut, now);
    this.#indicator.setBlocked(this.#blockedUsers, now);
    this.#indicator.textWasSet(this.#text, now);
    this.#indicator.setMemberCount(this.#members.size, now);
    return wasShown ? [...effects, { changed: this.#indicator.current }] : effects;
  }

  get #isShowing() {
    const { typingCount, pausedCount } = this.current;
    return typingCount + pausedCount > 0;
  }

  #connected(connectionId, now) {
    this.#isDoubtful = false;
    this.#ownConnection = connectionId;
    return this.#indicator.connected(connectionId, now);
  }

  // Nobody knows who types, and nobody can be told.
  #clear(now) {
    this.#ownConnection = null;
    return [...this.#indicator.connected(null, now), ...this.#indicator.disconnected(now)];
  }
}
