/**
 * An OpenTok session as the channel of a chat. It uses only `on`, `off`, `signal` and `connection`, so any OpenTok
 * session works. If the session tells no seq, messages are in the order of their arrival.
 */
export class SessionChannel {
  #session;
  #listeners;

  /** `heard(event)` gets the events for `TextChatComponent.handle`. */
  constructor(session, heard) {
    this.#session = session;
    this.#listeners = {
      signal: (event) =>
        heard({
          kind: 'signal',
          type: event.type === 'signal' ? undefined : event.type.slice('signal:'.length),
          data: textOf(event.data),
          from: event.from,
          seq: event.seq ?? null,
        }),
      sessionConnected: () => heard({ kind: 'connected', connectionId: session.connection.connectionId }),
      sessionReconnecting: () => heard({ kind: 'reconnecting' }),
      sessionReconnected: ({ outcome }) => {
        if (outcome === 'lost') heard({ kind: 'lost' });
        heard({ kind: 'reconnected', connectionId: session.connection.connectionId });
      },
      sessionDisconnected: () => heard({ kind: 'disconnected' }),
      connectionCreated: ({ connection }) => heard({ kind: 'connectionCreated', connection }),
      connectionDestroyed: ({ connection }) => heard({ kind: 'connectionDestroyed', connection }),
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
 * Data that a page sent may be another value than text (SIG-13). The chat reads it as JSON, as all clients but browsers
 * do.
 */
function textOf(data) {
  return data === undefined || typeof data === 'string' ? data : JSON.stringify(data);
}
