"""Measures how long a graceful restart, or a kill, of a real server on loopback interrupts its clients.

The clients follow docs/PROTOCOL.md: they resume, wait as long as the server asks (LEAVE-5), and otherwise back off
(RES-13). It prints figures, and fails only if a promise of the protocol is broken.

  restart.py                                   20 clients in one session
  restart.py --silent 2                        2 of them do not answer any more
  restart.py --clients 5000 --sessions 500     a storm
  restart.py --kill                            kill -9 instead of a stop
  restart.py --held                            the listening socket outlives the server (LISTEN_FDS)

SIGNALBOX_BIN   the program; measure a release build
"""

import argparse
import heapq
import itertools
import json
import pathlib
import random
import re
import select
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from raw_socket import TEXT, frame, handshake  # noqa: E402
from server_process import Server  # noqa: E402
from test_socket_activation import launcher  # noqa: E402

SECRET = re.compile(rb'"secret":"([^"]+)"')
POSITION = re.compile(rb'"epoch":"([^"]+)".*?"seq":(\d+)')
IDENTITY = re.compile(rb'"connection":\{"connectionId":"([^"]+)"')
OUTCOME = re.compile(rb'"outcome":"([a-z]+)"')
ASKED = re.compile(rb'"reconnectAfter":(\d+)')
REQUEST = handshake()


class Client:
    """One client: a few texts are searched in what it receives, so that Python is not what is measured."""

    def __init__(self, crowd, session, token):
        self.crowd = crowd
        self.members = {"op": "connect", "id": 1, "apiKey": crowd.key, "sessionId": session, "token": token,
                        "options": {"connectionPages": True}}
        self.outcomes, self.interruptions, self.told_count, self.failure_count = [], [], 0, 0
        self.lost_at = None
        self.failed_in_a_row = 0

    def begin(self):
        self.data, self.is_open, self.is_connected = b"", False, False
        self.tcp = socket.socket()
        self.tcp.setblocking(False)
        self.tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.tcp.connect_ex(self.crowd.address)
        self.crowd.watch(self, select.EPOLLOUT)

    def end(self):
        self.crowd.forget(self)
        self.tcp.close()

    def ready(self, events):
        try:
            self.handle(events)
        except ConnectionError:
            # The server was killed between the event and the call.
            self.lost(None)

    def handle(self, events):
        if events & select.EPOLLOUT and not events & (select.EPOLLERR | select.EPOLLHUP):
            self.crowd.change(self, select.EPOLLIN)
            self.tcp.send(REQUEST)
            return
        try:
            received = self.tcp.recv(65536)
        except OSError:
            received = b""
        if not received:
            return self.lost(None)
        self.data += received
        if not self.is_open:
            head, separator, self.data = self.data.partition(b"\r\n\r\n")
            if not separator:
                self.data = head
                return
            if not head.startswith(b"HTTP/1.1 101"):
                return self.lost(None)
            self.is_open = True
            self.tcp.send(frame(TEXT, json.dumps(self.members).encode()))
        if b'"ev":"disconnected"' in self.data:
            self.told_count += 1
            asked = ASKED.search(self.data)
            assert asked, f"LEAVE-5: no reconnectAfter in {self.data}"
            return self.lost(int(asked[1]) / 1000)
        if not self.is_connected:
            # `limits` is the last member.
            if b'"ev":"connected"' in self.data and b'"limits":{' in self.data:
                self.connected()
        elif b'"ev":"ping"' in self.data:
            self.tcp.send(frame(TEXT, b'{"op":"pong"}'))
        if self.is_connected:
            self.data = self.data[-64:] if b'"ev":"disco' in self.data else b""

    def connected(self):
        now = time.monotonic()
        self.is_connected = True
        self.outcomes.append(OUTCOME.search(self.data)[1].decode())
        if self.lost_at is not None:
            self.interruptions.append(now - self.lost_at)
            self.resumed_at = now
        self.lost_at, self.failed_in_a_row = None, 0
        epoch, seq = POSITION.search(self.data).groups()
        self.members["resume"] = {
            "connectionId": IDENTITY.search(self.data)[1].decode(), "epoch": epoch.decode(), "after": int(seq),
            "secret": SECRET.search(self.data)[1].decode()}
        # RES-6: a line confirms the secret.
        self.tcp.send(frame(TEXT, b'{"op":"pong"}'))
        self.crowd.connected_count += 1
        self.crowd.last_connected_at = now

    def lost(self, asked):
        self.end()
        if self.is_connected:
            self.lost_at = time.monotonic()
            self.crowd.connected_count -= 1
        elif asked is None:
            self.failed_in_a_row += 1
            self.failure_count += 1
        wait = random.random() * min(5, 0.25 * 2 ** min(self.failed_in_a_row, 5)) if asked is None else asked
        self.crowd.schedule(wait, self.begin)


class Crowd:
    """All clients, in one epoll loop."""

    def __init__(self, key, address):
        self.key, self.address = key, address
        self.poll, self.clients, self.timers = select.epoll(), {}, []
        self.connected_count, self.last_connected_at = 0, None
        self.order = itertools.count()

    def watch(self, client, events):
        self.clients[client.tcp.fileno()] = client
        self.poll.register(client.tcp, events)

    def change(self, client, events):
        self.poll.modify(client.tcp, events)

    def forget(self, client):
        if self.clients.pop(client.tcp.fileno(), None):
            self.poll.unregister(client.tcp)

    def schedule(self, wait, action):
        heapq.heappush(self.timers, (time.monotonic() + wait, next(self.order), action))

    def run(self, is_done, seconds=60):
        deadline = time.monotonic() + seconds
        while not is_done():
            now = time.monotonic()
            assert now < deadline, f"{self.connected_count} clients are connected"
            while self.timers and self.timers[0][0] <= now:
                heapq.heappop(self.timers)[2]()
            wait = min(0.01, max(0, self.timers[0][0] - now)) if self.timers else 0.01
            for descriptor, events in self.poll.poll(wait, 512):
                client = self.clients.get(descriptor)
                if client:
                    client.ready(events)


def measure(arguments, folder):
    held = socket.create_server(("127.0.0.1", 0), backlog=4096) if arguments.held else None
    activation = {"launcher": launcher(held.fileno()), "pass_fds": [held.fileno()]} if held else {}
    settings = ("--state-dir", folder, "--signal-rate", "0", *arguments.option)
    servers = [Server(*settings, **activation)]
    first = servers[0]
    crowd = Crowd(first.project.key, (first.host, first.port))
    sessions = [first.project.session() for _ in range(arguments.sessions)]
    tokens = {session: first.project.token(session) for session in sessions}
    clients = [Client(crowd, session, tokens[session]) for number in range(arguments.clients)
               for session in [sessions[number % len(sessions)]]]
    for start in range(0, len(clients), 200):
        for client in clients[start:start + 200]:
            client.begin()
        crowd.run(lambda: crowd.connected_count == min(start + 200, len(clients)))
    for client in clients[:arguments.silent]:
        client.is_silent = True
        crowd.forget(client)
    times = {}

    def restart():
        times["stop"] = time.monotonic()
        if arguments.kill:
            first.process.kill()
            first.process.wait()
        else:
            first.stop()
        times["end"] = time.monotonic()
        servers.append(Server("--port", str(first.port), *settings, project=first.project,
                              api_key=first.project.key, api_secret=first.project.secret, **activation))
        times["ready"] = time.monotonic()

    thread = threading.Thread(target=restart)
    thread.start()
    living = clients[arguments.silent:]
    crowd.run(lambda: all(client.interruptions for client in living[::97]) and "ready" in times
              and all(client.interruptions for client in living))
    thread.join()
    outcomes = [client.outcomes[-1] for client in living]
    assert outcomes == ["resumed"] * len(living), outcomes
    pauses = sorted(client.interruptions[0] for client in living)
    # Not `last_connected_at` of the crowd: a client may have been connected before the ready line was read.
    late = crowd.last_connected_at - times["ready"]
    most = sorted(client.resumed_at for client in living)[int(len(living) * 0.95)] - times["ready"]
    print(
        f"{len(clients)} clients in {len(sessions)} sessions, {arguments.silent} silent{', held socket' if held else ''}: "
        f"stopped in {times['end'] - times['stop']:.2f} s, started in {times['ready'] - times['end']:.2f} s, "
        f"95 % back {most:.2f} s and all {late:.2f} s after the ready line; interruption p50 {statistics.median(pauses):.2f} s, "
        f"p99 {pauses[int(len(pauses) * 0.99)]:.2f} s, longest {pauses[-1]:.2f} s; "
        f"{sum(client.told_count for client in clients)} told, "
        f"{sum(client.failure_count for client in clients)} failed attempts", flush=True)
    for server in servers:
        server.__exit__()
    return statistics.median(pauses), late


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--silent", type=int, default=0, help="clients that neither read nor answer any more")
    parser.add_argument("--kill", action="store_true", help="kill the server instead of stopping it")
    parser.add_argument("--held", action="store_true", help="pass the listening socket to both servers")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], help="an option of the server, as --option=--x=1")
    arguments = parser.parse_args()
    for _ in range(arguments.runs):
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments, folder)


main()
