// Whether a message of the server has the members that its event must have. Members that are not checked here may be
// absent.

const SHAPES = new Map([
  ['connected', isWholeConnected],
  ['connections', (message) => isConnectionList(message.connections) && isCount(message.rest)],
  ['ack', hasId],
  ['error', (message) => Number.isInteger(message.code)],
  ['signal', isWholeSignal],
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
    ['type', 'data', 'to'].every((name) => message[name] === undefined || typeof message[name] === 'string')
  );
}
