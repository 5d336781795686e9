// Why something did not work, as the key of a sentence for the user. The codes are those of docs/PROTOCOL.md, section 10;
// they, and the server's own words, are for developers. The library has made a reason and an error of a close code.
import { Code } from '../../client/wire/codes.js';
import { isRevoked } from '../connection/person.js';

/** The reason with which this library's `connect` gives up in time has no code of the protocol. */
export const NO_ANSWER = 'noAnswer';
export const NOT_SET_UP = 'notSetUp';

/** A moderator keeps the user out (MOD-3). */
export const BANNED = 'banned';

/** The page's Content-Security-Policy does not permit the server. */
export const BLOCKED = 'blocked';
const OLD_BROWSER = 'oldBrowser';

/** For developers. */
const REVOKED = 'The server ended the connection: the token was revoked.';

/**
 * Why the chat has no connection. `isBlocked`: by the page's policy; `isFinal`: the browser has no sockets; `isSilent`:
 * no answer came in time; `isOfPage`: only the page can mend it.
 */
export function causeOfFailure({ isBlocked, isFinal, isSilent, isOfPage, ...error }, isOnline) {
  if (isBlocked) return BLOCKED;
  if (isFinal) return OLD_BROWSER;
  if (isSilent) return NO_ANSWER;
  return isOfPage ? NOT_SET_UP : causeOfFailedConnect(error, isOnline);
}

/** Why a connect failed, by the code of its error. `isOnline`: whether the browser believes to have a network. */
export function causeOfFailedConnect({ code, message = '' }, isOnline = true) {
  switch (code) {
    case Code.authenticationError:
      // The protocol has one code for all refused tokens. Its words tell which of them have expired, or were revoked.
      return /expired/.test(message) ? 'expired' : /revoked/.test(message) ? 'revoked' : 'refused';
    case Code.invalidSession:
      return 'wrongChat';
    case Code.connectionLimitExceeded:
      return 'full';
    case Code.userBanned:
      return BANNED;
    case Code.connectFailed:
    case Code.notConnected:
      return isOnline ? 'unreachable' : 'offline';
    default:
      // Everything else is a fault of a program: of the page, the library, the server, or a proxy.
      return 'serverFault';
  }
}

/**
 * The end of a connection with this token, as `{reason, error, restriction}` of `sessionDisconnected`. To the library a
 * token that was revoked has expired. `now` is the server's time.
 */
export function endOf({ reason, error, restriction = error?.restriction }, token, now) {
  const isToken = error?.code === Code.authenticationError && /expired/.test(error.message);
  const isEarly = isToken && isRevoked(token, now);
  return { reason, error: isEarly ? { code: error.code, message: REVOKED } : error, restriction };
}

/**
 * Why a session ended: its `reason`, the error with which the server refused to go on, and the restriction that has ended
 * it, if there are any.
 */
export function causeOfEnd(reason, error = null, restriction = null) {
  if (restriction?.kind === 'ban' || error?.code === Code.userBanned) return BANNED;
  if (error?.code === Code.authenticationError) return causeOfFailedConnect(error);
  switch (reason) {
    case 'forceDisconnected':
      return 'removed';
    case 'networkDisconnected':
      return 'lost';
    default:
      return 'ended';
  }
}

/** Causes after which the same attempt cannot succeed, or after which the user was not meant to come back by a key. */
const FINAL = new Set(['expired', 'revoked', 'removed', BANNED, NOT_SET_UP, BLOCKED, OLD_BROWSER]);

/** Whether the element may try again by itself, and the user with a button. */
export function mayComeBack(cause) {
  return !FINAL.has(cause);
}

/**
 * What a message that was not sent says, by the code of its error and the restriction that it names, and what the user
 * can do with it: `retry` it, `edit` it, or neither.
 */
export function causeOfUnsent(code, restriction = undefined) {
  if (restriction !== undefined) return { key: 'failedRestricted', remedy: 'retry' };
  switch (code) {
    case Code.tooLong:
      return { key: 'failedTooLarge', remedy: 'edit' };
    case Code.permissionDenied:
      return { key: 'failedNotAllowed', remedy: null };
    case Code.rateLimited:
      return { key: 'failedTooFast', remedy: 'retry' };
    case Code.notConnected:
      return { key: 'failedLost', remedy: 'retry' };
    case Code.invalidParameter:
    case Code.notFound:
      return { key: 'failedOther', remedy: null };
    default:
      return { key: 'failedOther', remedy: 'retry' };
  }
}
