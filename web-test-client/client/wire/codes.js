// The numbers of the protocol, under the names that the Swift sources give them: `SignalingError.Code` and
// `CloseReason`.

/** Error codes. Those from `termsOfServiceFailure` on without a Swift twin belong to OpenTok's media calls. */
export const Code = Object.freeze({
  invalidParameter: 400,
  permissionDenied: 403,
  notFound: 404,
  tooLong: 413,
  rateLimited: 429,
  notConnected: 500,
  authenticationError: 1004,
  invalidSession: 1005,
  connectFailed: 1006,
  notConnectedToModerate: 1010,
  badTarget: 1011,
  connectionFailed: 1013,
  illegalState: 1015,
  termsOfServiceFailure: 1026,
  connectionLimitExceeded: 1027,
  unableToPublish: 1500,
  unableToSubscribe: 1501,
  unableToForceDisconnect: 1520,
  unableToForceUnpublish: 1530,
  unableToForceMute: 1540,
  userBanned: 1570,
  streamLimitExceeded: 1605,
  internalError: 2000,
  unexpectedServerResponse: 2001,
});

/** WebSocket close codes (CLOSE-1). */
export const CloseCode = Object.freeze({
  normal: 1000,
  goingAway: 1001,
  noStatus: 1005,
  abnormal: 1006,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  badGateway: 1014,
  /** The first code that applications define. */
  firstOfApplications: 3000,
  heartbeatMissed: 4001,
  /** The first code after which a client does not reconnect. */
  firstFinal: 4500,
  forceDisconnected: 4502,
  tokenExpired: 4505,
});
