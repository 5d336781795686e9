"""Measures the cost of bad networks on a real server on loopback.

It prints figures, and fails only if a promise of the protocol is broken.

  storm   N clients in sessions of 100 lose their sockets at once: the time until the last one has resumed
  stall   the median latency of broadcasts with one stalled reader, and its ratio to the latency without it
"""

import argparse
import asyncio
import json
import pathlib
import socket
import statistics
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from raw_socket import TEXT, frame, handshake  # noqa: E402
from server_process import Server  # noqa: E402


class Member(asyncio.Protocol):
    """A connection that costs Python as little work as possible."""

    def __init__(self, server, session, token):
        self.server, self.session, self.token = server, session, token
        self.last_seq, self.received = 0, {}
        self.connected = None
        self.presence = 0
        self.waiting = None
        self.ids = 0

    async def connect(self, resume=None):
        self.buffer, self.is_open = b"", False
        self.waiting = asyncio.get_running_loop().create_future()
        self.resume = resume
        await asyncio.get_running_loop().create_connection(lambda: self, self.server.host, self.server.port)
        return await self.waiting

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.write(handshake())

    def send(self, op, **members):
        self.ids += 1
        line = json.dumps({"op": op, "id": self.ids} | members).encode()
        self.transport.write(frame(TEXT, line))

    def data_received(self, data):
        self.buffer += data
        if not self.is_open:
            head, end, rest = self.buffer.partition(b"\r\n\r\n")
            if not end:
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self.is_open, self.buffer = True, rest
            members = {"resume": self.resume} if self.resume else {}
            self.send("connect", apiKey="100", sessionId=self.session, token=self.token, **members)
        while len(self.buffer) >= 2:
            length, start = self.buffer[1] & 127, 2
            if length == 126:
                length, start = struct.unpack("!H", self.buffer[2:4])[0], 4
            elif length == 127:
                length, start = struct.unpack("!Q", self.buffer[2:10])[0], 10
            if len(self.buffer) < start + length:
                return
            opcode, payload = self.buffer[0] & 15, self.buffer[start : start + length]
            self.buffer = self.buffer[start + length :]
            if opcode == TEXT:
                for line in payload.split(b"\n"):
                    self.handle(json.loads(line))

    def handle(self, event):
        self.last_seq = max(self.last_seq, event.get("seq", 0))
        match event["ev"]:
            case "connected":
                self.connected = event
                self.waiting.set_result(event)
            case "signal":
                self.received[event.get("data")] = time.perf_counter()
            case "connectionCreated" | "connectionDestroyed":
                self.presence += 1
            case "ping":
                self.transport.write(frame(TEXT, b'{"op":"pong"}'))
            case "error":
                raise RuntimeError(event)

    def ticket(self):
        return {
            "connectionId": self.connected["connection"]["connectionId"], "epoch": self.connected["epoch"],
            "secret": self.connected["resume"]["secret"], "after": self.last_seq,
        }


async def join_all(server, count, session_size):
    members = []
    for _ in range(0, count, session_size):
        session = server.project.session()
        token = server.project.token(session)
        room = [Member(server, session, token) for _ in range(session_size)]
        await asyncio.gather(*(member.connect() for member in room))
        members += room
    return members


async def storm(count, session_size):
    with Server() as server:
        members = await join_all(server, count, session_size)
        await asyncio.sleep(0.5)
        before = sum(member.presence for member in members)
        began = time.perf_counter()
        for member in members:
            member.transport.abort()
        outcomes = await asyncio.gather(*(member.connect(member.ticket()) for member in members))
        took = time.perf_counter() - began
        resumed = sum(outcome["outcome"] == "resumed" for outcome in outcomes)
        # A signal in each session: any presence event has arrived before it.
        for member in members[::session_size]:
            member.send("signal", type="after", data="after")
        deadline = time.perf_counter() + 30
        while not all("after" in member.received for member in members) and time.perf_counter() < deadline:
            await asyncio.sleep(0.05)
        presence_count = sum(member.presence for member in members) - before
        print(f"storm: {count} sockets closed at once, {resumed} resumed, the last after {took:.2f} s; "
              f"presence events meanwhile: {presence_count}")
        assert resumed == count and presence_count == 0
        for member in members:
            member.transport.abort()


async def broadcasts(sender, others, count, size):
    """The median time from a signal to its arrival at the others, in ms."""
    latencies = []
    for number in range(count):
        data = f"{number}-{time.perf_counter()}-".ljust(size, "x")
        began = time.perf_counter()
        sender.send("signal", type="b", data=data)
        while not all(data in other.received for other in others):
            await asyncio.sleep(0)
        latencies += [other.received.pop(data) - began for other in others]
        sender.received.clear()
    return statistics.median(latencies) * 1000


async def stall(count, session_size, size):
    with Server() as server:
        free = await join_all(server, session_size, session_size)
        held = await join_all(server, session_size, session_size)
        stalled = held.pop()
        stalled.transport.pause_reading()
        # Measure in turns, so that other load on the machine affects both.
        part = count // 10
        pairs = [(await broadcasts(free[0], free[1:], part, size), await broadcasts(held[0], held[1:], part, size))
                 for _ in range(10)]
        without, with_one = (statistics.median(times) for times in zip(*pairs))
        print(f"stall: {count} broadcasts of {size} bytes to {session_size} members: median {without:.3f} ms, "
              f"with one stalled reader {with_one:.3f} ms, ratio {with_one / without:.2f}")


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["storm", "stall"])
    parser.add_argument("--clients", type=int, default=5000)
    parser.add_argument("--room", type=int, default=100)
    parser.add_argument("--broadcasts", type=int, default=1000)
    parser.add_argument("--size", type=int, default=7000)
    arguments = parser.parse_args()
    if arguments.what == "storm":
        await storm(arguments.clients, arguments.room)
    else:
        await stall(arguments.broadcasts, min(arguments.room, 20), arguments.size)


asyncio.run(main())
