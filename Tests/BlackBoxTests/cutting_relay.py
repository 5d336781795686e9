"""A TCP relay in front of a server: it can cut the connections, refuse new ones, and lead to another server."""

import asyncio


class Relay:
    """`async with Relay(server) as relay` listens on loopback; `relay.url` is its WebSocket address.

    A test sets `server` to None to refuse connections, and to another server to lead there.
    """

    def __init__(self, server):
        self.server = server
        self._writers = set()

    async def __aenter__(self):
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = self._listener.sockets[0].getsockname()[1]
        self.url = f"ws://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_):
        self._listener.close()
        self.cut()

    def cut(self):
        """Ends all connections without a close frame."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def _accept(self, reader, writer):
        if self.server is None:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection(self.server.host, self.server.port)
        await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer))

    async def _copy(self, reader, writer):
        self._writers.add(writer)
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
