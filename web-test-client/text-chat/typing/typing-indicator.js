import { decodeTyping, encodeTyping } from '../wire/typing-signal.js';
import { TYPING_PRESETS } from './typing-policy.js';
import { TypingRoster } from './typing-roster.js';
import { TypingSender } from './typing-sender.js';

/**
 * Typing in one room, both ways: what this connection says of its user, and who else types. Each input returns the effects, for
 * the shell to do in their order: `{send: {type, data, onlineOnly}, n}` and `{changed: snapshot}`. The shell reports signals that
 * failed, and calls `advance` at `nextDeadline`.
 */
export class TypingIndicator {
  #policy;
  #sender;
  #roster;

  constructor({ policy = TYPING_PRESETS.standard, ownConnection = null, isConnected = true, startingAfter = 0 } = {}) {
    this.#policy = policy;
    this.#sender = new TypingSender({ policy, isConnected, startingAfter });
    this.#roster = new TypingRoster({ policy, ownConnection });
  }

  get current() {
    return this.#roster.current;
  }

  /** The number that the next chat message carries; read it after `messageSent`. */
  get typingN() {
    return this.#sender.lastN;
  }

  get nextDeadline() {
    const moments = [this.#sender.nextDeadline, this.#roster.nextDeadline].filter((moment) => moment !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  }

  advance(now) {
    return this.#effects(this.#sender.advance(now), this.#roster.advance(now));
  }

  /** What the app says itself, as often as it likes: `begin`, `pause` or `finish`. */
  send(action, now) {
    return this.#effects(this.#sender.action(action, now), this.#roster.advance(now));
  }

  textDidChange(text, now) {
    return this.#effects(this.#sender.textDidChange(text, now), this.#roster.advance(now));
  }

  textWasSet(text, now) {
    return this.#effects(this.#sender.textWasSet(text, now), this.#roster.advance(now));
  }

  /** The user has sent a message. Call it before the message is published, and put `typingN` into that. */
  messageSent(now) {
    return this.#effects(this.#sender.messageSent(now), this.#roster.advance(now));
  }

  leave(now) {
    return this.#effects(this.#sender.left(now), this.#roster.advance(now));
  }

  /** Whether the user does not want to be seen. If the policy is reciprocal, such a user sees nobody either. */
  setOptedOut(isOptedOut, now) {
    const signals = this.#sender.optedOut(isOptedOut, now);
    return this.#effects(signals, this.#roster.hidden(isOptedOut && this.#policy.isReciprocal, now));
  }

  connected(id, now) {
    return this.#effects(this.#sender.connected(), this.#roster.connected(id, now));
  }

  disconnected(now) {
    return this.#effects(this.#sender.disconnected(), this.#roster.advance(now));
  }

  publishFailed(n, now) {
    return this.#effects(this.#sender.publishFailed(n, now), this.#roster.advance(now));
  }

  setMemberCount(count, now) {
    return this.#effects(this.#sender.memberCount(count, now), this.#roster.memberCount(count, now));
  }

  /** Takes any signal of the session, `from` being its connection's id (null: by REST). */
  receive({ type, data, from }, user, now) {
    const typing = decodeTyping({ type, data });
    if (typing === null || from === null || from === undefined) return this.advance(now);
    return this.#effects(this.#sender.advance(now), this.#roster.signal(typing, from, user, now));
  }

  receiveMessage(from, typingN, now) {
    return this.#effects(this.#sender.advance(now), this.#roster.message(from, typingN, now));
  }

  connectionDestroyed(id, now) {
    return this.#effects(this.#sender.advance(now), this.#roster.connectionDestroyed(id, now));
  }

  setBlocked(users, now) {
    return this.#effects(this.#sender.advance(now), this.#roster.blocked(users, now));
  }

  #effects(signals, snapshot) {
    const effects = signals.map((signal) => ({ send: encodeTyping(signal, this.#policy.wireForm), n: signal.n }));
    if (snapshot !== null) effects.push({ changed: snapshot });
    return effects;
  }
}
