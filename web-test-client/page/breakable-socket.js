// Sockets that a person can break, to watch a connection come back. The library takes `WebSocket` as it finds it when it
// is loaded, so this module has to be loaded before it.

/** A page cannot cut a cable. To the server a close with this code is a loss, too: the connection may be resumed. */
const DROPPED = 4000;

const open = new Set();

globalThis.WebSocket = class BreakableWebSocket extends globalThis.WebSocket {
  constructor(...args) {
    super(...args);
    open.add(this);
    this.addEventListener('close', () => open.delete(this));
  }
};

export function breakSockets() {
  for (const socket of open) socket.close(DROPPED, 'dropped by hand');
}
