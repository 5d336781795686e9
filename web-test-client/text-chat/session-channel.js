/**
 * An OpenTok session as a chat's channel. It uses nothing of the session but `on`, `off`, `signal` and `connection`, so any
 * OpenTok session will do; one that tells no seq gives its messages the order of their arrival.
 */
export class SessionChannel {
  #session;
  #listeners;

  /** `heard(event)` gets what happens, as `TextChatComponent.handle` takes it. */
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

/** A page may have sent what is no text (SIG-13). To a chat it is its JSON, as everywhere but in browsers. */
function textOf(data) {
  return data === undefined || typeof data === 'string' ? data : JSON.stringify(data);
}
