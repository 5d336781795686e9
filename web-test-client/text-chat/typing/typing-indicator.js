import { encodeTyping } from '../wire/typing-signal.js';
import { TYPING_PRESETS } from './typing-presets.js';
import { TypingRoster } from './typing-roster.js';
import { TypingSender } from './typing-sender.js';

/**
 * Typing in one room, in both directions: the signals of this connection, and the other users who type.
 *
 * Pure: inputs and `now` (ms of a monotonic clock) go in, effects come out: `{send: {type, data, onlineOnly, to}, n}`
 * (`to` only for a directed signal) and `{changed: snapshot}`. It gives each input to a `TypingSender` and a
 * `TypingRoster`, and keeps what outlives a change of the policy. The caller carries out the effects in their order,
 * sends each signal at once, reports those that failed, and calls `advance` at `nextDeadline`.
 *
 * An input is `{kind, …}`. Swift's `TypingInput` and the vectors use the same names:
 *
 * | kind | meaning |
 * | --- | --- |
 * | `draftEdited` `text` | the user has changed the draft; a key if the text is another one and could be sent |
 * | `draftSet` `text` | the program has changed the draft; never a key |
 * | `send` `action` | the app states the action itself: `begin`, `pause` or `finish` |
 * | `messageSubmitted` | the user sends a message, which is published after this input |
 * | `leave` | the user has left the room |
 * | `optedOut` `value` | whether the user has opted out of being seen |
 * | `restricted` `value` | whether the user may not signal (MOD-4). Nothing is sent then; others are shown |
 * | `blockedUsers` `users` | exactly these users are never shown |
 * | `connected` `id`, `userId` | this connection is up; typing starts over on both sides. `userId`: one's own user, or null |
 * | `reconnecting`, `disconnected` | nothing is sent, and no user is shown |
 * | `connectionLost` | nothing is sent; others stay until they expire or the connection is up again |
 * | `memberCount` `value` | connections in the room, one's own included |
 * | `recipient` `id` | the only connection that gets the signals; null: all. The previous receivers get a finish |
 * | `publishFailed` `n` | signal `n` did not leave, or may not have left; it is not sent again |
 * | `signal` `action`, `n`, `from`, `user`, `userId` | a typing signal of another connection. `user`: its name, null or
 * empty: unknown. `userId`: by the server's word (USR-1), null: a guest |
 * | `messageReceived` `from`, `typingN` | a chat message of another connection, and its number or null |
 * | `connectionDestroyed` `id` | another connection has left |
 */
export class TypingIndicator {
  #policy;
  #connection;
  #userId = null;
  #isRunning = true;
  #sender;
  #roster;
  #draft = '';
  #memberCount = 0;
  #recipient = null;
  #isOptedOut = false;
  #blockedUsers = [];

  constructor({ policy = TYPING_PRESETS.standard, connection = null, startingAfter = 0 } = {}) {
    this.#policy = policy;
    this.#connection = connection;
    this.#sender = new TypingSender({ policy, isConnected: connection !== null, startingAfter });
    this.#roster = new TypingRoster({ policy, ownConnection: connection });
  }

  get policy() {
    return this.#policy;
  }

  /** False: inputs are noted, but nothing is sent and no user is shown. */
  get isRunning() {
    return this.#isRunning;
  }

  /** One's own connection while it is up, else null. */
  get connection() {
    return this.#connection;
  }

  get isOptedOut() {
    return this.#isOptedOut;
  }

  get blockedUsers() {
    return this.#blockedUsers;
  }

  /** The only connection that gets the signals; null: all. */
  get recipient() {
    return this.#recipient;
  }

  /** The people who type now: a snapshot, see `typing-snapshot.js`. */
  get current() {
    return this.#roster.current;
  }

  /**
   * The number that the next chat message carries; read it after `messageSubmitted` (TYP-5). Null while typing does not
   * run.
   */
  get typingN() {
    return this.#isRunning ? this.#sender.lastN : null;
  }

  /** When to call `advance` next; null: not before the next input. */
  get nextDeadline() {
    if (!this.#isRunning) return null;
    const moments = [this.#sender.nextDeadline, this.#roster.nextDeadline].filter((moment) => moment !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  }

  handle(input, now) {
    this.#note(input);
    return this.#isRunning ? this.#effects(input, now) : [];
  }

  /** Handles the deadlines that have passed. */
  advance(now) {
    if (!this.#isRunning) return [];
    return this.#effectsOf(this.#sender.advance(now), this.#roster.advance(now));
  }

  /** Ends typing: from now on no user is shown, and nothing is sent. */
  stop(now) {
    if (!this.#isRunning) return [];
    const effects = this.#effects({ kind: 'disconnected' }, now);
    this.#isRunning = false;
    return effects;
  }

  /**
   * Changes the policy. What was announced is finished, and numbers continue (TYP-3). Other users are forgotten until
   * their next signal.
   */
  setPolicy(policy, now) {
    const farewell = this.handle({ kind: 'leave' }, now);
    const wasShown = this.current.typingCount + this.current.pausedCount > 0;
    this.#policy = policy;
    const delayed = this.#effectsOf(this.#sender.setPolicy(policy, now), null);
    this.#roster = new TypingRoster({ policy, ownConnection: this.#connection, ownUser: this.#userId });
    const noted = [
      { kind: 'recipient', id: this.#recipient },
      { kind: 'optedOut', value: this.#isOptedOut },
      { kind: 'blockedUsers', users: this.#blockedUsers },
      { kind: 'draftSet', text: this.#draft },
      { kind: 'memberCount', value: this.#memberCount },
    ];
    // A new roster shows nobody.
    for (const input of noted) this.#roster.handle(input, now);
    return [...farewell, ...delayed, ...(wasShown ? [{ changed: this.current }] : [])];
  }

  #note(input) {
    switch (input.kind) {
      case 'draftEdited':
      case 'draftSet':
        this.#draft = input.text;
        break;
      case 'messageSubmitted':
        this.#draft = '';
        break;
      case 'optedOut':
        this.#isOptedOut = input.value;
        break;
      case 'blockedUsers':
        this.#blockedUsers = [...input.users];
        break;
      case 'memberCount':
        this.#memberCount = input.value;
        break;
      case 'recipient':
        this.#recipient = input.id;
        break;
      case 'connected':
        this.#connection = input.id;
        this.#userId = input.userId ?? null;
        break;
      case 'reconnecting':
      case 'disconnected':
      case 'connectionLost':
        this.#connection = null;
        break;
    }
  }

  #effects(input, now) {
    return this.#effectsOf(this.#sender.handle(input, now), this.#roster.handle(input, now));
  }

  #effectsOf(signals, snapshot) {
    const effects = signals.map((signal) => ({ send: encodeTyping(signal, this.#policy.wireForm), n: signal.n }));
    if (snapshot !== null) effects.push({ changed: snapshot });
    return effects;
  }
}
