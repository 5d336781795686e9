/**
 * An OpenTok session as the channel of a chat. It uses only `on`, `off`, `signal` and `connection`, so any OpenTok
 * session works. If its signals have no seq, messages are in the order of their arrival.
 */
export class SessionChannel {
  #session;
  #listeners;

  /** `report(event)` receives the events for `TextChatComponent.handle`. */
  constructor(session, report) {
    this.#session = session;
    this.#listeners = {
      signal: (event) =>
        report({
          kind: 'signal',
          type: event.type === 'signal' ? undefined : event.type.slice('signal:'.length),
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
    };
    for (const [name, listener] of Object.entries(this.#listeners)) session.on(name, listener);
  }

  get connectionId() {
    return this.#session.connection?.connectionId ?? null;
  }

  send(options) {
    return new Promise((resolve, reject) => {
      this.#session.signal(options, (error) => (error ? reject(error) : resolve({})));
    });
  }

  stop() {
    for (const [name, listener] of Object.entries(this.#listeners)) this.#session.off(name, listener);
  }
}

/**
 * The data of a page's signal may be a value other than a string (SIG-13). The chat reads it as its JSON text, as all
 * clients except browsers do.
 */
function textOf(data) {
  return data === undefined || typeof data === 'string' ? data : JSON.stringify(data);
}
