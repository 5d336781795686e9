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

  get typingN() {
    return this.#rules.typingN;
  }

  get policy() {
    return this.#rules.policy;
  }

  set policy(policy) {
    this.#perform(this.#rules.setPolicy(policy, this.#clock()));
  }

  get isOptedOut() {
    return this.#rules.isOptedOut;
  }

  /** Whether the user does not want to be seen. */
  set isOptedOut(isOptedOut) {
    this.#perform(this.#rules.setOptedOut(isOptedOut, this.#clock()));
  }

  take(activity) {
    this.#perform(this.#rules.take(activity, this.#clock()));
  }

  /** The user has turned away from the room. */
  leave() {
    this.#perform(this.#rules.leave(this.#clock()));
  }

  /** Ends the timer. Nothing is sent; a connection that ends says it itself. */
  stop() {
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
      this.#perform(this.#rules.publishFailed(n, this.#clock()));
    }
  }

  #schedule() {
    const deadline = this.#rules.nextDeadline;
    if (deadline === this.#timerAt) return;
    this.stop();
    if (deadline === null) return;
    this.#timerAt = deadline;
    this.#timer = this.#setTimeout(() => {
      this.#timer = null;
      this.#timerAt = null;
      this.#perform(this.#rules.advance(this.#clock()));
    }, Math.max(0, Math.ceil(deadline - this.#clock())));
  }
}
