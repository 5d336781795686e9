// Whether a message of the server has the members that its event must have. Members that are not checked here may be
// absent.

const SHAPES = new Map([
  ['connected', isWholeConnected],
  ['connections', (message) => isConnectionList(message.connections) && isCount(message.rest)],
  ['ack', hasId],
  ['error', (message) => Number.isInteger(message.code)],
  ['signal', isWholeSignal],
  ['history', isWholeHistory],
  ['erased', isWholeErasure],
  ['connectionCreated', (message) => isConnection(message.connection)],
  ['connectionDestroyed', (message) => typeof message.connectionId === 'string'],
  ['connectionAway', (message) => typeof message.connectionId === 'string'],
  ['connectionBack', (message) => typeof message.connectionId === 'string'],
  ['disconnected', () => true],
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
  return typeof value === 'object' && value !== null && typeof value.connectionId === 'string';
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
    typeof message.heartbeatSeconds === 'number' &&
    message.heartbeatSeconds > 0
  );
}

function isConnectionList(value) {
  return Array.isArray(value) && value.every(isConnection);
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
  const { first, last, more, messages } = message;
  return (
    ((first === undefined && last === undefined) || (isCount(first) && isRange({ first, last }))) &&
    isOptional(more, 'boolean') &&
    Array.isArray(messages) &&
    messages.every(isWholeHistoryMessage)
  );
}

function isWholeHistoryMessage(value) {
  return (
    isCount(value?.seq) &&
    Number.isInteger(value.time) &&
    (value.connection === undefined || isConnection(value.connection)) &&
    isOptional(value.erased, 'boolean') &&
    (value.erased === true || ['type', 'data'].every((name) => isOptional(value[name], 'string')))
  );
}

/** One message or all up to one, not both (HIS-9). */
function isWholeErasure({ seq, ref, through }) {
  return isCount(seq) && (ref === undefined ? isCount(through) : isCount(ref) && through === undefined);
}

function isOptional(value, type) {
  return value === undefined || typeof value === type;
}
