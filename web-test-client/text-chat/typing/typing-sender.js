import { ACTIONS_FORM } from '../wire/typing-signal.js';
import { TYPING_PRESETS } from './typing-policy.js';

/**
 * Decides which typing signals leave one connection. What the user does goes in, signals (`{action, n}`) come out; the shell
 * publishes them at once, in their order, and calls `advance` at `nextDeadline` (null: nothing to wait for). `now` is in ms of
 * a clock that nobody can set (`performance.now()`).
 *
 * - The first key announces begin at once; further keys repeat it once per refresh, and only because of a key.
 * - Without keys pause and then finish follow by themselves, if the policy has them.
 * - At most one signal leaves per `minimumGap`; wishes inside the gap collapse, and what still differs from what was last sent
 *   goes out at its end. So a leaver keeps the sender until `nextDeadline` is null.
 * - Nothing is queued: what cannot be published now is never published.
 */
export class TypingSender {
  #policy;
  #lastN;
  // `typing` with `idleAt`, `paused` with `finishAt`, or `finished`.
  #state = { name: 'finished' };
  // What receivers were told last, as far as we know; null: nothing, or they know of the end otherwise.
  #announced = null;
  // What they had been told before, for when the last signal turns out not to have left.
  #announcedBefore = null;
  #wantsBegin = false;
  #wantsRefresh = false;
  #lastSignalAt = null;
  #text = '';
  #isConnected;
  #isOptedOut = false;
  #memberCount = 0;

  constructor({ policy = TYPING_PRESETS.standard, isConnected = true, startingAfter = 0 } = {}) {
    this.#policy = policy;
    this.#isConnected = isConnected;
    this.#lastN = startingAfter;
  }

  /** The number of the last signal; a chat message carries it. Read it after `messageSent`. */
  get lastN() {
    return this.#lastN;
  }

  get isSilent() {
    return !this.#isConnected || this.#isOptedOut || this.#isOverCap;
  }

  get #isOverCap() {
    return this.#policy.roomCap !== null && this.#memberCount > this.#policy.roomCap;
  }

  /** What the app says itself, as often as it likes: `begin`, `pause` or `finish`. */
  action(action, now) {
    return this.#handle(now, () => {
      switch (action) {
        case 'begin':
          return this.#key(now);
        case 'pause':
          return this.#pause(now);
        case 'finish':
          return this.#finish();
        default:
          throw new TypeError(`no such typing action: ${action}`);
      }
    });
  }

  /** The user has changed the text of the field. A key if it is another text, and one that could be sent. */
  textDidChange(text, now) {
    return this.#handle(now, () => {
      const isSame = text === this.#text;
      this.#text = text;
      if (!isSendable(text)) this.#finish();
      else if (!isSame) this.#key(now);
    });
  }

  /** The program has changed the text of the field: a draft restored, the field cleared. Never a key. */
  textWasSet(text, now) {
    return this.#handle(now, () => {
      this.#text = text;
    });
  }

  messageSent(now) {
    return this.#handle(now, () => {
      this.#text = '';
      this.#finish();
      // The message says it all, so that the next key begins anew.
      if (!this.#policy.finishesWhenMessageSent) this.#announced = null;
    });
  }

  /** The user has turned away from the room. */
  left(now) {
    return this.#handle(now, () => this.#finish());
  }

  // Both end what was: a signal that was due has nobody to go to.
  connected() {
    this.#isConnected = true;
    this.#forget();
    return [];
  }

  disconnected() {
    this.#isConnected = false;
    this.#forget();
    return [];
  }

  /** Signal `n` did not leave, or nobody knows. It is not sent again: the next key is. */
  publishFailed(n, now) {
    return this.#handle(now, () => {
      if (this.#announced?.n !== n) return;
      // The attempt still counts for the gap. A failed pause or finish receivers let lapse.
      if (this.#announced.action === 'begin') this.#announced = this.#announcedBefore;
    });
  }

  /** Whether the user does not want to be seen. */
  optedOut(isOptedOut, now) {
    return this.#handle(now, () => {
      this.#isOptedOut = isOptedOut;
      if (isOptedOut) this.#finish();
    });
  }

  /** Connections in the room, one's own included. */
  memberCount(count, now) {
    return this.#handle(now, () => {
      this.#memberCount = count;
      if (this.#isOverCap) this.#forget();
    });
  }

  /** Does what has become due; call it at `nextDeadline`, or later. */
  advance(now) {
    if (this.#state.name === 'typing' && this.#state.idleAt !== null && this.#state.idleAt <= now) {
      // From the moment it was due, however late the timer.
      this.#enterPause(this.#state.idleAt);
    }
    if (this.#state.name === 'paused' && this.#state.finishAt !== null && this.#state.finishAt <= now) {
      this.#state = { name: 'finished' };
    }
    const refreshAt = this.#refreshAt;
    if (this.#wantsRefresh && this.#state.name === 'typing' && refreshAt !== null && refreshAt <= now) {
      this.#wantsRefresh = false;
      this.#wantsBegin = true;
    }
    return this.#due(now);
  }

  get nextDeadline() {
    const moments = [];
    if (this.#state.name === 'typing') {
      moments.push(this.#state.idleAt);
      if (this.#wantsRefresh) moments.push(this.#refreshAt);
    }
    if (this.#state.name === 'paused') moments.push(this.#state.finishAt);
    if (this.#wish !== null) moments.push(this.#gapEnd);
    const known = moments.filter((moment) => moment !== null);
    return known.length === 0 ? null : Math.min(...known);
  }

  #handle(now, change) {
    // What was due before the input comes first: at exactly its moment a pause wins over a key.
    const signals = this.advance(now);
    change();
    return signals.concat(this.#due(now));
  }

  #key(now) {
    if (this.isSilent) return;
    this.#state = { name: 'typing', idleAt: after(now, this.#policy.idleToPause) };
    const refreshAt = this.#refreshAt;
    if (this.#announced?.action === 'begin' && now < refreshAt) {
      this.#wantsRefresh = this.#policy.refreshTrails;
    } else {
      this.#wantsBegin = true;
    }
  }

  #pause(now) {
    if (this.#policy.wireForm !== ACTIONS_FORM || this.isSilent || this.#state.name === 'finished') return;
    this.#enterPause(now);
  }

  #enterPause(moment) {
    this.#state = { name: 'paused', finishAt: after(moment, this.#policy.pauseToFinish) };
    this.#wantsBegin = false;
    this.#wantsRefresh = false;
  }

  #finish() {
    this.#state = { name: 'finished' };
    this.#wantsBegin = false;
    this.#wantsRefresh = false;
  }

  #forget() {
    this.#finish();
    this.#announced = null;
  }

  get #refreshAt() {
    return this.#announced === null ? null : this.#announced.at + this.#policy.refresh;
  }

  get #gapEnd() {
    return this.#lastSignalAt === null ? null : after(this.#lastSignalAt, this.#policy.minimumGap);
  }

  #due(now) {
    // Whom receivers have let lapse need not be ended.
    if (!this.#mayStillShowUs(now)) this.#announced = null;
    const action = this.#wish;
    if (action === null) return [];
    const gapEnd = this.#gapEnd;
    if (gapEnd !== null && now < gapEnd) return [];
    this.#lastN += 1;
    this.#lastSignalAt = now;
    this.#announcedBefore = this.#announced;
    this.#announced = { action, at: now, n: this.#lastN };
    this.#wantsBegin = false;
    this.#wantsRefresh = false;
    return [{ action, n: this.#lastN }];
  }

  // What receivers should be told and do not know.
  get #wish() {
    if (!this.#isConnected) return null;
    const told = this.#announced?.action ?? null;
    switch (this.#state.name) {
      case 'typing':
        return this.#wantsBegin ? 'begin' : null;
      case 'paused':
        return told === 'begin' ? 'pause' : null;
      default:
        // Where nothing can say so, the refresh goes on counting: deleting and writing again does not send more.
        return (told === 'begin' || told === 'pause') && this.#policy.wireForm === ACTIONS_FORM ? 'finish' : null;
    }
  }

  #mayStillShowUs(now) {
    switch (this.#announced?.action) {
      case 'begin':
        return now < this.#announced.at + this.#policy.beginExpiry;
      case 'pause':
        return now < this.#announced.at + this.#policy.pauseExpiry;
      default:
        return false;
    }
  }
}

function after(moment, duration) {
  return duration === null ? null : moment + duration;
}

function isSendable(text) {
  return !/^\p{White_Space}*$/u.test(text);
}
