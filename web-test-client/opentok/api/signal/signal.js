import { Connection } from '../connection.js';
import { clonedData, signalVerdict } from './signal-verdict.js';

/** The signal that a program asks to send: its parts, and the first error in them, or null. */
export class Signal {
  /** `session` is a valid target beside a connection: in OpenTok it means all clients. */
  constructor(options, session) {
    // Only own properties count, as in OpenTok: inherited ones are not checked, and must not be sent.
    const own = (name) => (Object.hasOwn(options, name) ? options[name] : undefined);
    this.type = own('type');
    this.data = clonedData(own('data'));
    this.to = own('to');
    this.retryAfterReconnect = own('retryAfterReconnect');
    this.onlineOnly = own('onlineOnly');
    this.error = signalVerdict(options, (to) => isAddressable(to) || (to !== undefined && to === session));
    this.valid = this.error === null;
  }
}

/** As a target, a Connection without an id would turn a directed signal into a broadcast. */
function isAddressable(to) {
  return to instanceof Connection && typeof to.connectionId === 'string' && to.connectionId !== '';
}
