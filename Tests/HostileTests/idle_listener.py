"""A listener that does nothing for its clients, in a process of its own: the cost of the machine that an attacker and
a bystander share, without the cost of a server.

    idle_listener.py

It prints its port. It accepts every connection and drops what it receives. So that an attack gets under way, it answers
a WebSocket handshake, and the first message of each connection with one fixed `connected`.
"""

import asyncio
import base64
import hashlib
import json
import re
import sys

KEY = re.compile(rb"(?i)sec-websocket-key: *(\S+)")
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONNECTED = json.dumps({"ev": "connected", "connection": {"connectionId": "idle"}, "epoch": "idle"}).encode()


class Idle(asyncio.BufferedProtocol):
    buffer = bytearray(1 << 16)

    def connection_made(self, transport):
        self.transport, self.head, self.is_open, self.is_connected = transport, b"", False, False

    def get_buffer(self, size):
        return self.buffer

    def buffer_updated(self, count):
        if self.is_connected:
            return
        if self.is_open:
            self.transport.write(bytes([0x81, len(CONNECTED)]) + CONNECTED)
            self.is_connected = True
            return
        self.head = (self.head + self.buffer[:count])[-8192:]
        if (key := KEY.search(self.head)) and b"\r\n\r\n" in self.head:
            accept = base64.b64encode(hashlib.sha1(key[1] + GUID).digest()).decode()
            self.transport.write(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: signalbox.v1\r\n\r\n".encode())
            self.is_open = True


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Idle, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.connect_read_pipe(asyncio.Protocol, sys.stdin)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
