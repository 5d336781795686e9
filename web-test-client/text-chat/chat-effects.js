import { MarkerSender } from './readers/marker-sender.js';

/**
 * Carries out what a chat's rules say: feeds typing, reports the changes of the rows, gives messages and requests for
 * pages to the channel, and keeps those who wait for an outcome. It decides nothing.
 */
export class ChatEffects {
  #chat;
  #rules;
  /** Callers that wait for an outcome: each looks, and returns whether it waits on. */
  #waiters = [];
  /** What `changed` and typing were told last. */
  #told = { unreadCount: 0, history: '[null,false,null]', isHeld: false };
  #markers;

  /** `timers` are those of a `MarkerSender`. */
  constructor(chat, rules, timers) {
    this.#chat = chat;
    this.#rules = rules;
    this.#markers = new MarkerSender(rules.markers, {
      isUp: () => rules.isUp && !rules.own.isReturning,
      send: (marker) => chat.channel.markRead(marker),
      timers,
    });
  }

  /** The channel may have a connection that no event has told of. */
  note() {
    this.#type(this.#rules.note());
  }

  #type(inputs) {
    for (const input of inputs) this.#chat.typing?.handle(input);
  }

  /** The channel knows what holds. */
  noteRestriction(now) {
    const { own, restriction } = this.#rules;
    const { channel } = this.#chat;
    if (!restriction.note(own.hasEnded(channel) ? null : (channel?.restriction?.(now) ?? null))) return;
    this.holdTyping();
    this.tell([], { kind: 'restrictionChanged' });
  }

  /** Carries out what the rules say, and what is due then. Returns the changes of the rows. */
  carryOut({ typing = [], heard = null, changes = [], activity = null }) {
    this.#type(typing);
    this.holdTyping();
    if (heard !== null) this.#chat.typing?.receive(heard);
    const receipts = this.#rules.receipts.look(changes);
    const all = receipts.length === 0 ? changes : [...changes, ...receipts];
    this.tell(all, activity);
    this.proceed();
    return all;
  }

  holdTyping() {
    const value = this.#rules.holdsTyping;
    if (value === this.#told.isHeld) return;
    this.#told.isHeld = value;
    this.#chat.typing?.handle({ kind: 'restricted', value });
  }

  /** The next message, the next page, and callers that need not wait any more. */
  proceed() {
    const next = this.#rules.startNext();
    if (next !== null) {
      this.note();
      this.#send(next);
    }
    const task = this.#rules.nextPage();
    if (task !== null) this.#read(task);
    this.#markers.proceed();
    this.#tellHistory();
    this.#waiters = this.#waiters.filter((looks) => looks());
  }

  async #send({ localId, signal }) {
    const { sending } = this.#rules;
    const { channel, handOver } = this.#chat;
    try {
      const mark = handOver?.(localId) ?? null;
      if (mark !== null) await mark;
      const answer = await channel.send(signal);
      const stamp = { connectionId: channel.connectionId, wireForm: signal.type };
      this.carryOut({ changes: sending.settle(localId, answer?.seq ?? null, null, stamp) });
    } catch (error) {
      this.carryOut({ changes: sending.fail(localId, error) });
    }
  }

  async #read(task) {
    let page;
    try {
      page = await this.#chat.channel.history(task.request);
    } catch (error) {
      this.carryOut(this.#rules.unread(task, error));
      return;
    }
    this.carryOut(this.#rules.read(task, page));
  }

  /**
   * Promises that a change has been carried out: its `answer` says so, or `isDone()`, as of an event. `settled(answer)` is
   * what the answer changes in the rows.
   */
  async change(answer, isDone, settled) {
    let end = null;
    answer.then(
      (result) => {
        end = {};
        this.carryOut({ changes: settled(result) });
      },
      (error) => {
        end = { error };
        this.proceed();
      },
    );
    const { error } = await this.wait(() => (isDone() ? {} : end));
    if (error) throw error;
  }

  /** Promises the first result that is not null. */
  wait(result) {
    return new Promise((resolve) => {
      const looks = () => {
        const found = result();
        if (found !== null) resolve(found);
        return found === null;
      };
      if (looks()) this.#waiters.push(looks);
    });
  }

  /** The user has read something. */
  mark(changes) {
    this.tell(changes);
    this.#markers.proceed();
    return changes;
  }

  tell(changes, activity = null) {
    if (changes.length > 0 || activity !== null) this.#report(changes, activity);
    const count = this.#chat.unreadCount;
    if (count !== this.#told.unreadCount) {
      this.#told.unreadCount = count;
      this.#report([], { kind: 'unread', count });
    }
    return changes;
  }

  /** Tells once that `hasEarlier`, `isLoadingEarlier` or `historyError` has changed. */
  #tellHistory() {
    const { hasEarlier, isLoadingEarlier, historyError } = this.#chat;
    const history = JSON.stringify([hasEarlier, isLoadingEarlier, historyError]);
    if (history === this.#told.history) return;
    this.#told.history = history;
    this.#report([], { kind: 'historyChanged' });
  }

  /** An error of the page must not stop the sending of messages. */
  #report(changes, activity) {
    try {
      this.#chat.changed(changes, activity);
    } catch (error) {
      // Node has no `reportError`.
      (globalThis.reportError ?? console.error)(error);
    }
  }
}
