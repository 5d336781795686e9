const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

/** Node has no global `CloseEvent` before version 23. */
class CloseEvent extends Event {
  constructor(code) {
    super('close');
    this.code = code;
    this.reason = '';
  }
}

/**
 * A WebSocket whose server is the test. It is an event target with `on…` properties, as a real one is.
 *
 * Like `ws`, the WebSocket of Node programs, it throws an error event to which nobody listens, and it has such an event
 * when it is closed before it is open.
 */
export class FakeSocket extends EventTarget {
  static { Object.assign(this, { CONNECTING, OPEN, CLOSING, CLOSED }); }

  readyState = CONNECTING;
  sent = [];
  closedWith = null;
  #errorListeners = new Set();
  #handlers = new Map();

  constructor(address, protocol) {
    super();
    this.address = address;
    this.protocol = protocol;
  }

  send(text) {
    if (this.readyState === CONNECTING) throw new DOMException('Still connecting.', 'InvalidStateError');
    this.sent.push(JSON.parse(text));
  }

  close(code) {
    this.closedWith ??= code;
    const wasConnecting = this.readyState === CONNECTING;
    if (this.readyState !== CLOSED) this.readyState = CLOSING;
    if (wasConnecting) queueMicrotask(() => this.#fail());
  }

  addEventListener(name, listener, options) {
    if (name === 'error' && listener) this.#errorListeners.add(listener);
    super.addEventListener(name, listener, options);
  }

  removeEventListener(name, listener, options) {
    if (name === 'error') this.#errorListeners.delete(listener);
    super.removeEventListener(name, listener, options);
  }

  handlerOf(name) {
    return this.#handlers.get(name) ?? null;
  }

  setHandler(name, handler) {
    this.removeEventListener(name, this.handlerOf(name));
    this.#handlers.set(name, handler);
    this.addEventListener(name, handler);
  }

  // The server's side

  open() {
    this.readyState = OPEN;
    this.dispatchEvent(new Event('open'));
  }

  receive(...messages) {
    const data = messages.map((message) => JSON.stringify(message)).join('\n');
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  /** The socket closes. If it was not open yet, it has an error first. */
  drop(code = 1006) {
    if (this.readyState === CONNECTING) this.#fail();
    this.readyState = CLOSED;
    this.dispatchEvent(new CloseEvent(code));
  }

  /** The handshake fails, and no close event follows: so it is in Node 22. */
  failWithoutClose() {
    this.readyState = CLOSED;
    this.#fail();
  }

  #fail() {
    if (this.#errorListeners.size === 0) throw new Error("Unhandled 'error' event of a socket.");
    this.dispatchEvent(new Event('error'));
  }
}

for (const name of ['open', 'message', 'error', 'close']) {
  Object.defineProperty(FakeSocket.prototype, `on${name}`, {
    get() {
      return this.handlerOf(name);
    },
    set(handler) {
      this.setHandler(name, handler);
    },
  });
}
