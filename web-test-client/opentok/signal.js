import { Connection } from './connection.js';
import { signalVerdict } from './signal-verdict.js';

/** What a program asks to send: its parts, and the first complaint about them, if there is one. */
export class Signal {
  /** `everybody` is what may stand as a target beside a connection: the session itself, in OpenTok. */
  constructor(options, everybody) {
    this.type = options.type;
    this.data = options.data;
    this.to = options.to;
    this.error = signalVerdict(options, (to) => isAddressable(to) || (to !== undefined && to === everybody));
    this.valid = this.error === null;
  }
}

/** A Connection without an id names nobody. Taken for a target it would turn a whisper into a broadcast. */
function isAddressable(to) {
  return to instanceof Connection && typeof to.connectionId === 'string' && to.connectionId !== '';
}
