"""The attacks. Each runs in a process of its own:

    attacks.py NAME TARGET WIDTH PIECES

WIDTH is the number of members that flood. Each sends PIECES pieces of its flood and stays, or floods without an end if
PIECES is 0. The attack prints one line when it is under way, goes on until its input ends, and prints how much it did.
A server may answer, refuse, delay or cut off an attacker. Each attacker is bounded, in sockets and in one core of the
machine.
"""

import asyncio
import collections
import contextlib
import itertools
import json
import os
import sys

from target import Target

import raw_socket
from raw_socket import CONTINUATION, PING, TEXT, RawSocket, frame, handshake
from signalbox_client import connect_line

ATTACKS = {}
# What a server does to an attacker.
REFUSALS = (ConnectionError, TimeoutError, asyncio.IncompleteReadError, AssertionError, OSError)

NESTED = b'{"op":"pong","x":[' + b"[]," * 21_000 + b"[]]}"
PONG = frame(TEXT, b'{"op":"pong"}')


def attack(function):
    ATTACKS[function.__name__] = function
    return function


class Attacker:
    """What all attacks share: the target, the number of members that flood, of their pieces, and of things done."""

    def __init__(self, target, width, pieces):
        self.target, self.width, self.pieces = target, width, pieces
        self.count = collections.Counter()
        self._is_under_way = False

    def under_way(self):
        if not self._is_under_way:
            self._is_under_way = True
            print("under way", flush=True)

    async def repeat(self, width, body, after=1):
        """Runs `width` bodies at a time, again and again. It is under way when as many have ended as there are bodies,
        `after` times."""

        async def loop():
            while True:
                try:
                    await body()
                    self.count["done"] += 1
                except REFUSALS as refusal:
                    self.count[type(refusal).__name__] += 1
                    await asyncio.sleep(0)
                if sum(self.count.values()) >= width * after:
                    self.under_way()

        await asyncio.gather(*[loop() for _ in range(width)])

    async def hold(self, width, body):
        """Keeps `width` bodies open at a time; a body returns an open connection. It is under way when all are open, or
        the server has refused some."""

        async def loop():
            while True:
                try:
                    raw = await body()
                    self.count["opened"] += 1
                    if sum(self.count.values()) >= width:
                        self.under_way()
                    await raw.reader.read(1)
                    raw.writer.transport.abort()
                except REFUSALS as refusal:
                    self.count[type(refusal).__name__] += 1
                if sum(self.count.values()) >= width:
                    self.under_way()
                await asyncio.sleep(0.01)

        await asyncio.gather(*[loop() for _ in range(width)])

    async def stranger(self, source=None):
        """A WebSocket without a session."""
        return await RawSocket.websocket(self.target, source=source or self.target.source)

    async def member(self, role="publisher", session=None, token=None, source=None):
        """A WebSocket in a session, whose input is dropped when `drain` runs."""
        raw = await self.stranger(source)
        session = session or self.target.session
        token = token or self.target.project.token(session, role)
        await raw.send_text(connect_line(self.target, session, token=token))
        raw.connected = (await raw.objects())[0]
        assert raw.connected["ev"] == "connected", raw.connected
        return raw

    async def flood(self, raw, piece, count=200, stays=False):
        """Sends a piece again and again while it drops everything that it receives. Then it may stay connected."""

        async def drop():
            while await raw.reader.read(1 << 16):
                pass

        dropping = asyncio.create_task(drop())
        try:
            for _ in range(count):
                if dropping.done():
                    return
                await raw.send(piece)
                self.count["sent"] += 1
            if stays:
                await dropping
        finally:
            dropping.cancel()
            with contextlib.suppress(asyncio.CancelledError, *REFUSALS):
                await dropping

    async def flood_as_member(self, piece):
        """Each member has a token of its own, with which it comes again."""
        tokens = collections.deque(self.target.project.token(self.target.session) for _ in range(self.width))

        async def body():
            tokens.rotate()
            async with await self.member(token=tokens[0]) as raw:
                await self.flood(raw, piece, self.pieces or 200, stays=self.pieces > 0)

        # A server that delays a flood ends no body: it is under way when all have sent something.
        async def watch():
            while self.count["sent"] < self.width * (self.pieces or 5):
                await asyncio.sleep(0.01)
            self.under_way()

        await asyncio.gather(self.repeat(self.width, body), watch())


# Lines


@attack
async def nested_lists_of_strangers(self):
    """A megabyte of costly JSON a second without a token."""

    async def body():
        async with await self.stranger() as raw:
            await self.flood(raw, frame(TEXT, NESTED), 10)

    await self.repeat(50, body)


@attack
async def nested_lists_of_members(self):
    await self.flood_as_member(frame(TEXT, NESTED))


@attack
async def long_pongs(self):
    await self.flood_as_member(frame(TEXT, b'{"op":"pong","x":"%s"}' % (b"x" * 65_000)))


@attack
async def pongs(self):
    await self.flood_as_member(PONG * 100)


@attack
async def lines_of_pongs(self):
    await self.flood_as_member(frame(TEXT, b"\n".join([b'{"op":"pong"}'] * 1000)))


@attack
async def empty_texts(self):
    await self.flood_as_member(frame(TEXT) * 500)


@attack
async def empty_texts_of_strangers(self):
    async def body():
        async with await self.stranger() as raw:
            await self.flood(raw, frame(TEXT) * 500, 20)

    await self.repeat(20, body)


@attack
async def websocket_pings(self):
    await self.flood_as_member(frame(PING, b"x" * 100) * 100)


@attack
async def one_byte_fragments(self):
    text = b'{"op":"pong"}' + b" " * 50
    pieces = [
        frame(TEXT if at == 0 else CONTINUATION, text[at : at + 1], fin=at == len(text) - 1) for at in range(len(text))
    ]
    await self.flood_as_member(b"".join(pieces) * 10)


@attack
async def bad_lines(self):
    async def body():
        async with await self.stranger() as raw:
            await self.flood(raw, frame(TEXT, b"\n".join([b"oops"] * 1000)), 10)

    await self.repeat(20, body)


@attack
async def second_connects(self):
    line = connect_line(self.target, self.target.session).encode()
    await self.flood_as_member(frame(TEXT, b"\n".join([line] * 40)))


@attack
async def signals(self):
    await self.flood_as_member(frame(TEXT, b"\n".join([b'{"op":"signal","id":1,"data":"x"}'] * 100)))


@attack
async def signals_to_nobody(self):
    await self.flood_as_member(frame(TEXT, b"\n".join([b'{"op":"signal","id":1,"to":"nobody"}'] * 100)))


@attack
async def online_only_signals(self):
    line = b'{"op":"signal","id":1,"type":"t","onlineOnly":true,"data":"x"}'
    await self.flood_as_member(frame(TEXT, b"\n".join([line] * 100)))


# Sessions


@attack
async def joins(self):
    """Clients of one session connect and vanish."""
    token = self.target.project.token(self.target.session)

    async def body():
        raw = await self.member(token=token)
        raw.writer.transport.abort()

    await self.repeat(30, body, after=5)


@attack
async def joins_to_a_large_session(self):
    """Clients join a session of 25 members for each of the width, and leave."""
    token = self.target.project.token(self.target.session)
    members = []
    for _ in range(self.width):
        # From another address, so that they do not count for the limit of the attacker's.
        members += await asyncio.gather(
            *[self.member(token=token, source=self.target.other_source(0)) for _ in range(25)]
        )
    staying = [asyncio.create_task(answer_pings(raw)) for raw in members]

    async def body():
        async with await self.member(token=token) as raw:
            await raw.send_text('{"op":"disconnect","id":2}')
            await raw.ends()

    await asyncio.gather(self.repeat(10, body, after=3), *staying)


async def answer_pings(raw):
    while received := await raw.reader.read(1 << 16):
        if b'"ping"' in received:
            await raw.send(PONG)


@attack
async def wrong_tokens(self):
    async def body():
        async with await self.stranger() as raw:
            token = "T1==" + "a" * 16_000
            await raw.send_text(connect_line(self.target, self.target.session, token=token))
            await raw.ends()

    await self.repeat(30, body)


@attack
async def wrong_resumes(self):
    async with await self.member() as victim:
        resume = {
            "connectionId": victim.connected["connection"]["connectionId"], "secret": "0" * 32,
            "epoch": victim.connected["epoch"], "after": 1,
        }

        async def body():
            async with await self.stranger() as raw:
                await raw.send_text(connect_line(self.target, self.target.session, resume=resume))
                await raw.objects()

        await self.repeat(30, body)


@attack
async def force_disconnects(self):
    """A moderator ends connections, which come back, and connections that are not there."""
    async with await self.member("moderator") as moderator:

        async def body():
            async with await self.member() as raw:
                victim = raw.connected["connection"]["connectionId"]
                for target in ["nobody"] * 20 + [victim]:
                    line = json.dumps({"op": "forceDisconnect", "id": 1, "connectionId": target})
                    await moderator.send_text(line)
                await raw.ends()

        reading = asyncio.create_task(drop_input(moderator))
        await self.repeat(20, body)
        await reading


@attack
async def mass_force_disconnects(self):
    """A moderator ends a whole session at once, again and again."""
    count = 25 * self.width
    async with await self.member("moderator") as moderator:
        reading = asyncio.create_task(drop_input(moderator))
        for turn in itertools.count():
            members = []
            while len(members) < count:
                members += await asyncio.gather(
                    *[self.member(source=self.target.other_source(turn)) for _ in range(25)]
                )
            targets = [raw.connected["connection"]["connectionId"] for raw in members]
            lines = [json.dumps({"op": "forceDisconnect", "id": 1, "connectionId": target}) for target in targets]
            for at in range(0, count, 200):
                await moderator.send_text("\n".join(lines[at : at + 200]))
            self.count["sent"] += count
            self.under_way()
            await asyncio.gather(*[raw.ends() for raw in members])
            self.count["ended"] += count
            for raw in members:
                raw.writer.transport.abort()
            if reading.done():
                return


async def drop_input(raw):
    while await raw.reader.read(1 << 16):
        pass


# Memory


@attack
async def unfinished_messages(self):
    """Strangers announce the largest message and send its first byte, and others send most of it."""

    async def body():
        raw = await self.stranger()
        await raw.send(frame(TEXT, b"x" * 65_536)[: 9 if self.count["opened"] % 2 else 15_000])
        return raw

    await self.hold(300, body)


@attack
async def silent_sockets(self):
    await self.hold(300, self.stranger)


@attack
async def unread_signals(self):
    """Members that send and never read."""

    async def body():
        raw = await self.member()
        raw.writer.transport.pause_reading()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                for _ in range(100):
                    await raw.send(frame(TEXT, b'{"op":"signal","id":1,"data":"%s"}' % (b"x" * 8000)))
        return raw

    await self.hold(20, body)


# HTTP


async def tcp(target):
    return await RawSocket.open(target, source=target.source)


@attack
async def slow_headers(self):
    """Slowloris: a byte of the headers at a time."""

    async def body():
        raw = await tcp(self.target)
        await raw.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        self.count["opened"] += 1
        if self.count["opened"] >= 300:
            self.under_way()
        try:
            while True:
                await asyncio.sleep(0.5)
                await raw.send(b"a")
        finally:
            raw.writer.transport.abort()

    await self.repeat(300, body)


@attack
async def slow_bodies(self):
    path = f"/v2/project/{self.target.key}/session/{self.target.session}/signal"

    async def body():
        raw = await tcp(self.target)
        await raw.send(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n".encode())
        self.count["opened"] += 1
        if self.count["opened"] >= 300:
            self.under_way()
        try:
            while True:
                await asyncio.sleep(0.5)
                await raw.send(b"a" * 100)
        finally:
            raw.writer.transport.abort()

    await self.repeat(300, body)


@attack
async def slow_readers(self):
    """Requests whose responses nobody reads."""

    async def body():
        raw = await RawSocket.open(self.target, receive_buffer=4096, source=self.target.source)
        raw.writer.transport.pause_reading()
        await raw.send(b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        return raw

    await self.hold(100, body)


@attack
async def slow_handshakes(self):
    """WebSocket handshakes without an end."""

    async def body():
        raw = await tcp(self.target)
        await raw.send(handshake()[:-2])
        return raw

    await self.hold(300, body)


@attack
async def pipelined_requests(self):
    async def body():
        async with await tcp(self.target) as raw:
            reading = asyncio.create_task(drop_input(raw))
            for _ in range(10):
                await raw.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
                self.count["sent"] += 1
                self.under_way()
            await reading

    await self.repeat(5, body)


@attack
async def requests_without_credentials(self):
    path = f"/v2/project/{self.target.key}/session/{self.target.session}/signal"
    body_ = NESTED[:60_000]
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nX-OPENTOK-AUTH: {'a' * 8000}\r\nContent-Length: {len(body_)}\r\n\r\n"

    async def body():
        async with await tcp(self.target) as raw:
            await raw.send(head.encode() + body_)
            await raw.head()

    await self.repeat(30, body)


@attack
async def requests_of_a_backend(self):
    """A backend in a loop, with costly bodies."""
    path = f"/v2/project/{self.target.key}/session/{self.target.session}/signal"
    credentials = self.target.project.credentials()
    # The most values that a body may have.
    body_ = b'{"type":"t","data":"x","y":[' + b"[]," * 95 + b"[]]}"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nX-OPENTOK-AUTH: {credentials}\r\nContent-Length: {len(body_)}\r\n\r\n"

    async def body():
        async with await tcp(self.target) as raw:
            for _ in range(20):
                await raw.send(head.encode() + body_)
                assert await raw.head()
                await raw.reader.readuntil(b"}")

    await self.repeat(20, body)


@attack
async def unfinished_tls_handshakes(self):
    """Sockets that begin TLS and send nothing more, of many addresses. For a server with TLS."""
    hello, numbers = client_hello(), itertools.count()

    async def body():
        raw = await RawSocket.open(self.target, source=self.target.other_source(next(numbers)))
        await raw.send(hello)
        return raw

    # 5,000 with the width of a measurement.
    await self.hold(250 * self.width, body)


@attack
async def abandoned_tls_handshakes(self):
    """Strangers begin TLS, have the server answer with its certificate, and vanish. For a server with TLS."""
    hello = client_hello()

    async def body():
        async with await tcp(self.target) as raw:
            await raw.send(hello)
            assert await raw.reader.read(1)

    await self.repeat(20, body)


def client_hello():
    import ssl

    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


@attack
async def actions(self):
    """A moderator mutes and pardons users without an end, and freezes the session between them (MOD-9)."""
    numbers = itertools.count()
    async with await self.member("moderator") as moderator:
        reading = asyncio.create_task(drop_input(moderator))

        async def body():
            lines = []
            for number in itertools.islice(numbers, 50):
                user = f"u-{number % 300}"
                lines += [
                    {"op": "moderate", "id": 1, "action": "mute", "user": user, "reason": "x" * 256},
                    {"op": "moderate", "id": 2, "action": "freeze"}, {"op": "moderate", "id": 3, "action": "unfreeze"},
                    {"op": "moderate", "id": 4, "action": "unmute", "user": user}, {"op": "restrictions", "id": 5},
                ]  # fmt: skip
            await moderator.send_text("\n".join(json.dumps(line) for line in lines))

        await self.repeat(1, body)
        await reading


@attack
async def forged_actions(self):
    """A member claims to be a moderator in every line."""
    lines = [
        {"op": "moderate", "id": 1, "action": "ban", "user": "u-1", "role": "moderator"},
        {"op": "moderate", "id": 2, "action": "freeze", "by": {"connectionId": "x"}}, {"op": "restrictions", "id": 3},
    ]  # fmt: skip
    piece = frame(TEXT, "\n".join(json.dumps(line) for line in lines * 20).encode())
    await self.flood_as_member(piece)


@attack
async def banned_clients(self):
    """The clients of a banned user come back, with their secrets and without."""
    token = self.target.project.token(self.target.session, user="u-17")
    async with await self.member("moderator") as moderator:
        victim = await self.member(token=token)
        resume = {
            "connectionId": victim.connected["connection"]["connectionId"], "epoch": victim.connected["epoch"],
            "secret": victim.connected["resume"]["secret"], "after": 1,
        }  # fmt: skip
        await moderator.send_text(json.dumps({"op": "moderate", "id": 1, "action": "ban", "user": "u-17"}))
        await victim.ends()
        reading = asyncio.create_task(drop_input(moderator))

        async def body():
            for members in ({}, {"resume": resume}):
                async with await self.stranger() as raw:
                    await raw.send_text(connect_line(self.target, self.target.session, token=token, **members))
                    assert (await raw.objects())[0]["code"] == 1570
                    self.count["refused"] += 1

        await self.repeat(20, body)
        await reading


async def erase(self, role):
    """Erases the messages of users who have none, in a session that has a megabyte."""
    async with await self.member() as writer:
        reading = asyncio.create_task(drop_input(writer))
        for number in range(120):
            line = {"op": "signal", "id": number, "type": "chat", "data": "x" * 8_000}
            await writer.send_text(json.dumps(line))
        numbers = itertools.count()

        async def body():
            async with await self.member(role) as raw:
                dropping = asyncio.create_task(drop_input(raw))
                while not dropping.done():
                    number = next(numbers)
                    await raw.send_text(json.dumps({"op": "erase", "id": number, "user": f"u-{number}"}))
                    self.count["sent"] += 1
                    if number == 50:
                        self.under_way()

        await asyncio.gather(self.repeat(1, body), reading)


@attack
async def erasures(self):
    """A moderator erases again and again."""
    await erase(self, "moderator")


@attack
async def refused_erasures(self):
    """A subscriber is refused again and again."""
    await erase(self, "subscriber")


# The attacks that need a server with TLS, and those that concern its files.
KEEPING = {"erasures", "refused_erasures"}
SECURE = {"unfinished_tls_handshakes", "abandoned_tls_handshakes"}


async def main(name, target, width, pieces):
    # An attacker gives up early, and comes again.
    raw_socket.DEADLINE = 10
    attacker = Attacker(target, width, pieces)
    running = asyncio.create_task(ATTACKS[name](attacker))
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    over = asyncio.create_task(reader.read())
    await asyncio.wait([running, over], return_when=asyncio.FIRST_COMPLETED)
    if running.done() and (fault := running.exception()):
        raise fault
    print(json.dumps(attacker.count), flush=True)
    # An attacker says no goodbye: the system closes its sockets.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Target.parse(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
