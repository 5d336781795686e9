/**
 * A page cannot break a TCP connection. The server treats a close with this code as a lost socket, so the connection
 * can resume.
 */
const DROP_CODE = 4000;

/**
 * Makes a kind of WebSocket that the page can cut and watch. Give `WebSocket` to a library. `drop()` closes its
 * sockets; the library may reconnect at once. `isOffline = true` closes them and keeps new ones from working.
 * `tryNow()` lets the library reconnect at once.
 * `watch(direction, text)` is called for each text message, with `in` or `out`, before the library receives it, and
 * `back()` when the network is no longer off.
 */
export function networkSwitch(PlainWebSocket = globalThis.WebSocket) {
  const sockets = new Set();
  let isOffline = false;
  let watch = () => {};
  let back = () => {};

  class SwitchedWebSocket extends PlainWebSocket {
    constructor(...args) {
      super(...args);
      sockets.add(this);
      this.addEventListener('open', () => isOffline && this.close(DROP_CODE, 'the page is offline'));
      this.addEventListener('message', ({ data }) => watch('in', data));
      this.addEventListener('close', () => sockets.delete(this));
    }

    send(data) {
      if (isOffline) return;
      super.send(data);
      watch('out', data);
    }
  }

  const drop = () => {
    // A socket that is still connecting is closed when it opens: the browser would report an error otherwise.
    for (const socket of sockets) {
      if (socket.readyState === PlainWebSocket.OPEN) socket.close(DROP_CODE, 'dropped on the page');
    }
  };

  return {
    WebSocket: SwitchedWebSocket,
    drop,
    tryNow: () => back(),
    set watch(value) {
      watch = value;
    },
    set back(value) {
      back = value;
    },
    get isOffline() {
      return isOffline;
    },
    set isOffline(value) {
      const wasOffline = isOffline;
      isOffline = value;
      if (value) drop();
      else if (wasOffline) back();
    },
  };
}
