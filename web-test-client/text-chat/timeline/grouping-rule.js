// When a message belongs to the group of the one before it, and which message of a group shows name and time. Senders
// without an id never group. A message dated before its predecessor counts as close to it.

/**
 * Less than 120 s after the one before and less than 10 min after the group's first, same side, sender and day; a failed
 * message stands alone; the name on others' first, the time on the last. Dates are those of arrival: others' clocks, wrong by
 * a year, change nothing.
 */
export const STANDARD_RULE = Object.freeze({
  window: 120_000,
  span: 600_000,
  clock: 'arrival',
  breaksAtDay: true,
  breaksAtFailure: true,
  tellsSides: true,
  timePlace: 'last',
  showsOwnName: false,
});

/**
 * OpenTok's text chat of 2015 (CHAT-7): less than 120 s after the one before by the senders' clocks, and the same sender id;
 * nothing else counts. Name and time on the first.
 */
export const OPENTOK_RULE = Object.freeze({
  window: 120_000,
  span: null,
  clock: 'sender',
  breaksAtDay: false,
  breaksAtFailure: false,
  tellsSides: false,
  timePlace: 'first',
  showsOwnName: true,
});

/** The moment that counts for grouping, and for the day; null when there is none. */
export function momentOf(message, rule) {
  return rule.clock === 'arrival' ? (message.receivedAt ?? message.sentAt ?? null) : (message.sentAt ?? message.receivedAt ?? null);
}

/** Whether `next` belongs to the group of `previous`, whose first message is dated `anchor`. Days and gaps apart. */
export function continuesGroup(previous, anchor, next, rule) {
  const earlier = momentOf(previous, rule);
  const later = momentOf(next, rule);
  if (!isSameSender(previous, next, rule) || earlier === null || later === null) return false;
  if (rule.breaksAtFailure && (previous.state === 'failed' || next.state === 'failed')) return false;
  if (rule.span !== null && anchor !== null && later - anchor >= rule.span) return false;
  return later - earlier < rule.window;
}

function isSameSender(previous, next, rule) {
  if (rule.tellsSides) {
    if (previous.direction !== next.direction) return false;
    if (next.direction === 'sent') return true;
  }
  return next.senderId !== null && next.senderId !== undefined && previous.senderId === next.senderId;
}
