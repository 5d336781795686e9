import { SessionChannel } from '../../text-chat/index.js';

/** Listens to one session at a time, and has the channel of the chat on it. It neither connects nor disconnects it. */
export class SessionLink {
  #session = null;
  /** Its clock counts until there is another session. */
  #clock = null;
  #channel = null;
  #listeners = null;

  get session() {
    return this.#session;
  }

  /** The time by the server's clock, in ms since 1970; that of this computer where the session does not know it. */
  get now() {
    return this.#clock?.serverTime ?? Date.now();
  }

  /** The channel of the chat; null without a session. */
  get channel() {
    return this.#channel;
  }

  /**
   * `connected()`, `reconnecting()`, `reconnected()` and `disconnected()` follow the session, and `received(event)` gets
   * the events of the channel. `wrap(channel)` may replace it.
   */
  open(session, { connected, reconnecting, reconnected, disconnected, received, wrap }) {
    this.close();
    this.#session = session;
    this.#clock = session;
    this.#listeners = {
      sessionConnected: () => connected(),
      sessionReconnecting: () => reconnecting(),
      sessionReconnected: () => reconnected(),
      sessionDisconnected: () => disconnected(),
    };
    for (const [name, listener] of Object.entries(this.#listeners)) session.on(name, listener);
    this.#channel = new SessionChannel(session, received);
    return wrap(this.#channel) ?? this.#channel;
  }

  close() {
    if (this.#session === null) return;
    for (const [name, listener] of Object.entries(this.#listeners)) this.#session.off(name, listener);
    this.#channel.stop();
    this.#session = null;
  }
}
