"""A TCP connection that sends any bytes: WebSocket frames with any bits set, or something other than HTTP."""

import asyncio
import base64
import contextlib
import json
import os
import socket
import struct

# A wait that takes longer has failed. It is long, so that it suits a busy machine; a test that passes does not wait.
DEADLINE = 60

# The receive buffer of a client that stalls. It is small compared with the data that a test sends, so that data soon
# waits in the server. With a buffer below the size of a segment, the rest would arrive at a few kilobytes a second:
# each segment would wait for a retransmission.
STALLED_BUFFER = 1 << 18

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10


def frame(opcode, payload=b"", fin=True, masked=True, reserved=0):
    head = bytes([(0x80 if fin else 0) | reserved << 4 | opcode])
    mask_bit = 0x80 if masked else 0
    if len(payload) < 126:
        head += bytes([mask_bit | len(payload)])
    elif len(payload) < 1 << 16:
        head += struct.pack("!BH", mask_bit | 126, len(payload))
    else:
        head += struct.pack("!BQ", mask_bit | 127, len(payload))
    if not masked:
        return head + payload
    # A mask of zeros is valid, and keeps the payload readable here.
    return head + bytes(4) + payload


def handshake(path="/v1/signaling", host="localhost", **replaced):
    """The request that opens a WebSocket. `replaced` changes header lines; None removes one."""
    headers = {
        "Host": host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Protocol": "signalbox.v1",
    } | replaced
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value is not None]
    return "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode()


class RawSocket:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, server, receive_buffer=None, source=None):
        tcp = socket.socket()
        if source:
            tcp.bind((source, 0))
        if receive_buffer:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        tcp.setblocking(False)
        await asyncio.wait_for(asyncio.get_running_loop().sock_connect(tcp, (server.host, server.port)), DEADLINE)
        # A small limit: unread data stays in the kernel.
        return cls(*await asyncio.open_connection(sock=tcp, limit=1 << 16))

    @classmethod
    async def websocket(cls, server, **options):
        raw = await cls.open(server, **options)
        await raw.send(handshake())
        assert (await raw.head()).startswith("HTTP/1.1 101"), "the server refused the WebSocket"
        return raw

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.writer.transport.abort()

    async def send(self, data):
        self.writer.write(data)
        await asyncio.wait_for(self.writer.drain(), DEADLINE)

    async def send_text(self, text, **options):
        await self.send(frame(TEXT, text if isinstance(text, bytes) else text.encode(), **options))

    async def head(self, timeout=DEADLINE):
        """The header block of a response, or "" if the connection ended instead."""
        try:
            return (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), timeout)).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return ""

    async def frame(self, timeout=DEADLINE):
        """The opcode and payload of the next frame, or None at the end of the connection."""
        try:
            async with asyncio.timeout(timeout):
                first, second = await self.reader.readexactly(2)
                self.is_final = bool(first & 128)
                length = second & 127
                if length == 126:
                    (length,) = struct.unpack("!H", await self.reader.readexactly(2))
                elif length == 127:
                    (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
                return first & 15, await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    @contextlib.asynccontextmanager
    async def signs_of_life(self):
        """Sends a `pong` now and then: a client that reads nothing answers no heartbeat, however long a machine needs."""

        async def send():
            with contextlib.suppress(ConnectionError):
                while True:
                    await self.send_text('{"op":"pong"}')
                    await asyncio.sleep(2)

        sending = asyncio.create_task(send())
        try:
            yield
        finally:
            sending.cancel()

    async def objects(self):
        """The objects of the next text message."""
        opcode, payload = await self.frame()
        assert opcode == TEXT, (opcode, payload)
        # A long `connected` may come in fragments (CON-11).
        while not self.is_final:
            opcode, rest = await self.frame()
            if opcode == CONTINUATION:
                payload += rest
        return [json.loads(line) for line in payload.split(b"\n") if line]

    async def close_code(self, timeout=DEADLINE):
        """Waits for the end and returns the code of the close frame, or None if there was none."""
        async with asyncio.timeout(timeout):
            while True:
                got = await self.frame(timeout)
                if got is None:
                    return None
                if got[0] == CLOSE:
                    return struct.unpack("!H", got[1][:2])[0] if got[1] else 1005

    async def ends(self, timeout=DEADLINE):
        """Waits until the server has closed the connection, and returns everything it sent before."""
        received = b""
        try:
            async with asyncio.timeout(timeout):
                while chunk := await self.reader.read(65536):
                    received += chunk
        except ConnectionError:
            pass
        return received
