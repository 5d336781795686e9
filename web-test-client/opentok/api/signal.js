import { Connection } from './connection.js';
import { signalVerdict } from './signal-verdict.js';

/** What a program asks to send: its parts, and the first complaint about them, if there is one. */
export class Signal {
  /** `everybody` is what may stand as a target beside a connection: the session itself, in OpenTok. */
  constructor(options, everybody) {
    // Only what is the object's own counts, as in OpenTok: what it inherits was not looked at, and must not be sent.
    const own = (name) => (Object.hasOwn(options, name) ? options[name] : undefined);
    this.type = own('type');
    this.data = own('data');
    this.to = own('to');
    this.retryAfterReconnect = own('retryAfterReconnect');
    this.onlineOnly = own('onlineOnly');
    this.error = signalVerdict(options, (to) => isAddressable(to) || (to !== undefined && to === everybody));
    this.valid = this.error === null;
  }
}

/** A Connection without an id names nobody. Taken for a target it would turn a whisper into a broadcast. */
function isAddressable(to) {
  return to instanceof Connection && typeof to.connectionId === 'string' && to.connectionId !== '';
}
