import { Connection, emitDestroyed, noteDestroyed } from '../connection.js';
import { ConnectionEvent, SignalEvent, UserEvent } from '../events.js';
import { HeldSignals } from '../signal/held-signals.js';
import { decodeData } from '../signal/signal-data.js';
import { pageOf } from './history.js';
import { SessionUsers } from './session-users.js';

/**
 * The connections of a session, their users, and the signals that they send: keeps `session.connections`, and emits
 * OpenTok's events on the session, in OpenTok's order.
 */
export class SessionMembers {
  #session;
  #handlerFailed;
  #isSuppressed;
  #held;
  #users = new SessionUsers((type, user) => this.#tellUser(type, user));

  /** `isSuppressed`: the program wants no events of connections and users. `handlerFailed` gets errors of handlers. */
  constructor(session, { isSuppressed, handlerFailed, log }) {
    this.#session = session;
    this.#isSuppressed = isSuppressed;
    this.#handlerFailed = handlerFailed;
    this.#held = new HeldSignals(log);
  }

  /** The users of the session, each `{user, connections}`, in the order in which they joined. */
  get users() {
    return this.#users.list((id) => this.#connections.get(id));
  }

  get #connections() {
    return this.#session.connections;
  }

  /**
   * The client is in the session with these connections. They are in the collection before any event: programs count
   * its members in their connect handler. Call the result when the session has emitted that it is connected.
   */
  enter(described) {
    const own = this.#session.connection;
    const present = described.map((each) => this.#remember(each));
    const announced = this.#users.enter(present);
    return () => {
      for (const each of present) {
        // A handler may disconnect while these events are emitted.
        if (this.#session.connection !== own) return;
        this.#announce(each);
        announced(each);
      }
    };
  }

  /** Another connection replaces one's own. The events of the difference follow, and then `settle`. */
  replace() {
    this.#users.replace();
  }

  settle() {
    this.#users.settle(this.#connections.map((each) => each));
  }

  /** The connection has ended, without `connectionDestroyed` for the others, as in OpenTok. */
  clear(reason) {
    this.#held.dropAll();
    this.#connections.forEach((connection) => noteDestroyed(connection, reason));
    this.#session.connection = null;
    this.#connections.clear();
    this.#users.clear();
  }

  // Events of the client

  created(described) {
    const connection = this.#remember(described);
    this.#users.add(connection, () => this.#announce(connection));
  }

  destroyed({ connectionId, reason }) {
    const connection = this.#connections.get(connectionId);
    if (!connection) return;
    noteDestroyed(connection, reason);
    this.#connections.remove(connection, reason);
    this.#users.remove(connectionId, () => {
      emitDestroyed(connection);
      if (this.#isSuppressed) return;
      this.#session.dispatchEvent(new ConnectionEvent('connectionDestroyed', this.#session, connection, reason));
    });
  }

  /** An extension (PRES-4): another connection has had no socket for 10 s, or is back. */
  absenceChanged({ name, connectionId }) {
    const connection = this.#connections.get(connectionId);
    if (connection) this.#session.dispatchEvent(new ConnectionEvent(name, this.#session, connection));
  }

  signalled(signal) {
    const sender = this.#sender(signal);
    if (sender === undefined) {
      this.#held.add(signal);
      return;
    }
    const { type, seq } = signal;
    const event = new SignalEvent(this.#session, { type, data: decodeData(signal), from: sender, seq });
    this.#session.emit('signal', event);
    if (type) this.#session.emit(`signal:${type}`, event);
  }

  /** A change of a message, as the program gets it. Its sender may be unknown to this page. */
  changeOf({ seq, ref, rel, from, connection, ...content }) {
    const known = from === null ? null : (this.#sender({ from, connection: connection ?? {} }));
    return { seq, ref, rel, from: known, data: decodeData(content) };
  }

  /** A page of the history, as the program gets it. */
  pageOf(page) {
    return pageOf(page, (connection) => this.#sender({ from: connection.connectionId, connection }));
  }

  #remember(described) {
    const id = described.connectionId;
    const { connection: own } = this.#session;
    const known = id === own?.connectionId ? own : this.#connections.get(id);
    const connection = known ?? new Connection(described, this.#handlerFailed);
    this.#connections.add(connection);
    return connection;
  }

  #announce(connection) {
    // A handler of the collection's `add` may have disconnected.
    if (this.#connections.get(connection.connectionId) !== connection) return;
    if (!this.#isSuppressed) {
      this.#session.dispatchEvent(new ConnectionEvent('connectionCreated', this.#session, connection));
    }
    this.#held.release(connection.connectionId, (signal) => this.signalled(signal));
  }

  #tellUser(type, user) {
    // A handler of an earlier event may have disconnected.
    if (this.#session.connection === null || this.#isSuppressed) return;
    this.#session.dispatchEvent(new UserEvent(type, this.#session, user));
  }

  /**
   * Null for the project's own server, undefined for a connection that has not been announced. With connection events
   * suppressed the signal describes its sender (SIG-9), or at least has the sender's id.
   */
  #sender({ from, connection }) {
    if (from === null) return null;
    const { connection: own } = this.#session;
    const known = from === own?.connectionId ? own : this.#connections.get(from);
    if (known) return known;
    if (!connection && !this.#isSuppressed) return undefined;
    return new Connection({ ...connection, connectionId: from }, this.#handlerFailed);
  }
}
