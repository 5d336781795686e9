// A session's history as programs see it: what they ask for, and the pages that they get. An extension; OpenTok keeps no
// signals.

import { isUser } from './moderation.js';
import { decodeData, encodeData } from '../signal/signal-data.js';

const STANDARD_LIMIT = 50;
const PAGE_COUNT = 200;
/** In UTF-16 units (SIG-3). */
const DATA_LENGTH = 8192;
const KEY_LENGTH = 32;

const POSITIONS = ['before', 'after', 'changedAfter'];

/** The members of a `history` request (HIS-6); null if the program's position or limit is none. */
export function historyRequest(position) {
  const { limit = STANDARD_LIMIT } = position ?? {};
  const named = POSITIONS.filter((name) => isGiven(position?.[name]));
  if (named.length > 1 || !named.every((name) => isSeq(position[name])) || !Number.isFinite(limit)) return null;
  return {
    ...Object.fromEntries(named.map((name) => [name, position[name]])),
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

/** The members of a `change` request (CHG-1), with the text of its data; null unless it is an edit of a message. */
export function changeRequest(change, log) {
  const { ref, rel, data } = change ?? {};
  if (!isSeq(ref) || rel !== 'edit' || !isGiven(data)) return null;
  try {
    const { data: text, isJSON = false } = encodeData(data, log);
    return text.length > DATA_LENGTH ? null : { ref, rel, data: text, ...(isJSON ? { json: true } : {}) };
  } catch {
    // JSON cannot write the value.
    return null;
  }
}

/** The members of a `react` request: the whole set of the user on a message; null unless it names both. */
export function reactionRequest(given) {
  const { ref, keys } = given ?? {};
  const isWhole = isSeq(ref) && Array.isArray(keys) && keys.every(isKey);
  return isWhole ? { ref, keys: [...keys] } : null;
}

/** The members of a `reactors` request; null unless it names a message, and perhaps a key. */
export function reactorsRequest(given) {
  const { ref, key } = given ?? {};
  if (!isSeq(ref) || (isGiven(key) && !isKey(key))) return null;
  return isGiven(key) ? { ref, key } : { ref };
}

/** The members of a `read` request (READ-1); null unless it names a seq. */
export function markerRequest(given) {
  return isSeq(given?.through) ? { through: given.through } : null;
}

/** A page of the server as programs get it. `senderOf(connection)` is the Connection of a described one. */
export function pageOf({ first = null, last = null, more = false, messages, changedThrough, all, mine }, senderOf) {
  // In the place of messages the server may say that it cannot list them.
  const listed = all === true ? [] : messages;
  return {
    first,
    last,
    more,
    ...present({ changedThrough, all, mine }),
    messages: listed.map(({ seq, connection, type, data, json, time, erased = false, ...later }) => ({
      seq,
      from: connection ? senderOf(connection) : null,
      // As in the events of live signals.
      ...(erased ? {} : { type: type ? `signal:${type}` : 'signal', data: decodeData({ data, isJSON: json === true }) }),
      time,
      erased,
      ...present({ changed: later.changed, edited: later.edited, reactions: later.reactions, reacted: later.reacted }),
    })),
  };
}

/** Without those that the server has not sent. */
function present(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function isGiven(value) {
  return value !== undefined && value !== null;
}

/** In UTF-16 units; the server has the other limits of keys. */
function isKey(value) {
  return typeof value === 'string' && value.length > 0 && value.length <= KEY_LENGTH;
}

function isSeq(value) {
  return Number.isSafeInteger(value) && value >= 0;
}
