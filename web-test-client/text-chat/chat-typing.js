import { TypingIndicator } from './typing-indicator.js';
import { TYPING_PRESETS } from './typing-policy.js';

/**
 * Typing in one chat: what a `TextChatComponent` tells of itself goes in as activities, the effects of a `TypingIndicator` come
 * out. It alone knows which of them are keys, who is here, and when the connection is another. Pure; `now` is in ms of a clock
 * that nobody can set.
 *
 * `userOf(connection)` names the person behind a connection, so that one who is here twice is shown once; null: nobody knows.
 */
export class ChatTyping {
  #policy;
  #indicator;
  #userOf;
  #ownConnection = null;
  #isConnected = false;
  #isOptedOut = false;
  #members = new Set();

  constructor({ policy = TYPING_PRESETS.standard, isOptedOut = false, userOf = () => null } = {}) {
    this.#policy = policy;
    this.#userOf = userOf;
    this.#isOptedOut = isOptedOut;
    this.#indicator = new TypingIndicator({ policy, isConnected: false });
    this.#indicator.setOptedOut(isOptedOut, 0);
  }

  get policy() {
    return this.#policy;
  }

  get isOptedOut() {
    return this.#isOptedOut;
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
        return indicator.textDidChange(activity.text, now);
      case 'draftCleared':
      case 'restored':
        return indicator.textWasSet(activity.text ?? '', now);
      case 'messageSubmitted':
        return indicator.messageSent(now);
      case 'messageReceived':
        return activity.from === null ? [] : indicator.receiveMessage(activity.from, activity.message.typingN ?? null, now);
      case 'otherSignal': {
        const { type, data, from } = activity.signal;
        const sender = from ?? null;
        return indicator.receive({ type, data, from: sender?.connectionId }, sender && this.#userOf(sender), now);
      }
      case 'connected':
        this.#members.clear();
        return this.#connected(activity.connectionId, now);
      case 'reconnecting':
        this.#isConnected = false;
        return indicator.disconnected(now);
      case 'reconnected':
        return this.#connected(activity.connectionId ?? this.#ownConnection, now);
      case 'disconnected': {
        this.#isConnected = false;
        this.#members.clear();
        // Whom nothing will be heard of any more nobody sees: as if it were another connection, and then none.
        const cleared = indicator.connected(null, now);
        return [...cleared, ...indicator.disconnected(now)];
      }
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

  /** The user has turned away from the room. */
  leave(now) {
    return this.#indicator.leave(now);
  }

  setOptedOut(isOptedOut, now) {
    this.#isOptedOut = isOptedOut;
    return this.#indicator.setOptedOut(isOptedOut, now);
  }

  /** Another behaviour from now on. Numbers go on (TYP-3); who is shown is forgotten, and comes back with the next signal. */
  setPolicy(policy, now) {
    const effects = this.#indicator.leave(now);
    this.#policy = policy;
    this.#indicator = new TypingIndicator({
      policy,
      ownConnection: this.#ownConnection,
      isConnected: this.#isConnected,
      startingAfter: this.#indicator.typingN,
    });
    this.#indicator.setOptedOut(this.#isOptedOut, now);
    this.#indicator.setMemberCount(this.#members.size, now);
    return [...effects, { changed: this.#indicator.current }];
  }

  #connected(connectionId, now) {
    this.#isConnected = true;
    this.#ownConnection = connectionId;
    return this.#indicator.connected(connectionId, now);
  }
}
