import { createOT } from '../../opentok/api/ot.js';
import { browserEnvironment } from '../../client/browser.js';
import { signalingAddress } from '../../client/server-address.js';
import { Code } from '../../client/wire/codes.js';
import { endOf } from '../words/causes.js';
import { ConnectionPlan } from './connection-plan.js';

/** A refresh that the server has refused, and not only not answered. */
const REFUSING = new Set([Code.authenticationError, Code.invalidParameter, Code.tooLong]);

/**
 * Executes the effects of a `ConnectionPlan`: owns the session that the element makes from its attributes, and its timer.
 *
 * `view` gets what the user has to see, inside of `changing(act)`: `opening(session, {sessionId, token, isQuiet})`,
 * `closing()` before the session is left, `refreshed(token)` when the server has accepted a newer token, `lacking({names, isUsed})`, `failed(error, {comesBack})`, `ended({reason, error, restriction,
 * comesBack})` and `idle()`.
 */
export class OwnSession {
  #plan;
  #view;
  #environment;
  #session = null;
  /** The newest token that the server has accepted for the session, or is asked to. */
  #token = null;
  #listeners = null;
  #timer = null;
  #stopWatching = null;

  constructor(view, environment = browserEnvironment()) {
    this.#view = view;
    this.#environment = environment;
    this.#plan = new ConnectionPlan({ random: environment.random });
  }

  /** Whether there is one, also while it only connects. */
  get isOpen() {
    return this.#session !== null;
  }

  /** Whether the element waits for its next attempt. */
  get isWaiting() {
    return this.#plan.phaseName === 'waiting';
  }

  handle(input) {
    this.#run(this.#plan.handle(input, this.#environment.now()));
  }

  #run(effects) {
    if (effects.length > 0) this.#view.changing(() => effects.forEach((effect) => this.#execute(effect)));
    this.#watch();
    this.#arm();
  }

  #execute(effect) {
    switch (effect.do) {
      case 'open':
        this.#open(effect);
        break;
      case 'close':
        this.#close();
        break;
      case 'refresh':
        this.#refresh(effect.token);
        break;
      case 'lack':
        this.#view.lacking(effect);
        break;
      case 'fail':
        this.#view.failed(effect.error, effect);
        break;
      case 'end':
        this.#view.ended(effect);
        break;
      case 'idle':
        this.#view.idle();
        break;
    }
  }

  #open({ credentials: { session: sessionId, apiKey, token, server }, isQuiet }) {
    this.#close();
    const address = signalingAddress(server, this.#environment.pageProtocol);
    let session;
    try {
      if (address === null) throw new TypeError(`The server’s address is not valid: ${server}.`);
      // A library returns the same session for the same id, so each element has its own.
      session = createOT(this.#environment, server).initSession(apiKey, sessionId, { connectionAwayEvents: true });
    } catch (error) {
      const { code = null, message } = error;
      queueMicrotask(() => this.handle({ is: 'failed', error: { code, message, isOfPage: true } }));
      return;
    }
    this.#session = session;
    this.#token = token;
    this.#listeners = {
      sessionDisconnected: (event) => {
        this.handle({ is: 'ended', ...endOf(event, this.#token, session.serverTime) });
      },
    };
    // The view hears of a connection and its end before the plan does.
    this.#view.opening(session, { sessionId, token, isQuiet });
    for (const [name, listener] of Object.entries(this.#listeners)) session.on(name, listener);
    session.connect(token, (error) => {
      if (session !== this.#session) return;
      const { code, message, restriction } = error ?? {};
      if (error) this.handle({ is: 'failed', error: { code, message, restriction, ...this.#obstacle(address) } });
      else this.handle({ is: 'connected' });
    });
  }

  /** What no later attempt can change in this page. */
  #obstacle(address) {
    const isBlocked = this.#environment.isBlocked(address);
    return { isBlocked, isFinal: isBlocked || typeof this.#environment.WebSocket !== 'function' };
  }

  #close() {
    const session = this.#session;
    if (session === null) return;
    this.#session = null;
    for (const [name, listener] of Object.entries(this.#listeners)) session.off(name, listener);
    this.#view.closing();
    session.disconnect();
  }

  #refresh(token) {
    const session = this.#session;
    session.refreshToken(token, (error) => {
      if (session !== this.#session) return;
      if (error) this.handle({ is: 'notRefreshed', token, isRefused: REFUSING.has(error.code) });
      else {
        this.#token = token;
        this.#view.refreshed(token);
        this.handle({ is: 'refreshed', token });
      }
    });
  }

  /** Watches the page and the network while the element waits: the client does so while it has a connection. */
  #watch() {
    if (this.isWaiting === (this.#stopWatching !== null)) return;
    if (this.isWaiting) {
      this.#stopWatching = this.#environment.watch((input) => {
        if (input.is === 'networkBack' || input.is === 'pageShown') this.handle(input);
      });
    } else {
      this.#stopWatching();
      this.#stopWatching = null;
    }
  }

  #arm() {
    const { clearTimeout, setTimeout, now } = this.#environment;
    clearTimeout(this.#timer);
    const deadline = this.#plan.nextDeadline;
    this.#timer =
      deadline === null ? null : setTimeout(() => this.#run(this.#plan.advance(now())), Math.max(0, deadline - now()));
  }
}
