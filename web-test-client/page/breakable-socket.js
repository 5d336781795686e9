// Sockets that a person can break, to watch a connection come back. The library takes `WebSocket` as it finds it when it
// is loaded, so a cable has to be there before it.

/** A page cannot cut a cable. To the server a close with this code is a loss, too: the connection may be resumed. */
const DROPPED = 4000;

const PlainWebSocket = globalThis.WebSocket;

/**
 * Lays a cable: what is loaded from now on connects through it. `drop()` breaks what is connected; it may come back at once.
 * `isUnplugged = true` breaks it and keeps it broken.
 */
export function layCable() {
  const open = new Set();
  let isUnplugged = false;

  globalThis.WebSocket = class BreakableWebSocket extends PlainWebSocket {
    constructor(...args) {
      super(...args);
      open.add(this);
      this.addEventListener('open', () => isUnplugged && this.close(DROPPED, 'unplugged by hand'));
      this.addEventListener('close', () => open.delete(this));
    }

    send(data) {
      if (!isUnplugged) super.send(data);
    }
  };

  const drop = () => {
    // One that is not open yet is closed when it is: a browser would complain of anything else.
    for (const socket of open) {
      if (socket.readyState === PlainWebSocket.OPEN) socket.close(DROPPED, 'dropped by hand');
    }
  };

  return {
    drop,
    get isUnplugged() {
      return isUnplugged;
    },
    set isUnplugged(wish) {
      isUnplugged = wish;
      if (wish) drop();
    },
  };
}

/** The first cable, laid before anything else is loaded. */
export const firstCable = layCable();
