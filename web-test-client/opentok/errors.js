// Every error code of the protocol that an application can see, in one place: its name, and the title that OpenTok
// gives it in `exception` events. Where two names share a code's idea (413 and 400), OpenTok's choice stands.

export const Code = Object.freeze({
  invalidParameter: 400,
  permissionDenied: 403,
  notFound: 404,
  tooLong: 413,
  rateLimited: 429,
  notConnected: 500,
  authenticationError: 1004,
  invalidSessionId: 1005,
  connectFailed: 1006,
  notConnectedToModerate: 1010,
  badTarget: 1011,
  illegalState: 1015,
  termsOfServiceFailure: 1026,
  connectionLimitExceeded: 1027,
  unableToPublish: 1500,
  unableToSubscribe: 1501,
  unableToForceDisconnect: 1520,
  unableToForceUnpublish: 1530,
  unableToForceMute: 1540,
  internalError: 2000,
  unexpectedServerResponse: 2001,
});

const NAMES = new Map([
  [Code.invalidParameter, 'OT_INVALID_PARAMETER'],
  [Code.permissionDenied, 'OT_PERMISSION_DENIED'],
  [Code.notFound, 'OT_NOT_FOUND'],
  [Code.tooLong, 'OT_INVALID_PARAMETER'],
  [Code.rateLimited, 'OT_RATE_LIMIT_EXCEEDED'],
  [Code.notConnected, 'OT_NOT_CONNECTED'],
  [Code.authenticationError, 'OT_AUTHENTICATION_ERROR'],
  [Code.invalidSessionId, 'OT_INVALID_SESSION_ID'],
  [Code.connectFailed, 'OT_CONNECT_FAILED'],
  [Code.notConnectedToModerate, 'OT_NOT_CONNECTED'],
  [Code.badTarget, 'OT_INVALID_PARAMETER'],
  [Code.illegalState, 'OT_ILLEGAL_STATE'],
  [Code.termsOfServiceFailure, 'OT_TERMS_OF_SERVICE_FAILURE'],
  [Code.connectionLimitExceeded, 'OT_CONNECTION_LIMIT_EXCEEDED'],
  [Code.unableToForceDisconnect, 'OT_PERMISSION_DENIED'],
  [Code.unexpectedServerResponse, 'OT_UNEXPECTED_SERVER_RESPONSE'],
]);

const TITLES = new Map([
  [1004, 'Authentication error'],
  [1005, 'Invalid Session ID'],
  [1006, 'Connect Failed'],
  [1010, 'Not Connected'],
  [1011, 'Invalid Parameter'],
  [1013, 'Connection Failed'],
  [1027, 'Connection Limit Exceeded'],
  [1520, 'Unable to Force Disconnect'],
  [1530, 'Unable to Force Unpublish'],
  [2000, 'Internal Error'],
  [2001, 'Unexpected Server Response'],
]);

// What a program may be told for each kind of request. Anything else from a server means that it speaks another
// dialect, and `OT_UNEXPECTED_SERVER_RESPONSE` says exactly that.
const PASSED_ON = {
  signal: new Set([400, 403, 404, 413, 429, 500]),
  connect: new Set([1004, 1005, 1006, 1026, 1027]),
  forceDisconnect: new Set([1010, 1011, 1520]),
};

const FALLBACK = {
  signal: Code.unexpectedServerResponse,
  connect: Code.unexpectedServerResponse,
  forceDisconnect: Code.badTarget,
};

/** The code that the application sees when the server refused a request of this kind with `code`. */
export function codeForApplication(kind, code) {
  return PASSED_ON[kind].has(code) ? code : FALLBACK[kind];
}

export function nameOfCode(code) {
  return NAMES.get(code) ?? 'OT_UNEXPECTED_SERVER_RESPONSE';
}

export function titleOfCode(code) {
  return TITLES.get(Number(code));
}

/**
 * What completion handlers receive. `reason` repeats `message`, because published OpenTok pages read it. `name` is that
 * of the code, unless said otherwise.
 */
export class OTError extends Error {
  constructor(code, message, name = nameOfCode(code)) {
    super(message);
    this.name = name;
    this.code = code;
    this.reason = message;
  }
}
