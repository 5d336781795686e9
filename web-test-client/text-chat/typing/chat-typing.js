import { decodeTyping } from '../wire/typing-signal.js';
import { TypingIndicator } from './typing-indicator.js';

/**
 * Typing of a `TextChatComponent`, with a clock, one timer, and a channel. It carries out the effects of a
 * `TypingIndicator` and contains no rules of its own. The component feeds it with edits of the draft, messages, and the
 * state of the connection.
 *
 * Options:
 * - `publish(signal)` sends `{type, data, onlineOnly}` to all clients, or to the connection with the id `to` if there
 *   is one. Its promise resolves when the signal has left. After a rejection the next key sends a new signal.
 * - `changed(snapshot)` receives each new snapshot of the typing users.
 * - `policy`, `recipient`, `isOptedOut` and `blockedUsers`: see the properties.
 * - `userOf(connection)` names the user of a connection; null: unknown. Connections of the same user are shown as one,
 *   and so are those of one `user` by the server's word (USR-1). The default is the connection's data, unless it is
 *   empty.
 * - `clock()` is in ms and monotonic; `setTimeout` and `clearTimeout` belong to it.
 */
export class ChatTyping {
  #indicator;
  #publish;
  #changed;
  #userOf;
  #clock;
  #setTimeout;
  #clearTimeout;
  #timer = null;
  #timerAt = null;

  /** @param {TypingOptions} options */
  constructor({
    publish,
    changed = () => {},
    policy,
    recipient = null,
    isOptedOut = false,
    blockedUsers = [],
    userOf = ({ data }) => data || null,
    clock = () => (globalThis.performance ?? Date).now(),
    setTimeout = (act, delay) => globalThis.setTimeout(act, delay),
    clearTimeout = (timer) => globalThis.clearTimeout(timer),
  }) {
    this.#indicator = new TypingIndicator({ policy });
    this.#publish = publish;
    this.#changed = changed;
    this.#userOf = userOf;
    this.#clock = clock;
    this.#setTimeout = setTimeout;
    this.#clearTimeout = clearTimeout;
    this.recipient = recipient;
    this.isOptedOut = isOptedOut;
    this.blockedUsers = blockedUsers;
  }

  /** @type {TypingSnapshot} The people who type now. */
  get current() {
    return this.#indicator.current;
  }

  /** @type {number | null} The number for a message that is written now (TYP-5); null after `stop`. */
  get typingN() {
    return this.#indicator.typingN;
  }

  /** @type {string | null} One's own connection; null while it is not up. */
  get connection() {
    return this.#indicator.connection;
  }

  /** @type {TypingPolicy} The intervals and flags; see `typing-policy.js`. Set another policy at any time. */
  get policy() {
    return this.#indicator.policy;
  }

  set policy(policy) {
    this.#carryOut(this.#indicator.setPolicy(policy, this.#clock()));
  }

  /**
   * The id of the only connection that gets this user's typing signals: the other user of a private chat in a shared
   * session. Null: all connections. A change sends a finish to the previous receivers. With a recipient `roomCap` does
   * not stop the signals, and in a room above the cap the recipient is the only user that is shown.
   * @type {string | null}
   */
  get recipient() {
    return this.#indicator.recipient;
  }

  set recipient(id) {
    if (id !== this.recipient) this.handle({ kind: 'recipient', id });
  }

  /** @type {boolean} Nothing about this user's typing is sent. A user who is typing has finished for the others. */
  get isOptedOut() {
    return this.#indicator.isOptedOut;
  }

  set isOptedOut(value) {
    this.handle({ kind: 'optedOut', value });
  }

  /** @type {readonly string[]} Exactly these users are never shown: as `userOf` names them, or by their ids (USR-1). */
  get blockedUsers() {
    return this.#indicator.blockedUsers;
  }

  set blockedUsers(users) {
    this.handle({ kind: 'blockedUsers', users });
  }

  /**
   * Sets the user's action, `begin`, `pause` or `finish`; repeat it freely (Layer's `sendTypingIndicator`).
   * @type {(action: TypingAction) => void}
   */
  send(action) {
    this.handle({ kind: 'send', action });
  }

  /** The user has left the room. */
  leave() {
    this.handle({ kind: 'leave' });
  }

  /** Ends typing for good: no user is shown, and nothing is sent. Others show a typing user until the expiry. */
  stop() {
    this.#carryOut(this.#indicator.stop(this.#clock()));
  }

  /**
   * Handles an input of `TypingIndicator`. The component calls it.
   * @type {(input: { readonly kind: string; readonly [member: string]: unknown }) => void}
   */
  handle(input) {
    this.#carryOut(this.#indicator.handle(input, this.#clock()));
  }

  /**
   * Handles a signal of another connection, if it is about typing.
   * @type {(signal: Omit<ReceivedSignal, 'kind'>) => void}
   */
  receive({ type, data, from }) {
    const typing = decodeTyping({ type, data });
    if (typing === null || from === null || from === undefined) return;
    const { connectionId, user: userId = null } = from;
    this.handle({ kind: 'signal', ...typing, from: connectionId, user: this.#userOf(from), userId });
  }

  #carryOut(effects) {
    for (const effect of effects) {
      if (effect.send) this.#send(effect);
      else this.#changed(effect.changed);
    }
    this.#schedule();
  }

  async #send({ send, n }) {
    try {
      await this.#publish(send);
    } catch {
      this.handle({ kind: 'publishFailed', n });
    }
  }

  #schedule() {
    const deadline = this.#indicator.nextDeadline;
    if (deadline === this.#timerAt) return;
    if (this.#timer !== null) this.#clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerAt = deadline;
    if (deadline === null) return;
    this.#timer = this.#setTimeout(() => {
      this.#timer = null;
      this.#timerAt = null;
      this.#carryOut(this.#indicator.advance(this.#clock()));
    }, Math.max(0, Math.ceil(deadline - this.#clock())));
  }
}
