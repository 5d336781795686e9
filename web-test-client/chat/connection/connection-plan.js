// The element's wish to be in a session, as rules without a session and without a clock: inputs and `now` go in,
// effects come out. The wish outlives connections. It ends when the program or the user ends it, or when the server refuses it.
//
// Inputs:
//   want {credentials}              the attributes, when the element is put into the page, and when they have changed
//   connect {credentials}           the user or the program asks for a new connection
//   leave {}                        the program asks for none
//   removed {}                      the element is not in the page any more
//   connected {}                    the session is connected
//   failed {error}                  it could not connect. `error` has `code` and `message`; see `retriesByItself`
//   ended {reason, error, restriction}    it was connected, and has ended
//   refreshed {token}, notRefreshed {token, isRefused}          the answers to `refresh`
//   networkBack {}, pageShown {}    an attempt may succeed now
//
// Effects:
//   open {credentials, isQuiet}     connect. A quiet attempt changes nothing that the user sees until it has succeeded
//   close {}                        leave the session, or stop the attempt
//   refresh {token}                 show the session's server this token (CON-12)
//   lack {names, isUsed}            tell which attributes are missing. `isUsed`: some of them are there
//   fail {error, comesBack}         tell that the connect has failed, and whether the element tries again by itself
//   end {reason, error, restriction, comesBack}     tell that the connection has ended
//   idle {}                         there is no connection any more, as the program wanted

import { isSameRoom, missingOf } from './credentials.js';
import { areOfOthers } from './person.js';
import { causeOfEnd, mayComeBack } from '../words/causes.js';
import { retriesByItself, waitAfter } from './retry-policy.js';

/** A server that has not let the user in after this time counts as absent, in milliseconds. */
export const JOIN_TIME = 8_000;

/** So much time a program has for all attributes: a framework renders the element before it has a token. */
export const SETUP_TIME = 4_000;

/** A connection that ends sooner counts as a failed attempt. */
const STEADY_TIME = 30_000;

/** The wait before a refresh is repeated to which the server had no answer, or no time. */
const REFRESH_WAIT = 5_000;

export class ConnectionPlan {
  /**
   * idle                          no connection is wanted. Next: lacking, trying.
   * left                          none is wanted until the room changes. Next: lacking, trying.
   * lacking {until}               attributes are missing; tells so then. Next: idle, lacking, trying, left.
   * trying {until, isQuiet}       the session connects. Next: connected, waiting, refused, and those of idle.
   * connected {since, refreshing, refreshAt}     Next: waiting, refused, and those of idle.
   * waiting {until}               the next attempt follows. Next: trying, and those of idle.
   * refused                       the server does not want the element. Next: trying, and those of idle.
   */
  #phase = { name: 'idle' };
  /** What the newest attributes say, and what the session was opened with. */
  #wanted = null;
  #used = null;
  #failureCount = 0;
  /** The failure that the user has been told of. */
  #told = null;
  #effects = [];
  #random;

  /** `random()` returns a number from 0 up to 1. */
  constructor({ random }) {
    this.#random = random;
  }

  get phaseName() {
    return this.#phase.name;
  }

  /** When `advance` has to be called at the latest; null: not before the next input. */
  get nextDeadline() {
    switch (this.#phase.name) {
      case 'idle':
      case 'left':
      case 'refused':
        return null;
      case 'lacking':
      case 'trying':
      case 'waiting':
        return this.#phase.until;
      case 'connected':
        return this.#phase.refreshAt;
    }
  }

  handle(input, now) {
    this.#effects = [];
    this.#apply(input, now);
    return this.#effects;
  }

  /** Handles the deadline that has passed. */
  advance(now) {
    this.#effects = [];
    const deadline = this.nextDeadline;
    if (deadline !== null && now >= deadline) this.#expire(now);
    return this.#effects;
  }

  #apply(input, now) {
    switch (input.is) {
      case 'want':
        return this.#want(input.credentials, now);
      case 'connect':
        this.#wanted = input.credentials;
        return this.#begin(now, { isHasty: true });
      case 'leave':
        return this.#stop('left');
      case 'removed':
        return this.#stop('idle');
      case 'connected':
        return this.#connected(now);
      case 'failed':
        if (this.#phase.name === 'trying') this.#failed(input.error, now);
        return undefined;
      case 'ended':
        if (this.#phase.name === 'connected') this.#ended(input, now);
        return undefined;
      case 'refreshed':
        return this.#refreshed(input.token);
      case 'notRefreshed':
        return this.#notRefreshed(input, now);
      case 'networkBack':
      case 'pageShown':
        if (this.#phase.name === 'waiting') this.#try(now, true);
        return undefined;
      default:
        throw new Error(`Cannot handle the input ${input.is}: see the list in connection-plan.js.`);
    }
  }

  /** Whether there is or was a session that the user has seen something of. */
  get #hasSession() {
    return !['idle', 'left', 'lacking'].includes(this.#phase.name);
  }

  #stop(name) {
    if (this.#hasSession) this.#add({ do: 'close' });
    if (this.#hasSession || this.#phase.name === 'lacking') this.#add({ do: 'idle' });
    this.#phase = { name };
  }

  #expire(now) {
    switch (this.#phase.name) {
      case 'lacking':
        this.#tellLack();
        break;
      case 'trying':
        this.#add({ do: 'close' });
        this.#failed({ code: null, isSilent: true }, now);
        break;
      case 'waiting':
        this.#try(now, true);
        break;
      case 'connected':
        this.#refresh();
        break;
    }
  }

  #want(credentials, now) {
    this.#wanted = credentials;
    const isSame = this.#used !== null && isSameRoom(credentials, this.#used);
    switch (this.#phase.name) {
      case 'idle':
      case 'lacking':
        return this.#begin(now);
      case 'left':
        return isSame ? undefined : this.#begin(now);
      case 'connected':
        // The token is needed only to connect: a program may take it away while it gets the next.
        if (isSame && (!credentials.token || credentials.token === this.#used.token)) return undefined;
        // The next user of a page sees nothing of the last one while the server is asked.
        return isSame && !areOfOthers(credentials.token, this.#used.token) ? this.#refresh() : this.#begin(now);
      case 'trying':
      case 'waiting':
      case 'refused':
        return isSame && credentials.token === this.#used.token ? undefined : this.#begin(now);
    }
  }

  /** Begins anew with the newest attributes. `isHasty`: what is missing does not come later. */
  #begin(now, { isHasty = false } = {}) {
    if (this.#hasSession) this.#add({ do: 'close' });
    this.#failureCount = 0;
    this.#told = null;
    if (missingOf(this.#wanted).length === 0) {
      this.#try(now, false);
      return;
    }
    if (this.#hasSession) this.#add({ do: 'idle' });
    this.#used = null;
    const until = this.#phase.name === 'lacking' && this.#phase.until !== null ? this.#phase.until : now + SETUP_TIME;
    this.#phase = { name: 'lacking', until };
    if (isHasty) this.#tellLack();
  }

  #tellLack() {
    this.#phase = { name: 'lacking', until: null };
    const { session, apiKey, token } = this.#wanted;
    this.#add({ do: 'lack', names: missingOf(this.#wanted), isUsed: [session, apiKey, token].some(Boolean) });
  }

  #try(now, isQuiet) {
    this.#used = this.#wanted;
    this.#phase = { name: 'trying', until: now + JOIN_TIME };
    this.#add({ do: 'open', credentials: this.#used, isQuiet });
  }

  #connected(now) {
    if (this.#phase.name !== 'trying') return;
    this.#told = null;
    this.#phase = { name: 'connected', since: now, refreshing: null, refreshAt: null };
    if (this.#hasNewToken) this.#refresh();
  }

  #failed(error, now) {
    const comesBack = retriesByItself(error);
    // The user hears of a failure once, however often the element tries again.
    const told = `${error.code} ${error.message}`;
    if (told !== this.#told || !comesBack) this.#add({ do: 'fail', error, comesBack });
    this.#told = told;
    if (comesBack) this.#wait(now);
    else this.#phase = { name: 'refused' };
  }

  #ended({ reason, error = null, restriction = null }, now) {
    if (now - this.#phase.since >= STEADY_TIME) this.#failureCount = 0;
    const isRefused = !mayComeBack(causeOfEnd(reason, error, restriction));
    const comesBack = !isRefused && reason !== 'clientDisconnected';
    this.#add({ do: 'end', reason, error, restriction, comesBack });
    if (!comesBack) this.#phase = { name: isRefused ? 'refused' : 'left' };
    else if (this.#hasNewToken) this.#try(now, true);
    else this.#wait(now);
  }

  #wait(now) {
    this.#phase = { name: 'waiting', until: now + waitAfter(this.#failureCount, this.#random()) };
    this.#failureCount += 1;
  }

  // The token

  get #hasNewToken() {
    const { token } = this.#wanted;
    return Boolean(token) && token !== this.#used.token;
  }

  /** One refresh at a time: the last one counts. */
  #refresh() {
    if (this.#phase.refreshing !== null) return;
    const { token } = this.#wanted;
    this.#phase.refreshing = token;
    this.#phase.refreshAt = null;
    this.#add({ do: 'refresh', token });
  }

  #refreshed(token) {
    if (this.#phase.refreshing !== token) return;
    this.#phase.refreshing = null;
    this.#used = { ...this.#used, token };
    if (this.#hasNewToken) this.#refresh();
  }

  /**
   * Without an answer, the connection continues with the old token. A token that is refused may be one of another user,
   * who must not write under the name of the last one.
   */
  #notRefreshed({ token, isRefused }, now) {
    if (this.#phase.refreshing !== token) return;
    this.#phase.refreshing = null;
    if (this.#wanted.token !== token && this.#hasNewToken) this.#refresh();
    else if (isRefused) this.#begin(now);
    else this.#phase.refreshAt = now + REFRESH_WAIT;
  }

  #add(...effects) {
    this.#effects.push(...effects);
  }
}
