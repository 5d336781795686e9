import { authorOf } from './author.js';

// Which messages form a group, and which message of a group shows name and time. Messages of unknown
// authors never group. A message dated before its predecessor counts as close to it.

/**
 * A message groups if it is less than 120 s younger than the one before and less than 10 min younger than the group's
 * first, with the same side, author and day. A failed message stands alone. Others' groups show the name on the first
 * message; the last shows the time. Dates are those of arrival: wrong clocks of others change nothing.
 * @type {GroupingRule}
 */
export const STANDARD_RULE = Object.freeze({
  window: 120_000,
  span: 600_000,
  clock: 'arrival',
  breaksAtDay: true,
  breaksAtFailure: true,
  separatesOwnMessages: true,
  timePosition: 'last',
  showsOwnName: false,
});

/**
 * OpenTok's text chat of 2015 (CHAT-7): a message groups if it is less than 120 s younger than the one before by the
 * senders' clocks, with the same author. The first message shows name and time.
 * @type {GroupingRule}
 */
export const OPENTOK_RULE = Object.freeze({
  window: 120_000,
  span: null,
  clock: 'sender',
  breaksAtDay: false,
  breaksAtFailure: false,
  separatesOwnMessages: false,
  timePosition: 'first',
  showsOwnName: true,
});

/** The date of a message for grouping and for its day; null if there is none. */
export function momentOf(message, rule) {
  const { receivedAt, sentAt } = message;
  return (rule.clock === 'arrival' ? (receivedAt ?? sentAt) : (sentAt ?? receivedAt)) ?? null;
}

/**
 * Whether `next` continues the group of `previous`, whose first message is dated `anchor`, apart from days and gaps.
 */
export function continuesGroup(previous, anchor, next, rule) {
  const earlier = momentOf(previous, rule);
  const later = momentOf(next, rule);
  if (!isSameSender(previous, next, rule) || earlier === null || later === null) return false;
  if (rule.breaksAtFailure && (previous.state === 'failed' || next.state === 'failed')) return false;
  if (rule.span !== null && anchor !== null && later - anchor >= rule.span) return false;
  return later - earlier < rule.window;
}

function isSameSender(previous, next, rule) {
  if (rule.separatesOwnMessages) {
    if (previous.direction !== next.direction) return false;
    if (next.direction === 'sent') return true;
  }
  const author = authorOf(next);
  return author !== null && authorOf(previous) === author;
}
