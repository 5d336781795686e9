"""Measures what a crowd of clients costs a real server on loopback that joins, comes back, or does not read.

It prints figures, and fails only if a promise of the protocol is broken.

  stalled   clients of one session with long connection data join and read nothing: the server's memory
  burst     clients join one session at once and read everything: joins per second, bytes, memory
  return    the same, and then the server is killed, and all come back to a new one: the same figures for the return.
            With --state the server has a state folder, so all resume
  storm     clients in sessions of 100 lose their sockets at once: the time until the last one has resumed
  restart   how long a graceful restart, or with --kill a kill, of a server with a state folder interrupts its clients.
            They wait as long as the server asks (LEAVE-5), and otherwise back off (RES-13)
  vanish    clients in sessions of two lose their sockets and do not come back: the server's memory 10 s after the last
            connection ended, when nobody can resume it or recover what it missed

SIGNALBOX_BIN names the server's program. Measure a release build.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import pathlib
import random
import re
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from raw_socket import TEXT, frame, handshake  # noqa: E402
from server_process import Server  # noqa: E402
from test_socket_activation import launcher  # noqa: E402

# The longest text that the tail of a read may cut.
OVERLAP = 400
PRESENCE = re.compile(rb'"ev":"connection(Created|Destroyed)"')
CONNECTED = re.compile(rb'\{"ev":"connected".*?"limits":\{[^}]*\}', re.DOTALL)
OPTIONS = {"pages": {"connectionPages": True}, "whole": {}, "suppressed": {"connectionEventsSuppressed": True}}


def memory(server, name="VmRSS"):
    """The resident memory of the server in bytes; with `VmHWM` its maximum so far."""
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(rf"{name}:\s*(\d+) kB", status)[1]) << 10


class Member(asyncio.BufferedProtocol):
    """A connection that counts bytes and looks for a few texts, so that Python is not what is measured."""

    buffer = bytearray(1 << 20)

    def __init__(self, form="pages", last=0):
        self.options = OPTIONS[form] | ({"history": {"last": last}} if last else {})
        self.byte_count = self.presence_count = self.page_count = 0

    async def connect(self, server, session, token, resume=None, receive_buffer=None, reads=True):
        loop = asyncio.get_running_loop()
        members = ({"resume": resume} if resume else {}) | ({"options": self.options} if self.options else {})
        self.request = json.dumps(
            {"op": "connect", "id": 1, "apiKey": server.project.key, "sessionId": session, "token": token} | members)
        self.head, self.tail, self.is_open, self.reads = bytearray(), b"", False, reads
        self.upgraded, self.listed, self.signalled, self.lost = (loop.create_future() for _ in range(4))
        self.seq = None
        tcp = socket.socket()
        if receive_buffer:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        tcp.setblocking(False)
        try:
            await loop.sock_connect(tcp, (server.host, server.port))
        except OSError:
            tcp.close()
            raise
        await loop.create_connection(lambda: self, sock=tcp)

    def connection_made(self, transport):
        self.transport = transport
        transport.write(handshake())

    def connection_lost(self, error):
        for future in (self.upgraded, self.listed, self.signalled, self.lost):
            if not future.done():
                future.set_result(False)

    def get_buffer(self, size):
        return self.buffer

    def buffer_updated(self, count):
        self.byte_count += count
        data = bytes(memoryview(self.buffer)[:count])
        if not self.listed.done():
            self.open(data)
        text = self.tail + data
        self.presence_count += len(PRESENCE.findall(text)) - len(PRESENCE.findall(self.tail))
        self.page_count += text.count(b'"ev":"history"') - self.tail.count(b'"ev":"history"')
        if b'"ev":"ping"' in data:
            self.transport.write(frame(TEXT, b'{"op":"pong"}'))
        if b'"type":"end"' in text and not self.signalled.done():
            # Every event has a lower seq, and has arrived.
            self.seq = int(re.findall(rb'"seq":(\d+)', text.partition(b'"type":"end"')[0])[-1])
            self.signalled.set_result(True)
        if b'"ev":"disconnected"' in text and not self.lost.done():
            asked = re.search(rb'"reconnectAfter":(\d+)', text)
            assert asked, f"LEAVE-5: no reconnectAfter in {text}"
            self.lost.set_result(int(asked[1]) / 1000)
            self.transport.abort()
        # The first client has no list, and a list without pages ends with `connected`.
        if not self.listed.done() and CONNECTED.search(self.head) and (
            b'"connectionCount":' not in self.head or b'"rest":0}' in text):
            self.listed.set_result(True)
        self.tail = data[-OVERLAP:]

    def open(self, data):
        if not self.is_open:
            self.head += data
            if b"\r\n\r\n" not in self.head:
                return
            if not self.head.startswith(b"HTTP/1.1 101"):
                return self.transport.abort()
            self.is_open, self.head = True, bytearray()
            if not self.reads:
                self.transport.pause_reading()
            self.transport.write(frame(TEXT, self.request.encode()))
            self.upgraded.set_result(True)
        elif not CONNECTED.search(self.head):
            self.head += data

    def send_end(self, number):
        """A signal behind everything that the session has sent. A repeated number has no effect (RES-9)."""
        self.transport.write(frame(TEXT, json.dumps({"op": "signal", "id": number, "type": "end"}).encode()))

    def outcome(self):
        return re.search(rb'"outcome":"([a-z]+)"', self.head)[1].decode()

    def ticket(self):
        """What the client needs to come back. Only for a client that takes pages: its `connected` is short."""
        connected = json.loads(CONNECTED.search(self.head)[0] + b"}")
        return {
            "connectionId": connected["connection"]["connectionId"], "epoch": connected["epoch"],
            "secret": connected["resume"]["secret"], "after": self.seq or connected["seq"],
        }


async def stalled(arguments):
    with Server("--signal-rate", "0") as server:
        session = server.project.session()
        before = memory(server)
        members, began = [], time.perf_counter()
        for number in range(arguments.clients):
            member = Member(arguments.form)
            token = server.project.token(session, data=str(number).ljust(arguments.data, "x"))
            await member.connect(server, session, token, receive_buffer=8192, reads=False)
            await member.upgraded
            members.append(member)
        # A member of another session is answered after all of them.
        last = Member("whole")
        other = server.project.session()
        await last.connect(server, other, server.project.token(other))
        await last.listed
        took = time.perf_counter() - began
        print(f"stalled ({arguments.form}): {arguments.clients} joins with {arguments.data} characters in {took:.1f} s, "
              f"resident {(memory(server) - before) / 1e6:.0f} MB more, at most "
              f"{(memory(server, 'VmHWM') - before) / 1e6:.0f} MB more")
        for member in [*members, last]:
            member.transport.abort()


async def connect_all(server, members, sessions, tokens, resumes):
    limit = asyncio.Semaphore(500)

    async def connect(member, session, token, resume):
        async with limit:
            await member.connect(server, session, token, resume)
            assert await member.listed, "a connect failed"

    await asyncio.gather(*map(connect, members, sessions, tokens, resumes))


async def enter(server, session, members, tokens, resumes, what):
    """All members connect, and receive everything that the session has sent by then."""
    before = memory(server)
    began = time.perf_counter()
    await connect_all(server, members, [session] * len(members), tokens, resumes)
    joined = time.perf_counter() - began
    members[0].send_end(3 if resumes[0] else 2)
    lost_count = (await asyncio.gather(*(member.signalled for member in members))).count(False)
    took = time.perf_counter() - began
    sent = sum(member.byte_count for member in members)
    outcomes = collections.Counter(member.outcome() for member in members)
    print(f"{what}: {len(members)} members connected in {joined:.1f} s ({len(members) / joined:.0f}/s), all told in "
          f"{took:.1f} s, {sent / 1e6:.0f} MB sent ({sent / len(members) ** 2:.0f} bytes for each pair), resident at most "
          f"{(memory(server, 'VmHWM') - before) / 1e6:.0f} MB more, {lost_count} overrun (4002), "
          f"{', '.join(f'{count} {outcome}' for outcome, count in outcomes.items())}", flush=True)
    return sent


async def say(server, session, count):
    """Fills the history of a session."""
    member = Member("whole")
    await member.connect(server, session, server.project.token(session))
    await member.listed
    for number in range(2, count + 2):
        signal = {"op": "signal", "id": number, "type": "chat", "data": f"message {number}".ljust(60, ".")}
        member.transport.write(frame(TEXT, json.dumps(signal).encode()))
    member.send_end(count + 2)
    await member.signalled
    member.transport.abort()


async def burst(arguments):
    with contextlib.ExitStack() as servers:
        settings = ["--signal-rate", "0"]
        if arguments.state:
            settings += ["--state-dir", servers.enter_context(tempfile.TemporaryDirectory())]
        if arguments.last:
            settings += ["--history", "all"]
        server = servers.enter_context(Server(*settings))
        session = server.project.session()
        tokens = [server.project.token(session, data=f"name={number}".ljust(arguments.data, "x"))
                  for number in range(arguments.clients)]
        if arguments.last:
            await say(server, session, arguments.last)
        members = [Member(arguments.form, arguments.last) for _ in tokens]
        pages = f", with the last {arguments.last} messages" if arguments.last else ""
        await enter(server, session, members, tokens, [None] * len(members), f"burst ({arguments.form}{pages})")
        assert all(member.page_count for member in members) or not arguments.last, "a member has no page"
        if arguments.what == "return":
            tickets = [member.ticket() for member in members]
            server.process.kill()
            server.wait()
            server = servers.enter_context(Server(
                *settings, project=server.project, api_key=server.project.key, api_secret=server.project.secret))
            lost, members = members, [Member(arguments.form) for _ in tokens]
            sent = await enter(
                server, session, members, tokens, tickets,
                f"return ({arguments.form}{', state folder' if arguments.state else ''})")
            if arguments.most_megabytes:
                assert sent <= arguments.most_megabytes * 1e6, f"more than {arguments.most_megabytes} MB"
            for member in lost:
                member.transport.abort()
        for member in members:
            member.transport.abort()


async def storm(arguments):
    with Server() as server:
        rooms = [server.project.session() for _ in range(0, arguments.clients, 100)]
        sessions = [rooms[number // 100] for number in range(arguments.clients)]
        tokens = [server.project.token(session) for session in sessions]
        members = [Member() for _ in sessions]
        await connect_all(server, members, sessions, tokens, [None] * len(members))
        for member in members[::100]:
            member.send_end(2)
        await asyncio.gather(*(member.signalled for member in members))
        before = sum(member.presence_count for member in members)
        tickets = [member.ticket() for member in members]
        began = time.perf_counter()
        for member in members:
            member.transport.abort()
        # Each connect replaces the futures that the end of the old socket sets.
        await asyncio.gather(*(member.lost for member in members))
        await connect_all(server, members, sessions, tokens, tickets)
        took = time.perf_counter() - began
        outcomes = collections.Counter(member.outcome() for member in members)
        # Any presence event has arrived before it.
        for member in members[::100]:
            member.send_end(3)
        await asyncio.gather(*(member.signalled for member in members))
        presence_count = sum(member.presence_count for member in members) - before
        print(f"storm: {len(members)} sockets closed at once, {outcomes['resumed']} resumed, the last after {took:.2f} s; "
              f"presence events meanwhile: {presence_count}")
        assert outcomes["resumed"] == len(members) and presence_count == 0
        for member in members:
            member.transport.abort()


async def vanish(arguments):
    # In times that a release of memory after their sockets would miss.
    resume, recovery = 15, 1
    with Server(resume_seconds=resume, recovery_seconds=recovery) as server:
        rooms = [server.project.session() for _ in range(0, arguments.clients, 2)]
        sessions = [rooms[number // 2] for number in range(arguments.clients)]
        tokens = [server.project.token(session) for session in sessions]
        before = memory(server)
        members = [Member() for _ in sessions]
        await connect_all(server, members, sessions, tokens, [None] * len(members))
        most = memory(server) - before
        for member in members:
            member.transport.abort()
        began, rest = time.monotonic(), []
        # Two seconds, in which the server notices the ends.
        for moment in (10, resume + recovery + 2 + 10):
            await asyncio.sleep(began + moment - time.monotonic())
            rest.append(memory(server) - before)
        print(f"vanish: {len(members)} clients in sessions of two, resident {most / 1e6:.0f} MB more, {rest[0] / 1e6:.0f} MB "
              f"more while they may return, and {rest[1] / 1e6:.0f} MB more 10 s after the last connection ended", flush=True)
        if arguments.most_megabytes is not None:
            assert rest[1] <= arguments.most_megabytes * 1e6, f"more than {arguments.most_megabytes} MB"


class Returning:
    """A client that comes back by the rules, until its task is cancelled."""

    def __init__(self, server, session, token):
        self.server, self.session, self.token = server, session, token
        self.member, self.is_connected, self.resumed_at = Member(), asyncio.Event(), None
        self.outcomes, self.interruptions, self.told_count, self.failure_count = [], [], 0, 0

    async def stay(self):
        ticket, lost_at, failed_in_a_row = None, None, 0
        while True:
            asked = None
            try:
                await self.member.connect(self.server, self.session, self.token, ticket)
                has_connected = await self.member.listed
            except OSError:
                has_connected = False
            if has_connected:
                self.outcomes.append(self.member.outcome())
                self.resumed_at, failed_in_a_row = time.monotonic(), 0
                if lost_at is not None:
                    self.interruptions.append(self.resumed_at - lost_at)
                ticket = self.member.ticket()
                # RES-6: a line confirms the secret.
                self.member.transport.write(frame(TEXT, b'{"op":"pong"}'))
                self.is_connected.set()
                asked = await self.member.lost or None
                lost_at = time.monotonic()
                self.is_connected.clear()
                self.told_count += asked is not None
            else:
                failed_in_a_row += 1
                self.failure_count += 1
            await asyncio.sleep(random.random() * min(5, 0.25 * 2 ** min(failed_in_a_row, 5)) if asked is None else asked)


async def restart(arguments):
    held = socket.create_server(("127.0.0.1", 0), backlog=4096) if arguments.held else None
    activation = {"launcher": launcher(held.fileno()), "pass_fds": [held.fileno()]} if held else {}
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        settings = ("--state-dir", folder, "--signal-rate", "0", *arguments.option)
        first = stack.enter_context(Server(*settings, **activation))
        sessions = [first.project.session() for _ in range(arguments.sessions)]
        tokens = [first.project.token(session) for session in sessions]
        clients = [Returning(first, sessions[number % len(sessions)], tokens[number % len(sessions)])
                   for number in range(arguments.clients)]
        tasks = []
        for start in range(0, len(clients), 200):
            tasks += [asyncio.create_task(client.stay()) for client in clients[start:start + 200]]
            await asyncio.gather(*(client.is_connected.wait() for client in clients[start:start + 200]))
        for client, task in zip(clients[:arguments.silent], tasks):
            task.cancel()
            client.member.transport.pause_reading()
        living = clients[arguments.silent:]

        def replace():
            times = [time.monotonic()]
            if arguments.kill:
                first.process.kill()
                first.process.wait()
            else:
                first.stop()
            times.append(time.monotonic())
            stack.enter_context(Server(
                "--port", str(first.port), *settings, project=first.project, api_key=first.project.key,
                api_secret=first.project.secret, **activation))
            return [*times, time.monotonic()]

        stopped, ended, ready = await asyncio.to_thread(replace)
        async with asyncio.timeout(60):
            while not all(client.interruptions and client.is_connected.is_set() for client in living):
                await asyncio.sleep(0.005)
        for task in tasks:
            task.cancel()
        for client in clients:
            client.member.transport.abort()
    assert all(client.outcomes[-1] == "resumed" for client in living), [client.outcomes for client in living]
    pauses = sorted(client.interruptions[0] for client in living)
    print(f"{'kill' if arguments.kill else 'restart'}: the server stopped after {ended - stopped:.2f} s, the next was ready "
          f"after {ready - ended:.2f} s more, all {len(living)} had resumed {max(c.resumed_at for c in living) - ready:.2f} s "
          f"later; interrupted: median {statistics.median(pauses):.2f} s, 99 % within "
          f"{pauses[int(len(pauses) * 0.99)]:.2f} s, longest {pauses[-1]:.2f} s; "
          f"{sum(client.told_count for client in clients)} told, "
          f"{sum(client.failure_count for client in clients)} failed attempts", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["stalled", "burst", "return", "storm", "vanish", "restart"])
    parser.add_argument("--clients", type=int, default=1500)
    parser.add_argument("--data", type=int, default=10, help="characters of connection data")
    parser.add_argument("--form", choices=list(OPTIONS), default="pages")
    parser.add_argument("--last", type=int, default=0, help="messages of its history that each client of a burst gets")
    parser.add_argument("--state", action="store_true", help="give the server a state folder")
    parser.add_argument("--most-megabytes", type=int, help="fail if the server sends more to those who return, or keeps more of those who vanish")
    parser.add_argument("--sessions", type=int, default=1, help="of the clients of a restart")
    parser.add_argument("--silent", type=int, default=0, help="clients that neither read nor answer any more")
    parser.add_argument("--kill", action="store_true", help="kill the server instead of stopping it")
    parser.add_argument("--held", action="store_true", help="pass the listening socket to both servers")
    parser.add_argument("--option", action="append", default=[], help="an option of the server, as --option=--x=1")
    arguments = parser.parse_args()
    asyncio.run({"stalled": stalled, "burst": burst, "return": burst, "storm": storm, "vanish": vanish,
                 "restart": restart}[arguments.what](arguments))


if __name__ == "__main__":
    main()
