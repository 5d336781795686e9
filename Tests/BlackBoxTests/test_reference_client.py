"""The reference client, written from docs/PROTOCOL.md alone (Tests/ReferenceClient), and the real server."""

import asyncio
import contextlib
import random
import time

import pytest

from credentials import Project
from cutting_relay import Relay
from reference_sessions import answer, code_of, connect, event, joined, websocket_url
from server_process import DEADLINE, Server

from reference_client.client import Client, RequestFailed  # noqa: E402
from reference_client.codes import ErrorCode  # noqa: E402
from reference_client.effects import Ended, Reconnected, Reconnecting  # noqa: E402
from reference_client.messages.server import (  # noqa: E402
    ConnectionCreated,
    ConnectionDestroyed,
    Signal,
)
from reference_client.states import State  # noqa: E402


@pytest.fixture(scope="module")
def project():
    """A project for servers with settings of their own."""
    return Project("100", "a secret of the tests, 32 bytes long")


def secrets(project):
    """The settings of a server of this project."""
    return {"api_key": project.key, "api_secret": project.secret}


async def test_two_clients_chat(server, session):
    """Signals to all and to one, presence, and a departure: SIG-4, SIG-6, PRES-1, LEAVE-1."""
    async with joined(server, session, data="Ada") as ada, joined(server, session, data="Bob") as bob:
        assert [connection.data for connection in bob.connections.values()] == ["Ada", "Bob"]
        assert (await event(ada, ConnectionCreated)).connection.data == "Bob"
        ada_id, bob_id = bob.connections

        seq = await answer(ada.signal("chat", "hello"))
        for client in (ada, bob):
            assert await event(client, Signal) == Signal(seq, ada_id, "chat", "hello")
        seq = await answer(bob.signal("chat", "psst", to=ada_id))
        assert await event(ada, Signal) == Signal(seq, bob_id, "chat", "psst", to=ada_id)
        assert await answer(bob.signal("typing", "{}", online_only=True)) is None
        assert await event(ada, Signal) == Signal(None, bob_id, "typing", "{}")

        assert await code_of(ada.signal("not a type")) == ErrorCode.INVALID_PARAMETER
        assert await code_of(ada.signal(data="x" * 8193)) == ErrorCode.TOO_LONG
        assert await code_of(ada.signal(to="nobody")) == ErrorCode.NOT_FOUND
        assert await code_of(ada.force_disconnect(bob_id)) == ErrorCode.NOT_A_MODERATOR

        bob.disconnect()
        assert await event(bob, Ended) == Ended("clientDisconnected")
        assert (await event(ada, ConnectionDestroyed)).reason == "clientDisconnected"
        assert list(ada.connections) == [ada_id]


async def program(client, chance, sent, received):
    """A program that reads its events, and cuts its own socket at random moments until it has everything."""
    async with asyncio.timeout(DEADLINE):
        while len(received) < len(sent):
            match await client.events.get():
                case Signal() as signal:
                    received.append(signal)
                    if chance.random() < 0.1:
                        client.cut()
                case Reconnected(outcome):
                    assert outcome == "resumed"
                    if chance.random() < 0.3:
                        client.cut()


async def test_sockets_are_cut_while_signals_are_sent(server, session):
    """G1, G3, RES-2, RES-9: each signal arrives once and in order, however often the sockets end."""
    numbers = [str(number) for number in range(200)]
    async with joined(server, session) as ada, joined(server, session) as bob:
        received = {ada: [], bob: []}
        readers = [
            asyncio.create_task(program(client, random.Random(seed), numbers, received[client]))
            for seed, client in enumerate((ada, bob))
        ]
        requests = []
        for number in numbers:
            requests.append(ada.signal("number", number))
            if len(requests) % 10 == 0:
                # Up to ten signals are on their way when a socket ends.
                await answer(requests[-10])
        seqs = [await answer(request) for request in requests]
        await asyncio.gather(*readers)
        assert seqs == sorted(set(seqs))
        for signals in received.values():
            assert [(signal.seq, signal.data) for signal in signals] == list(zip(seqs, numbers))


async def test_a_restart(tmp_path, project):
    """LEAVE-5, RES-15: a client needs no code for restarts, and a signal of the time in between arrives once."""
    session = project.session()
    folder = ("--state-dir", tmp_path / "state")
    with Server(*folder, project=project, **secrets(project), drain_seconds=0) as first:
        async with Relay(first) as relay:
            async with joined(first, session, url=relay.url) as ada, joined(first, session, url=relay.url) as bob:
                own_id = ada.session.connection.id
                await answer(ada.signal(data="before"))
                relay.server = None
                assert await asyncio.to_thread(first.stop) == 0
                await event(ada, Reconnecting)
                between = ada.signal(data="between")
                with Server(*folder, project=project, **secrets(project)) as second:
                    relay.server = second
                    assert await event(ada, Reconnected) == Reconnected("resumed", own_id, None)
                    seq = await answer(between)
                    assert (await event(bob, Signal)).data == "before"
                    assert await event(bob, Signal) == Signal(seq, own_id, "", "between")


async def test_a_full_session(project):
    """CON-3: the connect fails with 1027, and there is room after a departure."""
    session = project.session()
    with Server(project=project, **secrets(project), session_connections=1) as server:
        async with joined(server, session) as ada, Client(websocket_url(server)) as bob:
            assert await code_of(connect(bob, server, session)) == ErrorCode.CONNECTION_LIMIT_EXCEEDED
            assert bob.state is State.DISCONNECTED
            ada.disconnect()
            await event(ada, Ended)
            await connect(bob, server, session)


async def test_a_forced_disconnect(server, session):
    """LEAVE-2, LEAVE-3, RES-10: with a socket, and without one."""
    async with joined(server, session, role="moderator") as ada:
        for has_socket in (True, False):
            async with Client(websocket_url(server), random=lambda: 1) as bob:
                await connect(bob, server, session)
                if not has_socket:
                    bob.cut()
                    await event(bob, Reconnecting)
                    # The server has noticed the end of Bob's socket before it handles what Ada sends after this answer.
                    await answer(ada.signal())
                await answer(ada.force_disconnect(bob.session.connection.id))
                assert await event(bob, Ended) == Ended("forceDisconnected")
                assert (await event(ada, ConnectionDestroyed)).reason == "forceDisconnected"
                assert await code_of(ada.force_disconnect(bob.session.connection.id)) == ErrorCode.UNKNOWN_CONNECTION


async def test_a_token_refresh(project):
    """CON-12, RES-7: a client shows the newest token that the server has accepted, so it outlives its first token."""
    session = project.session()
    with Server(project=project, **secrets(project), resume_seconds=0) as server:
        # The server tolerates 30 s (TOK-4), so this token expires 10 s from now: time to connect on a busy machine.
        expiring = project.token(session, expire_time=int(time.time()) - 20)
        async with Client(websocket_url(server)) as ada, Client(websocket_url(server)) as bob:
            for client in (ada, bob):
                await client.connect(project.key, session, expiring)
            assert await code_of(ada.refresh_token("T1==wrong")) == ErrorCode.AUTHENTICATION_ERROR
            await answer(ada.refresh_token(project.token(session)))
            await refused(server, session, expiring)
            for client in (ada, bob):
                client.cut()
            assert (await event(ada, Reconnected)).outcome == "recovered"
            assert await event(bob, Ended) == Ended("networkDisconnected")


async def refused(server, session, token):
    """Waits until the server refuses this token."""
    async with asyncio.timeout(DEADLINE):
        while True:
            async with Client(websocket_url(server)) as client:
                try:
                    await client.connect(server.project.key, session, token)
                except RequestFailed as failure:
                    assert failure.code == ErrorCode.AUTHENTICATION_ERROR
                    return


async def test_a_long_list_comes_in_pages(server, session):
    """CON-11: 300 connections of 1,000 characters exceed one page of 262,144 bytes."""
    async with contextlib.AsyncExitStack() as stack:
        for number in range(300):
            data = f"{number:03}".ljust(1000, "x")
            await stack.enter_async_context(joined(server, session, data=data, connectionEventsSuppressed=True))
        ada = await stack.enter_async_context(joined(server, session, data="Ada", connectionPages=True))
        assert ada.session.connection_count == 301
        assert [connection.data for connection in ada.session.connections] == ["Ada"]
        names = [connection.data.rstrip("x") for connection in ada.connections.values()]
        assert sorted(names) == sorted([f"{number:03}" for number in range(300)] + ["Ada"])


async def test_a_log_overrun(project):
    """G4, RES-16: the program learns which events are missing, and gets the broadcasts after them."""
    session = project.session()
    with Server(project=project, **secrets(project), log_events=10) as server:
        async with joined(server, session) as ada, Relay(server) as relay:
            async with joined(server, session, url=relay.url) as bob:
                position = bob.session.seq
                relay.server = None
                bob.cut()
                await event(bob, Reconnecting)
                seqs = [await answer(ada.signal(data=str(number))) for number in range(30)]
                relay.server = server
                bob.network_is_back()
                back = await event(bob, Reconnected)
                assert back.outcome == "lost"
                first, last = back.missing
                assert first == position + 1
                kept = [(seq, str(number)) for number, seq in enumerate(seqs) if seq > last]
                assert kept
                for seq, data in kept:
                    signal = await event(bob, Signal)
                    assert (signal.seq, signal.data) == (seq, data)
                    assert signal.sender_connection.id == ada.session.connection.id


async def test_the_client_gives_up(project):
    """RES-13: after the windows of the server, the client reports its requests as failed, and the end."""
    session = project.session()
    with Server(project=project, **secrets(project), resume_seconds=1, recovery_seconds=0) as server:
        async with Relay(server) as relay, joined(server, session, url=relay.url) as ada:
            relay.server = None
            ada.cut()
            await event(ada, Reconnecting)
            request = ada.signal(data="never")
            assert await event(ada, Ended) == Ended("networkDisconnected")
            assert await code_of(request) == ErrorCode.NOT_CONNECTED
