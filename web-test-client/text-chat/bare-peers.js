import { BARE_TYPE, decodeSignal } from './wire/chat-wire-form.js';
import { decodeTyping } from './wire/typing-signal.js';

/** So many connections are remembered. Departures are not told to a client that suppresses them. */
const COUNT = 256;

/**
 * The programs of OpenTok's form among the other connections: they write bare text, and may show each signal that they
 * get as text, JSON and typing included.
 *
 * Chats that write bare text because of such a program look the same. So a connection counts by itself only if nobody
 * wrote bare text before it; when the last of these has left, the others are forgotten, and JSON can be written again.
 * A connection that has written JSON or a typing signal reads them.
 */
export class BarePeers {
  /** Connection id → whether it was the first that wrote bare text. */
  #writers = new Map();
  #readers = new Set();
  /** Whether the chat adapts to such programs. */
  isAdaptive = false;

  /** Whether the chat writes bare text now. */
  get areHeeded() {
    return this.isAdaptive && this.#writers.size > 0;
  }

  /** Notes a live signal of another connection. */
  note({ type, data, from }) {
    const id = from?.connectionId;
    if (id === undefined) return;
    const isMessage = decodeSignal({ type, data, from, receivedAt: 0 }) !== null;
    if (isMessage && type === BARE_TYPE) {
      if (this.#readers.has(id) || this.#writers.has(id) || this.#writers.size === COUNT) return;
      this.#writers.set(id, this.#writers.size === 0);
    } else if (isMessage || decodeTyping({ type, data }) !== null) {
      if (this.#readers.size < COUNT) this.#readers.add(id);
      this.#remove(id);
    }
  }

  departed(id) {
    this.#readers.delete(id);
    this.#remove(id);
  }

  clear() {
    this.#writers.clear();
    this.#readers.clear();
  }

  #remove(id) {
    this.#writers.delete(id);
    if (![...this.#writers.values()].includes(true)) this.#writers.clear();
  }
}
