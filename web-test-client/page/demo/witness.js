import { CHAT_TYPE } from '../../text-chat/index.js';

/**
 * Tells a `Score` what one end of the page sent, got acknowledged and received. It judges chat messages in the JSON
 * form: their local id distinguishes messages with the same text.
 */
export class Witness {
  #score;
  #name;
  #ownIds;
  #changed;

  /** `ownIds` is a set that the witnesses of a page share: the connection ids of its ends. */
  constructor(score, name, ownIds, changed) {
    this.#score = score;
    this.#name = name;
    this.#ownIds = ownIds;
    this.#changed = changed;
  }

  /** A line that the end has received. The library reads it after this call. */
  frame({ message }) {
    switch (message?.ev) {
      case 'connected': {
        const { connection, epoch, seq, outcome, missing } = message;
        this.#ownIds.add(connection.connectionId);
        this.#score.entered(this.#name, { connectionId: connection.connectionId, epoch, seq, outcome, missing });
        break;
      }
      case 'ack':
      case 'ping':
        // The end has received everything before this seq once the library has read the line (SIG-6, HB-2).
        if (Number.isInteger(message.seq)) setTimeout(() => this.#reached(message.seq));
        break;
    }
  }

  /** The end sends a signal. `outcome` is the promise of its acknowledgement. */
  sent({ type, data }, outcome) {
    const key = keyOf(type, data);
    if (key === null) return;
    this.#score.sent(key);
    this.#changed();
    outcome.then(
      () => this.#score.acknowledged(this.#name, key),
      () => this.#score.refused(key),
    ).then(() => this.#changed());
  }

  /** The application of the end received a signal: `{type, data, from, seq}` as `TextChatComponent.handle` gets it. */
  received({ type, data, from, seq }) {
    const key = keyOf(type, data);
    if (key === null || seq === null || !this.#ownIds.has(from?.connectionId)) return;
    this.#score.received(this.#name, key, seq);
    this.#changed();
  }

  left() {
    this.#score.left(this.#name);
    this.#changed();
  }

  #reached(seq) {
    this.#score.reached(this.#name, seq);
    this.#changed();
  }
}

function keyOf(type, data) {
  if (type !== CHAT_TYPE || typeof data !== 'string') return null;
  try {
    const { localId } = JSON.parse(data);
    return typeof localId === 'string' && localId !== '' ? localId : null;
  } catch {
    return null;
  }
}
