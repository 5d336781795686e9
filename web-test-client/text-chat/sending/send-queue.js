/** Messages that may be in the queue, failed ones included (G5). */
export const QUEUE_CAPACITY = 100;

/**
 * Which of one's own messages goes to the channel next: one at a time, in the order in which they were written. One that has
 * failed holds back those behind it until it is sent or discarded, or until somebody lets them pass. Pure.
 */
export class SendQueue {
  /** Each `{localId, status: 'waiting' | 'inFlight' | 'failed' | 'passedOver'}`. */
  #entries = [];
  /** Nothing starts while this is true. */
  isPaused = false;

  get isFull() {
    return this.#entries.length >= QUEUE_CAPACITY;
  }

  append(localId) {
    this.#entries.push({ localId, status: 'waiting' });
  }

  /** A failed message that holds back nothing: from an earlier run of the program. */
  appendPassedOver(localId) {
    this.#entries.push({ localId, status: 'passedOver' });
  }

  /** The message whose turn it is; null while another is under way, or is in the way. */
  get next() {
    if (this.isPaused || this.#entries.some(({ status }) => status === 'inFlight')) return null;
    const first = this.#entries.find(({ status }) => status !== 'passedOver');
    return first?.status === 'waiting' ? first.localId : null;
  }

  /** The failed message that holds back others, or will. */
  get obstacle() {
    return this.#entries.find(({ status }) => status === 'failed')?.localId ?? null;
  }

  start(localId) {
    this.#set(localId, 'inFlight');
  }

  fail(localId) {
    this.#set(localId, 'failed');
  }

  /** Whoever asks for this one asks for it to pass the failed ones before it, too. */
  retry(localId) {
    const place = this.#entries.findIndex((entry) => entry.localId === localId);
    if (place < 0) return;
    this.#entries[place].status = 'waiting';
    this.#pass(this.#entries.slice(0, place));
  }

  /** Sent or discarded. */
  remove(localId) {
    this.#entries = this.#entries.filter((entry) => entry.localId !== localId);
  }

  passFailed() {
    this.#pass(this.#entries);
  }

  /** Fails all that has not been started; what is under way has an answer coming. Returns which. */
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
