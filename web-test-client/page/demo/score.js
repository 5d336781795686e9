// The running score of a page with two ends, by the rules of `signalbox-lab verify`: from what each end sent, got
// acknowledged and received, and never from what a server says about itself. Pure.
//
// An event is due to an end once that end has reached a later position in the session's order; until then it is on its
// way. The end must have been in the session before the event.

/** How many received messages an end remembers, to recognize one that comes twice. */
const REMEMBERED = 20_000;

export class Score {
  #lost = 0;
  #doubled = 0;
  #reordered = 0;
  #sent = 0;
  #acknowledged = 0;
  #refused = 0;
  /**
   * Per end: `life`, `{connectionId, epoch, entrySeq, through}` or null; `awaited`, seq → key of what is on its way;
   * `received`, key → seq.
   */
  #ends = new Map();
  /** Epoch → Map seq → key, of the messages whose place in the order is known. */
  #orders = new Map();
  /** Key → {epoch, seq}. */
  #positions = new Map();
  /** The messages that the ends sent. A key that was sent twice, after an unknown fate, is not judged: value false. */
  #sendings = new Map();
  /** Acknowledged messages whose own echo has not been received (SIG-6). */
  #withoutEcho = new Set();

  /** `{sent, acknowledged, refused, onTheWay, lost, doubled, reordered}`, all of them counts of messages. */
  get result() {
    let onTheWay = 0;
    for (const { life, awaited } of this.#ends.values()) if (life !== null) onTheWay += awaited.size;
    return {
      sent: this.#sent,
      acknowledged: this.#acknowledged,
      refused: this.#refused,
      onTheWay,
      lost: this.#lost + this.#withoutEcho.size,
      doubled: this.#doubled,
      reordered: this.#reordered,
    };
  }

  /** The server's `connected`: `{connectionId, epoch, seq, outcome, missing}`. */
  entered(name, { connectionId, epoch, seq, outcome, missing = null }) {
    const end = this.#end(name);
    const before = end.life;
    if (outcome === 'resumed' && before?.connectionId === connectionId && before.epoch === epoch) return;
    const continues = before !== null && before.epoch === epoch && outcome !== 'new';
    if (continues && outcome === 'recovered') {
      end.life = { ...before, connectionId };
      return;
    }
    if (outcome === 'lost' && before !== null) {
      // RES-16: the log still has what follows the missing range. Without a range nothing follows.
      const lastMissing = continues ? (missing?.last ?? Infinity) : Infinity;
      this.#lose(end, lastMissing);
    }
    if (!continues) end.awaited.clear();
    end.life = { connectionId, epoch, entrySeq: seq, through: seq };
  }

  /** The end has left: nothing more is due to it. */
  left(name) {
    const end = this.#end(name);
    end.life = null;
    end.awaited.clear();
  }

  /** An end sent the message `key`. */
  sent(key) {
    if (this.#sendings.has(key)) {
      this.#sendings.set(key, false);
      this.#withoutEcho.delete(key);
      return;
    }
    this.#sent += 1;
    this.#sendings.set(key, true);
    if (this.#sendings.size > REMEMBERED) this.#sendings.delete(this.#sendings.keys().next().value);
  }

  /** The server acknowledged the message `key` of an end. */
  acknowledged(name, key) {
    this.#acknowledged += 1;
    const end = this.#end(name);
    if (end.life !== null && this.#isJudged(key) && !end.received.has(key)) this.#withoutEcho.add(key);
  }

  refused() {
    this.#refused += 1;
  }

  /** The application of an end received the message `key` at `seq`. */
  received(name, key, seq) {
    if (!this.#isJudged(key)) return;
    const end = this.#end(name);
    if (end.received.has(key)) {
      this.#doubled += 1;
      return;
    }
    end.received.set(key, seq);
    if (end.received.size > REMEMBERED) end.received.delete(end.received.keys().next().value);
    this.#withoutEcho.delete(key);
    const { life } = end;
    if (life === null) return;
    if (seq <= life.through) this.#reordered += 1;
    end.awaited.delete(seq);
    this.#note(life.epoch, seq, key);
    this.reached(name, seq);
  }

  /** The end has reached this position: everything before it that is meant for the end has been received. */
  reached(name, seq) {
    const end = this.#end(name);
    if (end.life === null || seq <= end.life.through) return;
    end.life.through = seq;
    this.#lose(end, seq);
  }

  #isJudged(key) {
    return this.#sendings.get(key) === true;
  }

  #lose(end, through) {
    for (const seq of [...end.awaited.keys()]) {
      if (seq > through) continue;
      end.awaited.delete(seq);
      this.#lost += 1;
    }
  }

  /** Both ends see the same message at the same seq (G1), and a message has one seq (G3). */
  #note(epoch, seq, key) {
    let order = this.#orders.get(epoch);
    if (!order) this.#orders.set(epoch, (order = new Map()));
    const known = order.get(seq);
    if (known !== undefined) {
      if (known !== key) this.#reordered += 1;
      return;
    }
    const position = this.#positions.get(key);
    if (position) {
      this.#doubled += 1;
      return;
    }
    order.set(seq, key);
    this.#positions.set(key, { epoch, seq });
    if (order.size > REMEMBERED) {
      const [oldest, oldestKey] = order.entries().next().value;
      order.delete(oldest);
      this.#positions.delete(oldestKey);
    }
    for (const end of this.#ends.values()) {
      const { life } = end;
      if (life === null || life.epoch !== epoch || seq <= life.entrySeq || end.received.has(key)) continue;
      if (seq <= life.through) this.#lost += 1;
      else end.awaited.set(seq, key);
    }
  }

  #end(name) {
    let end = this.#ends.get(name);
    if (!end) this.#ends.set(name, (end = { life: null, awaited: new Map(), received: new Map() }));
    return end;
  }
}
