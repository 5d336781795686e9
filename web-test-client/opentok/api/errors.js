// The protocol's error codes as an application sees them: names, and the codes that each call may report.

import { Code } from '../../client/wire/codes.js';
import { titleOfCode } from './error-tables.js';

/** OpenTok's names. `tooLong` and `invalidParameter` share one, as in OpenTok. */
const NAMES = new Map([
  [Code.invalidParameter, 'OT_INVALID_PARAMETER'],
  [Code.permissionDenied, 'OT_PERMISSION_DENIED'],
  [Code.notFound, 'OT_NOT_FOUND'],
  [Code.tooLong, 'OT_INVALID_PARAMETER'],
  [Code.rateLimited, 'OT_RATE_LIMIT_EXCEEDED'],
  [Code.notConnected, 'OT_NOT_CONNECTED'],
  [Code.authenticationError, 'OT_AUTHENTICATION_ERROR'],
  [Code.invalidSession, 'OT_INVALID_SESSION_ID'],
  [Code.connectFailed, 'OT_CONNECT_FAILED'],
  [Code.notConnectedToModerate, 'OT_NOT_CONNECTED'],
  [Code.badTarget, 'OT_INVALID_PARAMETER'],
  [Code.illegalState, 'OT_ILLEGAL_STATE'],
  [Code.termsOfServiceFailure, 'OT_TERMS_OF_SERVICE_FAILURE'],
  [Code.connectionLimitExceeded, 'OT_CONNECTION_LIMIT_EXCEEDED'],
  [Code.unableToPublish, 'OT_PERMISSION_DENIED'],
  [Code.unableToForceDisconnect, 'OT_PERMISSION_DENIED'],
  [Code.userBanned, 'OT_USER_BANNED'],
  [Code.streamLimitExceeded, 'OT_STREAM_LIMIT_EXCEEDED'],
  [Code.unexpectedServerResponse, 'OT_UNEXPECTED_SERVER_RESPONSE'],
]);

/** The codes of the calls that are no calls of OpenTok: the history, changes and moderation. */
const OWN_CODES = new Set([
  Code.invalidParameter, Code.permissionDenied, Code.notFound, Code.rateLimited, Code.notConnected,
]);

/**
 * The codes that a program may see for each call. Any other code does not belong to the protocol, and the program gets
 * that call's fallback.
 */
const PASSED_ON = {
  signal: new Set([
    Code.invalidParameter, Code.permissionDenied, Code.notFound, Code.tooLong, Code.rateLimited, Code.notConnected,
  ]),
  connect: new Set([
    Code.authenticationError, Code.invalidSession, Code.connectFailed, Code.termsOfServiceFailure,
    Code.connectionLimitExceeded, Code.userBanned,
  ]),
  forceDisconnect: new Set([
    Code.rateLimited, Code.notConnectedToModerate, Code.badTarget, Code.unableToForceDisconnect,
  ]),
  refreshToken: new Set([
    Code.invalidParameter, Code.tooLong, Code.rateLimited, Code.notConnected, Code.authenticationError,
  ]),
  history: OWN_CODES,
  erase: OWN_CODES,
  change: new Set([...OWN_CODES, Code.tooLong]),
  react: new Set([...OWN_CODES, Code.tooLong]),
  reactors: OWN_CODES,
  read: OWN_CODES,
  moderate: OWN_CODES,
  restrictions: OWN_CODES,
  streams: new Set([...OWN_CODES, Code.tooLong, Code.unableToPublish, Code.streamLimitExceeded]),
};

/** The code that replaces an unknown one, for a call that does not use `unexpectedServerResponse`. */
const FALLBACK = {
  forceDisconnect: Code.badTarget,
};

/**
 * The code that the application sees when a call of this kind (`signal`, `connect`, `history` and so on) fails with
 * `code`. A kind without a list of codes passes none on.
 */
export function codeForApplication(kind, code) {
  if (PASSED_ON[kind]?.has(code)) return code;
  return FALLBACK[kind] ?? Code.unexpectedServerResponse;
}

function nameOfCode(code) {
  return NAMES.get(code) ?? 'OT_UNEXPECTED_SERVER_RESPONSE';
}

/**
 * The error that completion handlers receive. As in OpenTok, its own enumerable properties are `code`, `message`,
 * `name` and `stack`: pages send it to their logs with `JSON.stringify`, or copy it with a spread. An extension: one
 * because of a restriction also has `restriction`, and `retryAfter` if the restriction ends by itself (ERR-1).
 */
export class OTError extends Error {
  constructor(code, message, name = nameOfCode(code), more = {}) {
    super(message);
    const { stack } = this;
    for (const [key, value] of Object.entries({ code, message, name, stack, ...more })) {
      Object.defineProperty(this, key, { value, enumerable: true, configurable: true, writable: true });
    }
  }

  /** The error for the application when a call of this kind fails with an error of the client. */
  static of(kind, { code, message, ...more }) {
    const known = codeForApplication(kind, code);
    return new OTError(known, message, nameOfCode(known), more);
  }

  /** Repeats `message`, because published OpenTok pages read it. */
  get reason() {
    return this.message;
  }

  static getTitleByCode(code) {
    return titleOfCode(code);
  }
}
