// A session's history as programs see it: what they ask for, and the pages that they get. An extension; OpenTok keeps no
// signals.

import { isUser } from './moderation.js';
import { decodeData } from '../signal/signal-data.js';

const STANDARD_LIMIT = 50;
const PAGE_COUNT = 200;

/** The members of a `history` request (HIS-6); null if the program's position or limit is none. */
export function historyRequest(position) {
  const { before, after, limit = STANDARD_LIMIT } = position ?? {};
  if (isGiven(before) && isGiven(after)) return null;
  if (![before, after].every((seq) => !isGiven(seq) || isSeq(seq)) || !Number.isFinite(limit)) return null;
  return {
    ...(isGiven(before) ? { before } : {}),
    ...(isGiven(after) ? { after } : {}),
    limit: Math.min(Math.max(1, Math.trunc(limit)), PAGE_COUNT),
  };
}

/** The option of a connect (HIS-5) from that of `initSession`: `{last}` or `{after, limit}`; null if it is neither. */
export function historyOption({ last, after, limit }) {
  const request = historyRequest({ after, limit: isGiven(after) ? limit : last });
  return request === null || isGiven(after) ? request : { last: request.limit };
}

/** The members of an `erase` request (HIS-9); null unless the program names one message, the last of all, or a user. */
export function erasureRequest(erasure) {
  const { ref, through, user } = erasure ?? {};
  if ([ref, through, user].filter(isGiven).length !== 1) return null;
  if (isGiven(user)) return isUser(user) ? { user } : null;
  const [name, seq] = isGiven(ref) ? ['ref', ref] : ['through', through];
  return isSeq(seq) ? { [name]: seq } : null;
}

/** A page of the server as programs get it. `senderOf(connection)` is the Connection of a described one. */
export function pageOf({ first = null, last = null, more = false, messages }, senderOf) {
  return {
    first,
    last,
    more,
    messages: messages.map(({ seq, connection, type, data, json, time, erased = false }) => ({
      seq,
      from: connection ? senderOf(connection) : null,
      // As in the events of live signals.
      ...(erased ? {} : { type: type ? `signal:${type}` : 'signal', data: decodeData({ data, isJSON: json === true }) }),
      time,
      erased,
    })),
  };
}

function isGiven(value) {
  return value !== undefined && value !== null;
}

function isSeq(value) {
  return Number.isSafeInteger(value) && value >= 0;
}
