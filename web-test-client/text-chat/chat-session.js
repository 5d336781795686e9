import { CHAT_TYPE, decodeSignal, encodeMessage } from './message-coding.js';
import { displayName } from './display-name.js';
import { Timeline } from './timeline.js';

/**
 * A chat on a session: what one says goes out as signals, what signals say becomes rows. It uses nothing of the session
 * but `on`, `off`, `signal` and `connection`, so any OpenTok session will do.
 *
 * `clock()` is the time for people, in milliseconds; `newLocalId()` names a message; `changed(entry)` is told whenever
 * the rows are different, with the message that came from somebody else if there is one.
 */
export class ChatSession {
  #session;
  #alias;
  #clock;
  #newLocalId;
  #changed;
  #timeline;
  #failures = new Map();
  /** The ids that were ours. After a long loss of the network there is a new one, and echoes may still carry the old. */
  #ownIds = new Set();
  #hear = (event) => this.#heard(event);

  constructor(session, { alias, clock, newLocalId, changed, timeline = new Timeline() }) {
    this.#session = session;
    this.#alias = alias;
    this.#clock = clock;
    this.#newLocalId = newLocalId;
    this.#changed = changed;
    this.#timeline = timeline;
    session.on('signal', this.#hear);
  }

  get timeline() {
    return this.#timeline;
  }

  get rows() {
    return this.#timeline.rows;
  }

  /** Why a message has failed, in a sentence. */
  failureOf(localId) {
    return this.#failures.get(localId) ?? null;
  }

  send(text) {
    const entry = this.#timeline.send({
      text,
      senderId: this.#session.connection?.connectionId ?? null,
      alias: this.#alias,
      sentAt: this.#clock(),
      localId: this.#newLocalId(),
    });
    this.#hand(entry);
  }

  retry(localId) {
    const entry = this.#timeline.retry(localId);
    if (entry) this.#hand(entry);
  }

  stop() {
    this.#session.off('signal', this.#hear);
  }

  #hand(entry) {
    const { localId } = entry;
    this.#noteOwnId();
    this.#failures.delete(localId);
    this.#changed(null);
    this.#session.signal({ type: CHAT_TYPE, data: encodeMessage(entry) }, (error) => {
      if (error) {
        if (this.#timeline.fail(localId)) this.#failures.set(localId, error.message);
      } else {
        this.#timeline.confirm(localId);
      }
      this.#changed(null);
    });
  }

  #heard(event) {
    const type = event.type === 'signal' ? undefined : event.type.slice('signal:'.length);
    const message = decodeSignal({ type, data: event.data, from: event.from, receivedAt: this.#clock() });
    if (!message) return;
    this.#noteOwnId();
    const isOwn = event.from !== null && this.#ownIds.has(event.from.connectionId);
    const alias =
      message.senderId === null && message.alias === null
        ? 'Server'
        : displayName({ data: message.alias, connectionId: message.senderId });
    const entry = this.#timeline.receive({ ...message, alias }, isOwn);
    this.#changed(isOwn ? null : entry);
  }

  #noteOwnId() {
    if (this.#session.connection) this.#ownIds.add(this.#session.connection.connectionId);
  }
}
