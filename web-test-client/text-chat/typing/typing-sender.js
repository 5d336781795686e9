import { ACTIONS_FORM } from '../wire/typing-signal.js';
import { TYPING_PRESETS } from './typing-presets.js';

/**
 * Decides which typing signals one connection sends. Inputs (see `TypingIndicator`) go in, signals (`{action, n, to}`)
 * come out. The caller publishes them at once, in their order, and calls `advance` at `nextDeadline` (null: not before
 * the next input).
 *
 * - The first key announces begin at once. Further keys repeat it once per refresh, and only a key does.
 * - Without keys pause and then finish follow, if the policy has them.
 * - At most one signal is sent per `minimumGap`. Changes inside the gap are coalesced: at its end the sender sends what
 *   still differs from the last signal. So keep the sender of a left room until `nextDeadline` is null.
 * - Nothing is queued: a signal that cannot be published now is never published.
 * - With a recipient every signal is directed to that connection (`to`), and the policy's `roomCap` does not apply.
 */
export class TypingSender {
  #policy;
  #lastN;
  // `typing` until `idleAt`, `paused` until `finishAt`, or `finished`.
  #state = { name: 'finished' };
  // The last signal that receivers may still show; null: none.
  #announced = null;
  // The one before, in case the last signal did not leave.
  #announcedBefore = null;
  // A key asks for a begin as soon as the gap allows one.
  #wantsBegin = false;
  // A key came too early for a refresh, and the policy's refresh trails.
  #wantsRefresh = false;
  #lastSignalAt = null;
  #draft = '';
  #isConnected;
  #isOptedOut = false;
  #isRestricted = false;
  #memberCount = 0;
  #recipient = null;

  constructor({ policy = TYPING_PRESETS.standard, isConnected = true, startingAfter = 0 } = {}) {
    this.#policy = policy;
    this.#isConnected = isConnected;
    this.#lastN = startingAfter;
  }

  /** The number of the last signal; a chat message carries it. Read it after `messageSubmitted` (TYP-5). */
  get lastN() {
    return this.#lastN;
  }

  /** Whether keys send nothing. */
  get isSilent() {
    return !this.#isConnected || this.#isOptedOut || this.#isRestricted || this.#isOverCap;
  }

  // A directed signal costs the same in a room of any size.
  get #isOverCap() {
    if (this.#recipient !== null) return false;
    return this.#policy.roomCap !== null && this.#memberCount > this.#policy.roomCap;
  }

  /**
   * Changes the policy after `leave`. A finish that the old policy's gap delayed is sent at the end of the new one's.
   */
  setPolicy(policy, now) {
    this.#policy = policy;
    if (this.#isOverCap) this.#forget();
    return this.#due(now);
  }

  handle(input, now) {
    switch (input.kind) {
      case 'connected':
        return this.#startOver(true);
      case 'reconnecting':
      case 'disconnected':
      case 'connectionLost':
        return this.#startOver(false);
    }
    // Deadlines come before the input: a pause that is due at the moment of a key is sent first.
    const signals = this.advance(now);
    this.#apply(input, now);
    return signals.concat(this.#due(now));
  }

  /** Handles the deadlines that have passed. Call it at `nextDeadline` or later. */
  advance(now) {
    if (this.#state.name === 'typing' && this.#state.idleAt !== null && this.#state.idleAt <= now) {
      // Count from the deadline, even if the timer is late.
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
    if (this.#pendingAction !== null) moments.push(this.#gapEnd);
    const known = moments.filter((moment) => moment !== null);
    return known.length === 0 ? null : Math.min(...known);
  }

  #apply(input, now) {
    switch (input.kind) {
      case 'draftEdited': {
        const isSame = input.text === this.#draft;
        this.#draft = input.text;
        if (!isSendable(input.text)) this.#finish();
        else if (!isSame) this.#key(now);
        break;
      }
      case 'draftSet':
        this.#draft = input.text;
        break;
      case 'send':
        this.#act(input.action, now);
        break;
      case 'leave':
        this.#finish();
        break;
      case 'messageSubmitted':
        this.#draft = '';
        this.#finish();
        // The message ends typing for receivers, so the next key announces begin again.
        if (!this.#policy.finishesWhenMessageSent) this.#announced = null;
        break;
      case 'optedOut':
        this.#isOptedOut = input.value;
        if (input.value) this.#finish();
        break;
      case 'restricted':
        this.#isRestricted = input.value;
        // The server would refuse a finish, too: receivers let the begin expire.
        if (input.value) this.#forget();
        break;
      case 'memberCount':
        this.#memberCount = input.value;
        // Receivers count members, too, and now list no user.
        if (this.#isOverCap) this.#forget();
        break;
      case 'recipient':
        this.#direct(input.id);
        break;
      case 'publishFailed':
        // The next key tries again. The attempt still counts for the gap, so that a server which refuses is not asked
        // at each key. Receivers let a failed pause or finish expire.
        if (this.#announced?.n === input.n && this.#announced.action === 'begin') {
          this.#announced = this.#announcedBefore;
        }
        break;
    }
  }

  // Drops a signal that was due: it has no receivers now.
  #startOver(isConnected) {
    this.#isConnected = isConnected;
    this.#forget();
    return [];
  }

  #direct(id) {
    if (this.#recipient === id) return;
    this.#recipient = id;
    this.#finish();
    // This form has no finish: the previous receivers let the begin expire.
    if (this.#policy.wireForm !== ACTIONS_FORM) this.#announced = null;
    if (this.#isOverCap && (this.#announced?.to ?? null) === null) this.#forget();
  }

  #act(action, now) {
    switch (action) {
      case 'begin':
        return this.#key(now);
      case 'pause':
        return this.#pause(now);
      case 'finish':
        return this.#finish();
      default:
        throw new TypeError(`Cannot send the typing action ${action}: use begin, pause or finish.`);
    }
  }

  #key(now) {
    if (this.isSilent) return;
    this.#state = { name: 'typing', idleAt: after(now, this.#policy.idleToPause) };
    const refreshAt = this.#refreshAt;
    if (this.#announced?.action === 'begin' && !this.#isForOthers && now < refreshAt) {
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

  // Receivers forget this connection without a signal.
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
    // An announcement that has expired at the receivers needs no end.
    if (!this.#mayStillShowUs(now)) this.#announced = null;
    const action = this.#pendingAction;
    if (action === null) return [];
    const gapEnd = this.#gapEnd;
    if (gapEnd !== null && now < gapEnd) return [];
    const to = this.#isForOthers ? this.#announced.to : this.#recipient;
    // A key that came since the change of the recipient still asks for its begin.
    if (!this.#isForOthers) {
      this.#wantsBegin = false;
      this.#wantsRefresh = false;
    }
    this.#lastN += 1;
    this.#lastSignalAt = now;
    this.#announcedBefore = this.#announced;
    this.#announced = { action, at: now, n: this.#lastN, to };
    return [{ action, n: this.#lastN, to }];
  }

  // Whether the announcement is known to receivers that no longer get the signals.
  get #isForOthers() {
    if (this.#announced === null || this.#announced.action === 'finish') return false;
    return this.#announced.to !== this.#recipient;
  }

  // The action that receivers do not know yet.
  get #pendingAction() {
    if (!this.#isConnected) return null;
    if (this.#isForOthers) return 'finish';
    const announced = this.#announced?.action ?? null;
    switch (this.#state.name) {
      case 'typing':
        return this.#wantsBegin ? 'begin' : null;
      case 'paused':
        return announced === 'begin' ? 'pause' : null;
      default:
        // A form without finish keeps counting the refresh, so that deleting and writing again does not send more.
        if (this.#policy.wireForm !== ACTIONS_FORM) return null;
        return announced === 'begin' || announced === 'pause' ? 'finish' : null;
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
