/**
 * The attempts to reconnect after a loss: the current step, and when the client gives up (RES-13).
 *
 * `step` is `waiting` (before the next attempt), `opening` (a socket is being opened), `connecting` (the connect has
 * been sent) or `suspended` (the browser keeps the page for "back"; no attempt until it is shown again).
 */
export class Reconnection {
  step = 'waiting';
  failureCount = 0;
  giveUpAt;
  /** The id of the connect that has been sent. */
  requestId = null;
  /** Whether the server asked for the current wait. */
  isRequestedWait = false;
  #until;

  constructor({ until, isRequestedWait, giveUpAt }) {
    this.giveUpAt = giveUpAt;
    this.wait({ until, isRequestedWait });
  }

  /** Whether an attempt is under way. */
  get isTrying() {
    return this.step === 'opening' || this.step === 'connecting';
  }

  get deadline() {
    return this.step === 'suspended' ? null : Math.min(this.#until, this.giveUpAt);
  }

  wait({ until, isRequestedWait }) {
    this.step = 'waiting';
    this.isRequestedWait = isRequestedWait;
    this.#until = until;
  }

  open(until) {
    this.step = 'opening';
    this.#until = until;
  }

  /** The connect has to be answered by the time that `open` set. */
  connect(requestId) {
    this.step = 'connecting';
    this.requestId = requestId;
  }

  suspend() {
    this.step = 'suspended';
  }
}
