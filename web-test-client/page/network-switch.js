// Sockets that the user can close, to watch a connection resume. The library reads `WebSocket` when it is loaded, so
// install a network switch before.

/**
 * A page cannot break a TCP connection. The server treats a close with this code as a lost socket, so the connection
 * can resume.
 */
const DROP_CODE = 4000;

const PlainWebSocket = globalThis.WebSocket;

/**
 * Installs a switch for all libraries that are loaded from now on. `drop()` closes their sockets; they may reconnect at
 * once. `isOffline = true` closes them and keeps new ones from working.
 */
export function installNetworkSwitch() {
  const sockets = new Set();
  let isOffline = false;

  globalThis.WebSocket = class SwitchedWebSocket extends PlainWebSocket {
    constructor(...args) {
      super(...args);
      sockets.add(this);
      this.addEventListener('open', () => isOffline && this.close(DROP_CODE, 'the page is offline'));
      this.addEventListener('close', () => sockets.delete(this));
    }

    send(data) {
      if (!isOffline) super.send(data);
    }
  };

  const drop = () => {
    // A socket that is still connecting is closed when it opens: the browser would report an error otherwise.
    for (const socket of sockets) {
      if (socket.readyState === PlainWebSocket.OPEN) socket.close(DROP_CODE, 'dropped on the page');
    }
  };

  return {
    drop,
    get isOffline() {
      return isOffline;
    },
    set isOffline(value) {
      isOffline = value;
      if (value) drop();
    },
  };
}

/** The first switch, installed before any library is loaded. */
export const firstNetworkSwitch = installNetworkSwitch();
