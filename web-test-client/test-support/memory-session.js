/**
 * A session in memory: a signal gets its seq when it is sent, events wait in each channel's inbox until the test
 * removes them, and the test decides when answers come.
 */
export class MemorySession {
  channels = [];
  #lastSeq = 0;

  connect(connectionId, data = '') {
    const channel = new MemoryChannel(this, { connectionId, data });
    this.#lastSeq += 1;
    for (const other of this.channels) other.inbox.push({ kind: 'connectionCreated', connection: channel.connection });
    channel.inbox.push({ kind: 'connected', connectionId });
    this.channels.push(channel);
    return channel;
  }

  leave(connectionId) {
    const { connection } = this.channels.find((channel) => channel.connectionId === connectionId);
    this.channels = this.channels.filter((channel) => channel.connectionId !== connectionId);
    for (const other of this.channels) other.inbox.push({ kind: 'connectionDestroyed', connection });
  }

  deliver({ type, data, onlineOnly = false, to }, from) {
    const seq = onlineOnly ? null : (this.#lastSeq += 1);
    for (const channel of this.channels) {
      if (to === undefined || to === channel.connectionId) {
        channel.inbox.push({ kind: 'signal', type, data, from, seq });
      }
    }
    return seq;
  }
}

class MemoryChannel {
  inbox = [];
  sent = [];
  /** The answers to the next sends: null acknowledges; else `{error}`, with `arrives` if only the answer is lost. */
  answers = [];
  held = [];
  holdsAnswers = false;
  /** What keeps this connection from writing, each with an optional `until`; see `restrict` and `lift`. */
  restrictions = [];
  #session;

  constructor(session, connection) {
    this.#session = session;
    this.connection = connection;
    this.connectionId = connection.connectionId;
  }

  restrict(restriction) {
    this.restrictions = [...this.restrictions.filter(({ kind }) => kind !== restriction.kind), restriction];
    this.inbox.push({ kind: 'restrictionsChanged' });
  }

  lift(kind) {
    this.restrictions = this.restrictions.filter((each) => each.kind !== kind);
    this.inbox.push({ kind: 'restrictionsChanged' });
  }

  restriction(now) {
    return this.restrictions.find(({ until = Infinity }) => until > now) ?? null;
  }

  removeEvents() {
    return this.inbox.splice(0);
  }

  async send(options) {
    const answer = this.answers.shift() ?? null;
    this.sent.push(options);
    const seq = answer === null || answer.arrives ? this.#session.deliver(options, this.connection) : null;
    if (this.holdsAnswers) await new Promise((resolve) => this.held.push(resolve));
    if (answer !== null) throw answer.error;
    return { seq };
  }

  releaseAnswer() {
    this.held.shift()();
  }
}
