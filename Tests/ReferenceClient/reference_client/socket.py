"""One WebSocket: it carries out what the client wants, and reports what happens. It decides nothing."""

import asyncio
import urllib.parse

import websockets

SUBPROTOCOL = "signalbox.v1"
PATH = "/v1/signaling"
# A longer session ID is not valid, and not put into the URL (WIRE-17).
SESSION_ID_BYTES = 255
# WIRE-11: a client accepts messages of up to 16 MiB.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
BINARY_MESSAGE = 1003
NO_CLOSE_FRAME = 1006


def url_of(server, session):
    """The URL of the socket, with the session in its query."""
    name = session.encode()
    query = "?sessionId=" + urllib.parse.quote(name, safe="") if len(name) <= SESSION_ID_BYTES else ""
    return server + PATH + query


class Socket:
    """`opened()`, `received(text)` and `closed(code)` are called on the event loop; `closed` is called once, last."""

    def __init__(self, url, opened, received, closed):
        self._url, self._opened, self._received, self._closed = url, opened, received, closed
        self._outgoing = asyncio.Queue()
        self._websocket = None
        self._task = asyncio.get_running_loop().create_task(self._run())

    def send(self, text):
        self._outgoing.put_nowait(text)

    def close(self, code):
        """Sends a close frame after all that was sent before. A socket that is not open yet is given up."""
        if self._websocket:
            self._outgoing.put_nowait(code)
        else:
            self._task.cancel()

    def cut(self):
        """Ends the TCP connection without a close frame, as a failing network does."""
        if self._websocket:
            self._websocket.transport.abort()

    async def end(self):
        """Ends the socket at once."""
        self.cut()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self):
        code = NO_CLOSE_FRAME
        try:
            # The heartbeat of the protocol replaces WebSocket pings (HB-3), and the client has its own timers.
            async with websockets.connect(
                self._url,
                subprotocols=[SUBPROTOCOL],
                max_size=MAX_MESSAGE_BYTES,
                open_timeout=None,
                ping_interval=None,
                close_timeout=5,
                compression=None,
                proxy=None,
            ) as websocket:
                self._websocket = websocket
                self._opened()
                writer = asyncio.create_task(self._write(websocket))
                try:
                    await self._read(websocket)
                finally:
                    writer.cancel()
                code = websocket.close_code
        except (OSError, websockets.WebSocketException):
            pass  # A failed handshake, whatever its status (WIRE-1).
        finally:
            self._closed(code)

    async def _read(self, websocket):
        try:
            while True:
                message = await websocket.recv()
                if isinstance(message, str):
                    self._received(message)
                else:
                    await websocket.close(BINARY_MESSAGE)
        except websockets.ConnectionClosed:
            pass

    async def _write(self, websocket):
        try:
            while True:
                match await self._outgoing.get():
                    case str(text):
                        await websocket.send(text)
                    case code:
                        await websocket.close(code)
        except websockets.ConnectionClosed:
            pass
