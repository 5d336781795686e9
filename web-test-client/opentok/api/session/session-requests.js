import { Code } from '../../../client/wire/codes.js';
import { complete } from '../completion.js';
import { OTError } from '../errors.js';
import { Outcome } from '../promises.js';
import { encodeData } from '../signal/signal-data.js';
import { Signal } from '../signal/signal.js';

// A longer token or connection id could make a message that is too long for the server, which would end the connection.
const TOKEN_BYTE_COUNT = 16_384;
const CONNECTION_ID_BYTE_COUNT = 255;

const byteCount = (text) => new TextEncoder().encode(text).length;

/**
 * The requests of a connected session: checks the program's arguments, in the order and with the errors of OpenTok, and
 * gives the rest to the client. `done(error)` or `done(undefined, result)` gets the outcome.
 */
export class SessionRequests {
  #session;
  #log;
  #request;

  /** `request(input)` is an input of the client. */
  constructor(session, { log, request }) {
    this.#session = session;
    this.#log = log;
    this.#request = request;
  }

  signal(options, done) {
    if (typeof options !== 'object') {
      // OpenTok treats a string as an object without properties and sends an empty signal. No program wants that.
      done(new OTError(Code.invalidParameter, 'The signal must be an object with type and data.'));
      return;
    }
    const signal = new Signal(options, this.#session);
    if (!signal.valid) {
      done(new OTError(signal.error.code, signal.error.message));
      return;
    }
    this.#request({
      is: 'signal',
      call: { kind: 'signal', done },
      type: signal.type === undefined ? undefined : String(signal.type),
      ...encodeData(signal.data, this.#log),
      // OpenTok accepts the session itself as a target: all clients.
      to: signal.to === this.#session ? undefined : signal.to?.connectionId,
      onlineOnly: signal.onlineOnly,
      retryAfterReconnect: signal.retryAfterReconnect,
    });
  }

  forceDisconnect(connectionOrId, done) {
    const connectionId = typeof connectionOrId === 'string' ? connectionOrId : connectionOrId?.connectionId;
    if (!this.#session.isConnected()) {
      done(new OTError(Code.notConnectedToModerate, 'forceDisconnect failed: the session is not connected.'));
    } else if (!this.#session.capabilities.permittedTo('forceDisconnect')) {
      done(new OTError(Code.unableToForceDisconnect, 'forceDisconnect failed: it needs the token of a moderator.'));
    } else if (typeof connectionId !== 'string' || connectionId === ''
      || byteCount(connectionId) > CONNECTION_ID_BYTE_COUNT) {
      done(new OTError(Code.badTarget, 'forceDisconnect failed: pass a connection or its id.'));
    } else {
      this.#request({ is: 'forceDisconnect', call: { kind: 'forceDisconnect', done }, connectionId });
    }
  }

  refreshToken(token, done) {
    if (!this.#session.isConnected()) {
      done(new OTError(Code.notConnected, 'The token cannot be refreshed: the session is not connected.'));
    } else if (typeof token !== 'string' || token === '') {
      done(new OTError(Code.authenticationError, 'The token cannot be refreshed: a token is required.'));
    } else if (byteCount(token) > TOKEN_BYTE_COUNT) {
      done(new OTError(Code.authenticationError, `The token is longer than ${TOKEN_BYTE_COUNT} bytes.`));
    } else {
      this.#request({ is: 'refreshToken', call: { kind: 'refreshToken', done }, token });
    }
  }

  /**
   * Promises the result of a request of the extensions, and calls the handler, if there is one. `message` is the request
   * without its `op` and `id`; null if the program's arguments make none. `read(result)` is what the program gets.
   */
  ask(kind, message, { advice, handler, read }) {
    const { promise, resolve, reject } = new Outcome();
    const done = (error, result) => {
      const answer = error ? undefined : read(result);
      complete(this.#log, handler, error, answer);
      if (error) reject(error);
      else resolve(answer);
    };
    if (!this.#session.isConnected()) {
      done(new OTError(Code.notConnected, `${kind} failed: the session is not connected.`));
    } else if (message === null) {
      done(new OTError(Code.invalidParameter, `${kind} failed: the arguments are invalid. ${advice}`));
    } else {
      this.#request({ is: kind, call: { kind, done }, message });
    }
    return promise;
  }
}
