import { SignalErrorCode } from './wire/signal-error-code.js';

/**
 * An OpenTok session as the channel of a chat. It uses only `on`, `off`, `signal`, `connection` and, for a directed
 * signal, `connections`, so any OpenTok session works. If its signals have no seq, messages are in the order of their
 * arrival. A session of this library may have a history besides; any other has none.
 */
export class SessionChannel {
  #session;
  #listeners;

  /**
   * `report(event)` receives the events for `TextChatComponent.handle`.
   * @param {ChatSession} session @param {(event: ChannelEvent) => void} report
   */
  constructor(session, report) {
    this.#session = session;
    this.#listeners = {
      signal: (event) =>
        report({
          kind: 'signal',
          type: typeOf(event.type),
          data: textOf(event.data),
          from: event.from,
          seq: event.seq ?? null,
        }),
      sessionConnected: () => report({ kind: 'connected', connectionId: session.connection.connectionId }),
      sessionReconnecting: () => report({ kind: 'reconnecting' }),
      sessionReconnected: ({ outcome }) => {
        if (outcome === 'lost') report({ kind: 'lost' });
        report({ kind: 'reconnected', connectionId: session.connection.connectionId });
      },
      sessionDisconnected: () => report({ kind: 'disconnected' }),
      connectionCreated: ({ connection }) => report({ kind: 'connectionCreated', connection }),
      connectionDestroyed: ({ connection }) => report({ kind: 'connectionDestroyed', connection }),
      restricted: () => report({ kind: 'restrictionsChanged' }),
      unrestricted: () => report({ kind: 'restrictionsChanged' }),
      history: ({ page }) => report({ kind: 'history', page: pageOf(page) }),
      messagesErased: ({ ref, through, user, before }) => {
        if (user !== undefined) report({ kind: 'erased', user, before });
        else report(through === undefined ? { kind: 'erased', ref } : { kind: 'erased', through });
      },
      reactionsChanged: ({ seq, ref, reactions }) => report({ kind: 'reactions', seq, ref, reactions }),
      ownReactionsChanged: ({ seq, ref, keys }) => report({ kind: 'reacted', seq, ref, keys }),
      messagesRead: ({ user, through }) => report({ kind: 'read', user, through }),
      messageChanged: ({ seq, ref, rel, data }) => report({ kind: 'changed', seq, ref, rel, data: textOf(data) }),
    };
    for (const [name, listener] of Object.entries(this.#listeners)) session.on(name, listener);
  }

  /** @type {string | null} */
  get connectionId() {
    return this.#session.connection?.connectionId ?? null;
  }

  /** @type {string | null} One's own user; null for a guest, before connecting, and in a session of another library. */
  get user() {
    const { user = null } = this.#session.connection ?? {};
    return user;
  }

  /**
   * The connections that are in the session now, one's own included, as far as the session knows.
   * @type {readonly ChatConnection[]}
   */
  get connections() {
    return this.#session.connections?.where?.(() => true) ?? [];
  }

  /** @type {string | null} The name of the session's order; null: not known. */
  get epoch() {
    const { epoch = null } = this.#session;
    return epoch;
  }

  /** @type {boolean} */
  get hasHistory() {
    const { hasHistory = false } = this.#session;
    return hasHistory;
  }

  /** @type {readonly string[] | null} What the session permits now (CHG-3); null: nothing can be changed. */
  get changes() {
    const { changes = null } = this.#session;
    return changes;
  }

  /**
   * What keeps the user from writing now, of several what holds longest; null: nothing (MOD-5).
   * @type {() => WriteRestriction | null}
   */
  restriction() {
    return this.#session.restrictedBy?.[0] ?? null;
  }

  /**
   * Promises a page of the history: the newest messages, those `before` a seq, those `after` one, or those that have
   * changed since, `changedAfter` one.
   * @type {(request: HistoryRequest) => Promise<HistoryPage>}
   */
  async history(request) {
    const keeper = this.#session;
    return pageOf(await keeper.history(request));
  }

  /**
   * Gives a message of one's own other data.
   * @type {(change: MessageEdit) => Promise<{ readonly seq?: number | null }>}
   */
  change(change) {
    return this.#session.change(change);
  }

  /** @type {(message: { readonly ref: number }) => Promise<unknown>} Erases a message of one's own. */
  erase(message) {
    return this.#session.erase(message);
  }

  /**
   * Sets the user's whole set of reactions to a message.
   * @type {(reactions: { readonly ref: number; readonly keys: readonly string[] }) => Promise<unknown>}
   */
  react(reactions) {
    return this.#session.react(reactions);
  }

  /**
   * Promises who has reacted to a message.
   * @type {(message: { readonly ref: number; readonly key?: string }) =>
   * Promise<ReadonlyArray<ReactionCount & { readonly users: readonly string[] }>>}
   */
  reactors(message) {
    return this.#session.reactors(message);
  }

  /** @type {ReadState | null} The read markers (READ-3); null: the session has none. */
  get readState() {
    const { readState = null } = this.#session;
    return readState;
  }

  /** @type {(marker: { readonly through: number }) => Promise<unknown>} The user has read up to a seq. */
  markRead(marker) {
    return this.#session.markRead(marker);
  }

  /**
   * Sends a signal to all connections, or to the connection with the id `to`.
   * @type {(signal: ChatSignal) => Promise<{ readonly seq?: number | null }>}
   */
  send({ to: id, ...options }) {
    return new Promise((resolve, reject) => {
      const to = id === undefined ? undefined : this.#session.connections.get(id);
      if (id !== undefined && !to) {
        reject(Object.assign(new Error(`No connection has the id ${id}.`), { code: SignalErrorCode.notFound }));
        return;
      }
      this.#session.signal(to ? { ...options, to } : options, (error) => (error ? reject(error) : resolve({})));
    });
  }

  stop() {
    for (const [name, listener] of Object.entries(this.#listeners)) this.#session.off(name, listener);
  }
}

/** The type of a signal without the prefix of the event. */
function typeOf(eventType) {
  return eventType === undefined || eventType === 'signal' ? undefined : eventType.slice('signal:'.length);
}

function pageOf({ messages, ...page }) {
  const kept = messages.map(({ type, data, ...rest }) => ({ ...rest, type: typeOf(type), data: textOf(data) }));
  return { ...page, messages: kept };
}

/**
 * The data of a page's signal may be a value other than a string (SIG-13). The chat reads it as its JSON text, as all
 * clients except browsers do.
 */
function textOf(data) {
  return data === undefined || typeof data === 'string' ? data : JSON.stringify(data);
}
