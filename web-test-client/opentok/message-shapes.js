// Whether a message of the server has what its kind must have. What is not looked at here may be absent.

export function isConnection(value) {
  return typeof value === 'object' && value !== null && typeof value.connectionId === 'string';
}

export function isWholeConnected(message) {
  return (
    isConnection(message.connection) &&
    Array.isArray(message.connections) &&
    message.connections.every(isConnection) &&
    Number.isInteger(message.seq) &&
    typeof message.heartbeatSeconds === 'number' &&
    message.heartbeatSeconds > 0
  );
}

export function isWholeSignal(message) {
  return (
    (message.from === null || typeof message.from === 'string') &&
    ['type', 'data', 'to'].every((name) => message[name] === undefined || typeof message[name] === 'string')
  );
}
