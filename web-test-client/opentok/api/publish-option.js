/** The values of the option `publish`; the first is the default. */
const VALUES = ['local', 'fail', 'announce'];
const [LOCAL, FAIL, ANNOUNCE] = VALUES;

/**
 * What `session.publish` does: start a stream that no other client gets, or, with `fail`, nothing but fail. Programs
 * that show a failed publish to their users, or end with it, would lose their chat. With `announce` other clients of this
 * option learn of the stream, and this one of theirs. The option is in the script's
 * address or tag, in `OT.setServer`, or in `OT.initSession`.
 */
export class PublishOption {
  #log;
  #value = LOCAL;
  #reported = new Set();
  #hasWarned = false;

  constructor(log, value) {
    this.#log = log;
    this.set(value);
  }

  /** Undefined and unknown values change nothing. */
  set(value) {
    this.#value = this.accepted(value) ?? this.#value;
  }

  /** The value, if it is one of the option's; else undefined. Reports each unknown value once. */
  accepted(value) {
    if (value === undefined || value === null || VALUES.includes(value)) return value ?? undefined;
    if (!this.#reported.has(value)) {
      this.#reported.add(value);
      this.#log.warn(`the option publish=${String(value)} is ignored: the values are "${VALUES.join('", "')}"`);
    }
    return undefined;
  }

  /** Whether a session publishes locally. `own` is the accepted value of its own option. */
  isLocal(own) {
    return (own ?? this.#value) !== FAIL;
  }

  /** Whether a session tells other clients of its streams. */
  announces(own) {
    return (own ?? this.#value) === ANNOUNCE;
  }

  /** Says once that other clients get no media. */
  warn(isAnnounced) {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn(
      isAnnounced
        ? 'session.publish: other clients learn of the stream. Audio and video are not sent to other clients.'
        : 'session.publish: the stream stays in this page. Audio and video are not sent to other clients. With the option '
          + 'publish=fail, publish fails instead.',
    );
  }
}
