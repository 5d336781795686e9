"""Admission: no stranger keeps others out. Each test holds places as an attacker would, while a bystander chats.

An attacker on 127.0.0.1 has no limit per address by default, so the first tests show that places which wait for a
client do not keep others out, whatever the number of addresses. The tests of limits per address give the limit.
"""

import asyncio
import contextlib
import os
import resource
import select
import socket
import ssl
from http.client import HTTPException

import pytest
import websockets

from raw_socket import RawSocket, handshake
from server_process import DEADLINE, Answer, Server
from signalbox_client import Bystander, Client
from waiting import suspended

# More than the 1,024 header places of libwebsockets.
MANY = 1_150
# Seven eighths of them are for requests, less those that the newcomers of a test need.
PLACES = 800
GREETING = bytes.fromhex("16030100fa010000f60303")


@pytest.fixture(scope="module", autouse=True)
def descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4_096 <= hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, hard))


class Crowd:
    """TCP connections that an attacker holds open."""

    def __init__(self, server, data=b"", receive_buffer=None, source=None):
        self.server, self.data, self.receive_buffer, self.source = server, data, receive_buffer, source
        self.sockets = []

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def close(self):
        for tcp in self.sockets:
            tcp.close()
        self.sockets = []

    async def fill(self, least):
        """Holds `MANY` connections, of which at least `least` are open.

        The server refuses some while it has not noticed the end of an earlier crowd. Others come in their place.
        """
        for _ in range(8):
            await self.add(MANY - len(self.sockets))
            if self.open_count >= least:
                return
            open_ones = [tcp for tcp in self.sockets if is_open(tcp)]
            for tcp in set(self.sockets) - set(open_ones):
                tcp.close()
            self.sockets = open_ones

    async def add(self, count):
        loop = asyncio.get_running_loop()
        for _ in range(count):
            tcp = socket.socket()
            if self.receive_buffer:
                tcp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
            if self.source:
                tcp.bind((self.source, 0))
            tcp.setblocking(False)
            self.sockets.append(tcp)
            await asyncio.wait_for(loop.sock_connect(tcp, (self.server.host, self.server.port)), DEADLINE)
            with contextlib.suppress(ConnectionError):
                await asyncio.wait_for(loop.sock_sendall(tcp, self.data), DEADLINE)

    def send(self, data):
        for tcp in self.sockets:
            with contextlib.suppress(OSError):
                tcp.send(data)

    @property
    def open_count(self):
        """How many of them the server has not closed."""
        return sum(map(is_open, self.sockets))


def is_open(tcp):
    """Whether the server has not closed the connection."""
    poll = select.poll()
    poll.register(tcp, select.POLLRDHUP)
    return not poll.poll(0)


# How a newcomer learns that it has to come again: with 503 and `Retry-After`, or by a close. A client that the machine
# delays for a quarter of a second looks like one that says nothing, and gives way.
TURNED_AWAY = (websockets.InvalidStatus, websockets.InvalidMessage, websockets.ConnectionClosed, OSError, HTTPException)


async def comes_again(attempt):
    """What an attempt of a newcomer returns when it is served: it comes again as long as it is turned away."""
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                answer = await attempt()
                if not isinstance(answer, Answer) or answer.status != 503:
                    return answer
                assert answer.headers["Retry-After"]
            except TURNED_AWAY as refused:
                assert not isinstance(refused, websockets.InvalidStatus) or refused.response.status_code == 503
            await asyncio.sleep(0.05)


async def joined(server, session, kind=Client):
    return await comes_again(lambda: kind.join(server, session))


async def health_is_told(server):
    for _ in range(10):
        answer = await comes_again(lambda: asyncio.to_thread(server.request, "GET", "/livez"))
        assert answer.status == 200


async def newcomers_chat(server):
    """Clients join and chat, and a backend lists them."""
    session = server.project.session()
    first, second = await joined(server, session, Bystander), await joined(server, session)
    async with first, second:
        await first.is_unaffected(second.id)
        path = server.session_path(session, "/connection")
        answer = await comes_again(lambda: asyncio.to_thread(server.rest, "GET", path))
        assert answer.status == 200 and len(answer.json()["items"]) == 2


async def keeps_no_one_out(crowd, act=lambda: None, least=MANY):
    """Requires that newcomers are served while at least `least` connections of the crowd are open.

    A crowd outside of libwebsockets needs no places, so that all of them stay open. On a busy machine the crowd may
    reach its own deadlines first, so there are several attempts for each kind of newcomer.
    """
    for are_served in (health_is_told, newcomers_chat):
        for _ in range(8):
            crowd.close()
            await crowd.fill(least)
            act()
            await are_served(crowd.server)
            if crowd.open_count >= least:
                break
        else:
            pytest.fail("newcomers were served only when the server had closed the crowd's connections")


def head(path="/livez", *lines):
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: h", *lines, "", ""]).encode()


@pytest.fixture(scope="module")
def crowded():
    """A server that only this file's crowds use."""
    with Server("--signal-rate", "0", log_level="debug") as server:
        yield server


@pytest.fixture(scope="module")
def crowded_tls():
    with Server("--signal-rate", "0", tls=True) as server:
        yield server


@pytest.mark.parametrize(
    "data", [b"", handshake()[:-2]], ids=["silent", "half-a-handshake"]
)
async def test_connections_without_a_whole_request_keep_no_one_out(crowded, data):
    session = crowded.project.session()
    async with await Bystander.join(crowded, session) as bystander, Crowd(crowded, data) as crowd:
        await keeps_no_one_out(crowd)
        await bystander.is_unaffected()


async def test_silent_tls_connections_keep_no_one_out_and_cost_little(crowded_tls):
    session = crowded_tls.project.session()
    async with await Bystander.join(crowded_tls, session) as bystander, Crowd(crowded_tls, GREETING) as crowd:
        before = crowded_tls.memory()
        # A library connection with TLS takes 45 kB and more.
        memory = []
        await keeps_no_one_out(crowd, lambda: memory.append(crowded_tls.memory()))
        assert memory[0] - before < MANY * 8_000
        await bystander.is_unaffected()


@pytest.mark.waiting
async def test_silent_connections_are_closed_at_the_deadline(server):
    async with await RawSocket.open(server) as silent, await RawSocket.open(server) as slow:
        await slow.send(b"GET /")
        assert await silent.ends() == b"" and await slow.ends() == b""


# A full server


@pytest.mark.parametrize("tls", [False, True])
async def test_a_full_server_is_healthy_refuses_newcomers_and_says_so(tls):
    with Server("--max-connections", "3", "--max-connections-per-token", "9", tls=tls) as server:
        session = server.project.session()
        async with contextlib.AsyncExitStack() as stack:
            members = [await stack.enter_async_context(await Bystander.join(server, session)) for _ in range(3)]
            for _ in range(20):
                for path in ("/livez", "/readyz"):
                    assert (await asyncio.to_thread(server.request, "GET", path)).status == 200
            assert (await asyncio.to_thread(server.request, "GET", "/")).status == 503
            with pytest.raises(websockets.InvalidStatus) as refused:
                await Client.open(server)
            assert refused.value.response.status_code == 503
            server.err.until("reason=serverFull")
            async with Crowd(server) as crowd:
                await crowd.add(100)
                assert (await asyncio.to_thread(server.request, "GET", "/livez")).status == 200
            await members[0].is_unaffected(*(member.id for member in members))
        # Places are free again.
        async with asyncio.timeout(DEADLINE):
            while (await asyncio.to_thread(server.request, "GET", "/")).status == 503:
                await asyncio.sleep(0.05)


# Descriptors


@pytest.mark.parametrize("tls", [False, True])
async def test_clients_with_low_and_high_descriptors_chat_and_leave_alike(tls):
    """The server has a context of libwebsockets for each kind."""
    with Server("--signal-rate", "0", tls=tls) as server:
        session = server.project.session()
        async with await Bystander.join(server, session) as low, Crowd(server) as crowd:
            await crowd.fill(MANY)
            async with await joined(server, session, Bystander) as high:
                numbers = [int(name) for name in os.listdir(f"/proc/{server.pid}/fd")]
                assert max(numbers) > 1_024 and min(set(range(9_999)) - set(numbers)) > 1_024
                await low.is_unaffected(high.id)
                await high.expect("signal", type="bystander")
                await high.signal(type="answer")
                await low.expect("signal", type="answer")
                crowd.close()
                assert await asyncio.to_thread(server.stop) == 0
        assert not any("leaking" in line for line in server.err.to_end())


# Limits


async def test_one_address_has_a_limit_and_others_are_not_affected():
    with Server("--max-connections-per-address", "40") as server:
        async with Crowd(server, source="127.0.0.2") as crowd:
            # Half of them may be outside of sessions.
            await crowd.add(60)
            server.err.until("reason=address.*address=127.0.0.2|address=127.0.0.2.*reason=address")
            await health_is_told(server)
            await newcomers_chat(server)
            refused = socket.create_connection((server.host, server.port), DEADLINE, ("127.0.0.2", 0))
            refused.settimeout(DEADLINE)
            with contextlib.suppress(ConnectionError):
                answer = refused.recv(100)
                assert answer == b"" or answer.startswith(b"HTTP/1.1 429 "), answer
            refused.close()


async def test_only_allowed_origins_open_websockets():
    with Server("--allowed-origins", "https://chat.example.org,http://localhost:8080") as server:
        session = server.project.session()
        for origin in (None, "https://chat.example.org", "http://localhost:8080"):
            options = {"socket": {"origin": origin}} if origin else {}
            async with await Client.join(server, session, **options):
                pass
        for origin in ("https://evil.example.org", "https://chat.example.org:444", "null"):
            with pytest.raises(websockets.InvalidStatus) as refused:
                await Client.open(server, origin=origin)
            assert refused.value.response.status_code == 403
        assert "origin=https://evil.example.org" in server.err.until("reason=origin")


# Turns


def greeting(context):
    """The ClientHello of a client that never sends anything else."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def test_g_5_addresses_take_turns_so_a_newcomer_does_not_wait_behind_all_of_another_one():
    """No time limit: the newcomer is served while most of the other address still wait."""
    with Server(tls=True) as server, contextlib.ExitStack() as stack:

        def connect(source):
            address = (server.host, server.port)
            return stack.enter_context(socket.create_connection(address, DEADLINE, source_address=(source, 0)))

        beginning = greeting(server.tls)
        flood, newcomer = [connect("127.0.0.1") for _ in range(PLACES)], connect("127.0.0.2")
        # Suspended, the server finds all of them at once.
        with suspended(server.pid):
            for each in [*flood, newcomer]:
                each.sendall(beginning)
        assert select.select([newcomer], [], [], DEADLINE)[0]
        before = sum(bool(select.select([each], [], [], 0)[0]) for each in flood)
        assert before < PLACES / 2, f"{before} of {PLACES} were served before it"


# Descriptors


async def test_a_server_without_descriptors_accepts_again_when_one_is_free():
    with Server("--max-connections", "1000000") as server:
        used = len(os.listdir(f"/proc/{server.pid}/fd"))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used + 8, used + 8))
        async with Crowd(server) as crowd:
            await crowd.add(60)
            server.err.until("reason=descriptors")
        async with asyncio.timeout(DEADLINE):
            while True:
                with contextlib.suppress(OSError):
                    if (await asyncio.to_thread(server.request, "GET", "/livez")).status == 200:
                        break
                await asyncio.sleep(0.05)


async def test_the_server_raises_its_limit_of_open_files_to_what_the_maximum_of_connections_needs():
    def lower():
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lower()
    try:
        server = Server()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    with server:
        soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        assert soft == min(65_536, hard)
    with Server("--max-connections", 300) as server:
        soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        assert soft == min(300 + 1_024, hard)
