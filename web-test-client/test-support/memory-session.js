/**
 * A session in memory, as chat channels see one: signals get their seq when they are sent, events wait in each channel's inbox
 * until the test takes them, and answers come when it says so.
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

  deliver({ type, data, onlineOnly = false }, from) {
    const seq = onlineOnly ? null : (this.#lastSeq += 1);
    for (const channel of this.channels) channel.inbox.push({ kind: 'signal', type, data, from, seq });
    return seq;
  }
}

class MemoryChannel {
  inbox = [];
  sent = [];
  /** What becomes of the next sends: null: acknowledged; else `{error}`, and `arrives` if only the answer is lost. */
  answers = [];
  held = [];
  holdsAnswers = false;
  #session;

  constructor(session, connection) {
    this.#session = session;
    this.connection = connection;
    this.connectionId = connection.connectionId;
  }

  takeEvents() {
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
