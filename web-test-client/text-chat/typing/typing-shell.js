import { ChatTyping } from './chat-typing.js';

/**
 * A chat's typing with a clock, one timer, and a way out. It decides nothing: `ChatTyping` does.
 *
 * `publish(signal)` sends a signal to everybody and promises that it left; `changed(snapshot)` is told who types. `clock()` is in
 * ms and cannot be set. The other options are `ChatTyping`'s.
 */
export class TypingShell {
  #rules;
  #publish;
  #changed;
  #clock;
  #setTimeout;
  #clearTimeout;
  #timer = null;
  #timerAt = null;
  #isStopped = false;

  constructor({
    publish,
    changed = () => {},
    clock = () => performance.now(),
    setTimeout = (act, delay) => globalThis.setTimeout(act, delay),
    clearTimeout = (timer) => globalThis.clearTimeout(timer),
    ...rules
  }) {
    this.#rules = new ChatTyping(rules);
    this.#publish = publish;
    this.#changed = changed;
    this.#clock = clock;
    this.#setTimeout = setTimeout;
    this.#clearTimeout = clearTimeout;
  }

  get current() {
    return this.#rules.current;
  }

  /** The number that a message carries which is written now (TYP-5); null once stopped. */
  get typingN() {
    return this.#isStopped ? null : this.#rules.typingN;
  }

  get policy() {
    return this.#rules.policy;
  }

  set policy(policy) {
    this.#do((rules, now) => rules.setPolicy(policy, now));
  }

  get isOptedOut() {
    return this.#rules.isOptedOut;
  }

  /** Whether the user does not want to be seen. */
  set isOptedOut(isOptedOut) {
    this.#do((rules, now) => rules.setOptedOut(isOptedOut, now));
  }

  get blockedUsers() {
    return this.#rules.blockedUsers;
  }

  /** Exactly these users are never shown; as `userOf` names them. */
  set blockedUsers(users) {
    this.#do((rules, now) => rules.setBlockedUsers(users, now));
  }

  take(activity) {
    this.#do((rules, now) => rules.take(activity, now));
  }

  /** What the app says itself, as often as it likes (Layer's `sendTypingIndicator`): `begin`, `pause` or `finish`. */
  send(action) {
    this.#do((rules, now) => rules.send(action, now));
  }

  /** The user has turned away from the room. */
  leave() {
    this.#do((rules, now) => rules.leave(now));
  }

  /** Ends it for good: nobody is shown any more, and nothing is sent; a connection that ends says it itself. */
  stop() {
    this.take({ kind: 'disconnected' });
    this.#isStopped = true;
    this.#cancel();
  }

  #do(act) {
    if (!this.#isStopped) this.#perform(act(this.#rules, this.#clock()));
  }

  #cancel() {
    if (this.#timer !== null) this.#clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerAt = null;
  }

  #perform(effects) {
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
      this.#do((rules, now) => rules.publishFailed(n, now));
    }
  }

  #schedule() {
    const deadline = this.#rules.nextDeadline;
    if (deadline === this.#timerAt) return;
    this.#cancel();
    if (deadline === null) return;
    this.#timerAt = deadline;
    this.#timer = this.#setTimeout(() => {
      this.#timer = null;
      this.#timerAt = null;
      this.#do((rules, now) => rules.advance(now));
    }, Math.max(0, Math.ceil(deadline - this.#clock())));
  }
}
