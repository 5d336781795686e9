"""Measures what joins to one large session cost a real server on loopback: time, sent bytes and memory.

It prints figures, and fails only if a promise of the protocol is broken.

  stalled   N members with long connection data join and read nothing: the server's memory
  burst     N members join at once and read everything: joins per second, bytes, memory
  return    the same, and then the server is killed, and all come back to a new one: the same figures for the return.
            With --state the server has a state folder, so all resume
"""

import argparse
import asyncio
import collections
import contextlib
import json
import pathlib
import re
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from raw_socket import TEXT, frame, handshake  # noqa: E402
from server_process import Server  # noqa: E402

# The longest text that the tail of a read may cut.
OVERLAP = 400


def memory(server, name="VmRSS"):
    """The resident memory of the server in bytes; with `VmHWM` its maximum so far."""
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(rf"{name}:\s*(\d+) kB", status)[1]) << 10


class Member(asyncio.BufferedProtocol):
    """A connection that counts bytes and looks for a few texts, so that Python is not what is measured."""

    buffer = bytearray(1 << 20)

    def __init__(self, options):
        self.options = options
        self.connected = self.signalled = None
        self.byte_count = 0

    async def connect(self, server, session, token, resume=None, receive_buffer=None, reads=True):
        loop = asyncio.get_running_loop()
        members = {"resume": resume} if resume else {}
        if self.options:
            members["options"] = self.options
        self.request = json.dumps(
            {"op": "connect", "id": 1, "apiKey": server.project.key, "sessionId": session, "token": token} | members)
        self.head, self.tail, self.is_open, self.reads = bytearray(), b"", False, reads
        self.upgraded, self.listed, self.signalled = loop.create_future(), loop.create_future(), loop.create_future()
        tcp = socket.socket()
        if receive_buffer:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        tcp.setblocking(False)
        await loop.sock_connect(tcp, (server.host, server.port))
        await loop.create_connection(lambda: self, sock=tcp)

    def connection_made(self, transport):
        self.transport = transport
        transport.write(handshake())

    def connection_lost(self, error):
        for future in (self.upgraded, self.listed, self.signalled):
            if not future.done():
                future.set_result(False)

    def get_buffer(self, size):
        return self.buffer

    def buffer_updated(self, count):
        self.byte_count += count
        data = bytes(memoryview(self.buffer)[:count])
        if not self.listed.done():
            self.open(data)
        if b'"ev":"ping"' in data:
            self.transport.write(frame(TEXT, b'{"op":"pong"}'))
        if b'"type":"end"' in self.tail + data and not self.signalled.done():
            # Every event has a lower seq, and has arrived.
            text = (self.tail + data).partition(b'"type":"end"')[0]
            self.seq = int(re.findall(rb'"seq":(\d+)', text)[-1])
            self.signalled.set_result(True)
        if not self.listed.done() and self.is_open and b'"ev":"connected"' in self.head:
            # The first client has no list, and a list without pages ends with `connected`.
            if b'"limits":{' in self.head and (
                b'"connectionCount":' not in self.head or b'"rest":0}' in self.tail + data):
                self.listed.set_result(True)
        self.tail = data[-OVERLAP:]

    def open(self, data):
        if not self.is_open:
            self.head += data
            if b"\r\n\r\n" not in self.head:
                return
            assert self.head.startswith(b"HTTP/1.1 101"), self.head
            self.is_open, self.head = True, bytearray()
            if not self.reads:
                self.transport.pause_reading()
            self.transport.write(frame(TEXT, self.request.encode()))
            self.upgraded.set_result(True)
        elif b'"limits":{' not in self.head:
            self.head += data

    def outcome(self):
        return re.search(rb'"outcome":"([a-z]+)"', self.head)[1].decode()

    def ticket(self):
        """What the client needs to come back. Only for a client that takes pages: its `connected` is short."""
        connected = json.loads(re.search(rb'\{"ev":"connected".*?"limits":\{[^}]*\}\}', self.head)[0])
        return {
            "connectionId": connected["connection"]["connectionId"], "epoch": connected["epoch"],
            "secret": connected["resume"]["secret"], "after": self.seq,
        }


def options(arguments):
    return {"pages": {"connectionPages": True}, "whole": {}, "suppressed": {"connectionEventsSuppressed": True}}[
        arguments.form]


async def stalled(arguments):
    with Server("--signal-rate", "0") as server:
        session = server.project.session()
        before = memory(server)
        members, began = [], time.perf_counter()
        for number in range(arguments.clients):
            member = Member(options(arguments))
            token = server.project.token(session, data=str(number).ljust(arguments.data, "x"))
            await member.connect(server, session, token, receive_buffer=8192, reads=False)
            await member.upgraded
            members.append(member)
        # A member of another session is answered after all of them.
        last = Member({})
        other = server.project.session()
        await last.connect(server, other, server.project.token(other))
        await last.listed
        took = time.perf_counter() - began
        print(f"stalled ({arguments.form}): {arguments.clients} joins with {arguments.data} characters in {took:.1f} s, "
              f"resident {(memory(server) - before) / 1e6:.0f} MB more, at most "
              f"{(memory(server, 'VmHWM') - before) / 1e6:.0f} MB more")
        for member in [*members, last]:
            member.transport.abort()


async def enter(server, session, members, tokens, resumes, what):
    """All members connect, and receive everything that the session has sent by then."""
    before = memory(server)
    began = time.perf_counter()
    limit = asyncio.Semaphore(500)

    async def connect(member, token, resume):
        async with limit:
            await member.connect(server, session, token, resume)
            assert await member.listed, "a connect failed"

    await asyncio.gather(*map(connect, members, tokens, resumes))
    joined = time.perf_counter() - began
    # Another id than before: a repeated request has no effect (RES-9).
    request = {"op": "signal", "id": 3 if resumes[0] else 2, "type": "end"}
    members[0].transport.write(frame(TEXT, json.dumps(request).encode()))
    lost_count = (await asyncio.gather(*(member.signalled for member in members))).count(False)
    took = time.perf_counter() - began
    sent = sum(member.byte_count for member in members)
    outcomes = collections.Counter(member.outcome() for member in members)
    print(f"{what}: {len(members)} members connected in {joined:.1f} s ({len(members) / joined:.0f}/s), all told in "
          f"{took:.1f} s, {sent / 1e6:.0f} MB sent ({sent / len(members) ** 2:.0f} bytes for each pair), resident at most "
          f"{(memory(server, 'VmHWM') - before) / 1e6:.0f} MB more, {lost_count} overrun (4002), "
          f"{', '.join(f'{count} {outcome}' for outcome, count in outcomes.items())}", flush=True)
    return sent


async def burst(arguments):
    with contextlib.ExitStack() as servers:
        settings = ["--signal-rate", "0"]
        if arguments.state:
            settings += ["--state-dir", servers.enter_context(tempfile.TemporaryDirectory())]
        server = servers.enter_context(Server(*settings))
        session = server.project.session()
        tokens = [server.project.token(session, data=f"name={number}".ljust(arguments.data, "x"))
                  for number in range(arguments.clients)]
        members = [Member(options(arguments)) for _ in tokens]
        await enter(server, session, members, tokens, [None] * len(members), f"burst ({arguments.form})")
        if arguments.what == "return":
            tickets = [member.ticket() for member in members]
            server.process.kill()
            server.wait()
            server = servers.enter_context(Server(
                *settings, project=server.project, api_key=server.project.key, api_secret=server.project.secret))
            lost, members = members, [Member(options(arguments)) for _ in tokens]
            sent = await enter(
                server, session, members, tokens, tickets,
                f"return ({arguments.form}{', state folder' if arguments.state else ''})")
            if arguments.most_megabytes:
                assert sent <= arguments.most_megabytes * 1e6, f"more than {arguments.most_megabytes} MB"
            for member in lost:
                member.transport.abort()
        for member in members:
            member.transport.abort()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["stalled", "burst", "return"])
    parser.add_argument("--clients", type=int, default=1500)
    parser.add_argument("--data", type=int, default=10, help="characters of connection data")
    parser.add_argument("--form", choices=["pages", "whole", "suppressed"], default="pages")
    parser.add_argument("--state", action="store_true", help="give the server a state folder")
    parser.add_argument("--most-megabytes", type=int, help="fail if the server sends more to those who come back")
    arguments = parser.parse_args()
    asyncio.run(stalled(arguments) if arguments.what == "stalled" else burst(arguments))


main()
