// Whether a message of the server has the members that its event must have. Members that are not checked here may be
// absent.

const SHAPES = new Map([
  ['connected', isWholeConnected],
  ['connections', (message) => isConnectionList(message.connections) && isCount(message.rest)],
  ['ack', hasId],
  ['error', isWholeError],
  ['signal', isWholeSignal],
  ['history', isWholeHistory],
  ['change', isWholeChange],
  ['reactions', (message) => isCount(message.seq) && isCount(message.ref) && isReactionList(message.reactions)],
  ['reacted', (message) => isCount(message.seq) && isOwnReactions(message)],
  ['reactors', (message) => hasId(message) && isReactorList(message.reactors)],
  ['read', isMarker],
  ['erased', isWholeErasure],
  ['moderated', (message) => isCount(message.seq) && typeof message.action === 'string'],
  ['restricted', (message) => isCount(message.seq) && isRestriction(message)],
  ['unrestricted', (message) => isCount(message.seq) && typeof message.kind === 'string'],
  ['restrictions', (message) => hasId(message) && isRestrictionList(message.restrictions)],
  ['connectionCreated', (message) => isConnection(message.connection)],
  ['connectionDestroyed', (message) => typeof message.connectionId === 'string'],
  ['streams', (message) => isCount(message.seq) && isAnnouncement(message)],
  ['connectionAway', (message) => typeof message.connectionId === 'string'],
  ['connectionBack', (message) => typeof message.connectionId === 'string'],
  ['disconnected', (message) => isOptionalRestriction(message.restriction)],
  ['ping', () => true],
]);

/** True or false; null for an event that this version of the protocol does not know. */
export function isWhole(message) {
  return SHAPES.get(message.ev)?.(message) ?? null;
}

function hasId(message) {
  return Number.isInteger(message.id);
}

function isConnection(value) {
  return (
    typeof value === 'object' && value !== null &&
    typeof value.connectionId === 'string' && isOptional(value.user, 'string')
  );
}

function isWholeConnected(message) {
  return (
    isConnection(message.connection) &&
    isConnectionList(message.connections) &&
    (message.connectionCount === undefined || isCount(message.connectionCount)) &&
    typeof message.epoch === 'string' &&
    Number.isInteger(message.seq) &&
    (message.away === undefined || isTextList(message.away)) &&
    (message.missing === undefined || isRange(message.missing)) &&
    isOptional(message.history, 'boolean') &&
    (message.changes === undefined || isTextList(message.changes)) &&
    (message.read === undefined || isReadState(message.read)) &&
    (message.streams === undefined || (Array.isArray(message.streams) && message.streams.every(isAnnouncement))) &&
    (message.restrictions === undefined || isRestrictionList(message.restrictions)) &&
    typeof message.heartbeatSeconds === 'number' &&
    message.heartbeatSeconds > 0
  );
}

function isConnectionList(value) {
  return Array.isArray(value) && value.every(isConnection);
}

/** The streams of one connection (STR-2). */
function isAnnouncement(value) {
  return (
    isConnection(value?.connection) &&
    Array.isArray(value.streams) &&
    value.streams.every((each) => typeof each?.streamId === 'string' && typeof each.name === 'string') &&
    isOptional(value.reason, 'string')
  );
}

function isTextList(value) {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isCount(value) {
  return Number.isInteger(value) && value >= 0;
}

function isRange(value) {
  return Number.isInteger(value?.first) && Number.isInteger(value.last) && value.first <= value.last;
}

function isWholeSignal(message) {
  return (
    // Online-only signals have no seq.
    (message.seq === undefined || Number.isInteger(message.seq)) &&
    (message.from === null || typeof message.from === 'string') &&
    ['type', 'data', 'to'].every((name) => isOptional(message[name], 'string'))
  );
}

/** The answer to `history` is a page, or the error of a page that a connect asked for (HIS-5). */
function isWholeHistory(message) {
  if (!hasId(message)) return false;
  if (message.error !== undefined) return Number.isInteger(message.error?.code);
  const { first, last, more, messages, changedThrough, all, mine } = message;
  return (
    isOptional(changedThrough, 'number') &&
    isOptional(all, 'boolean') &&
    (mine === undefined || (Array.isArray(mine) && mine.every(isOwnReactions))) &&
    ((first === undefined && last === undefined) || (isCount(first) && isRange({ first, last }))) &&
    isOptional(more, 'boolean') &&
    // CHG-9: `all` stands in the place of messages.
    (all === true || (Array.isArray(messages) && messages.every(isWholeHistoryMessage)))
  );
}

function isWholeHistoryMessage(value) {
  return (
    isCount(value?.seq) &&
    Number.isInteger(value.time) &&
    (value.connection === undefined || isConnection(value.connection)) &&
    isOptional(value.erased, 'boolean') &&
    isOptional(value.changed, 'number') &&
    isOptional(value.edited, 'number') &&
    (value.reactions === undefined || isReactionList(value.reactions)) &&
    isOptional(value.reacted, 'number') &&
    (value.erased === true || ['type', 'data'].every((name) => isOptional(value[name], 'string')))
  );
}

/** CHG-2. Kinds that this version does not know may come. */
function isWholeChange(message) {
  return isCount(message.seq) && isCount(message.ref) && typeof message.rel === 'string' && isWholeSignal(message);
}

/** CHG-12: how often a message has each key. */
function isReactionList(value) {
  return Array.isArray(value) && value.every((each) => typeof each?.key === 'string' && isCount(each.count));
}

function isReactorList(value) {
  return isReactionList(value) && value.every(({ users }) => isTextList(users));
}

/** The keys of one user on a message. */
function isOwnReactions(value) {
  return isCount(value?.ref) && isTextList(value.keys);
}

/** Up to which seq a user has read. */
function isMarker(value) {
  return typeof value?.user === 'string' && isCount(value.through);
}

/** READ-3. */
function isReadState(value) {
  return (
    typeof value?.markers === 'string' &&
    (value.through === undefined || isCount(value.through)) &&
    (value.unread === undefined || isCount(value.unread)) &&
    (value.readers === undefined || (Array.isArray(value.readers) && value.readers.every(isMarker)))
  );
}

/** One message, all up to one, or those of a user: exactly one of them (HIS-9). */
function isWholeErasure({ seq, ref, through, user }) {
  const named = [ref, through, user].filter((each) => each !== undefined);
  return isCount(seq) && named.length === 1 && (user === undefined ? isCount(named[0]) : typeof user === 'string');
}

function isWholeError({ code, restriction, retryAfter }) {
  return (
    Number.isInteger(code) && isOptionalRestriction(restriction) && (retryAfter === undefined || isCount(retryAfter))
  );
}

/** MOD-2. Kinds that this version does not know may come. */
function isRestriction(value) {
  return (
    typeof value?.kind === 'string' &&
    (value.until === undefined || isCount(value.until)) &&
    isOptional(value.reason, 'string') &&
    isOptional(value.user, 'string') &&
    (value.ref === undefined || isCount(value.ref))
  );
}

function isOptionalRestriction(value) {
  return value === undefined || isRestriction(value);
}

function isRestrictionList(value) {
  return Array.isArray(value) && value.every(isRestriction);
}

function isOptional(value, type) {
  return value === undefined || typeof value === type;
}
