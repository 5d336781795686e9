/** How many messages fit in the queue, failed ones included (G5). */
const QUEUE_CAPACITY = 100;

/**
 * Decides which of one's own messages goes to the channel next: one at a time, in the order in which they were written.
 * A failed message holds back those behind it until it is sent, discarded, or passed over. Pure.
 */
export class SendQueue {
  /** Each `{localId, status: 'waiting' | 'inFlight' | 'failed' | 'passedOver'}`. */
  #entries = [];

  get isFull() {
    return this.#entries.length >= QUEUE_CAPACITY;
  }

  /** All messages, oldest first. */
  get entries() {
    return this.#entries;
  }

  append(localId) {
    this.#entries.push({ localId, status: 'waiting' });
  }

  /** Adds a failed message that holds back nothing: from an earlier run of the program. */
  appendPassedOver(localId) {
    this.#entries.push({ localId, status: 'passedOver' });
  }

  /** The message to send next; null while another is in flight, or a failed one holds the queue back. */
  get next() {
    if (this.#entries.some(({ status }) => status === 'inFlight')) return null;
    const first = this.#entries.find(({ status }) => status !== 'passedOver');
    return first?.status === 'waiting' ? first.localId : null;
  }

  /** The failed message that holds back those behind it. */
  get obstacle() {
    return this.#entries.find(({ status }) => status === 'failed')?.localId ?? null;
  }

  /** The failed message that holds back this one; null if this one does not wait for a failed message. */
  obstacleBefore(localId) {
    const index = this.#entries.findIndex((entry) => entry.localId === localId);
    if (this.#entries[index]?.status !== 'waiting') return null;
    return this.#entries.slice(0, index).find(({ status }) => status === 'failed')?.localId ?? null;
  }

  /** Withdraws a message that was not started: it counts as failed and holds back nothing. False for any other. */
  withdraw(localId) {
    const entry = this.#entries.find((each) => each.localId === localId);
    if (entry?.status !== 'waiting') return false;
    entry.status = 'passedOver';
    return true;
  }

  start(localId) {
    this.#set(localId, 'inFlight');
  }

  fail(localId) {
    this.#set(localId, 'failed');
  }

  /** A failed message waits again. It passes the failed messages before it. */
  retry(localId) {
    const index = this.#entries.findIndex((entry) => entry.localId === localId);
    if (index < 0) return;
    this.#entries[index].status = 'waiting';
    this.#pass(this.#entries.slice(0, index));
  }

  /** The message was sent or discarded. */
  remove(localId) {
    this.#entries = this.#entries.filter((entry) => entry.localId !== localId);
  }

  /** Lets the messages behind the failed ones pass. */
  passFailed() {
    this.#pass(this.#entries);
  }

  /** Fails all messages that were not started, and returns them. The message in flight has an answer coming. */
  failWaiting() {
    const waiting = this.#entries.filter(({ status }) => status === 'waiting');
    for (const entry of waiting) entry.status = 'failed';
    return waiting.map(({ localId }) => localId);
  }

  #pass(entries) {
    for (const entry of entries) {
      if (entry.status === 'failed') entry.status = 'passedOver';
    }
  }

  #set(localId, status) {
    const entry = this.#entries.find((each) => each.localId === localId);
    if (entry) entry.status = status;
  }
}
