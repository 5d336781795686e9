"""The reference client, written from docs/PROTOCOL.md alone (Tests/ReferenceClient), and the real server."""

import asyncio
import contextlib
import pathlib
import random
import socket
import sys

import pytest

from credentials import Project
from server_process import DEADLINE, Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ReferenceClient"))

from reference_client.client import Client, RequestFailed  # noqa: E402
from reference_client.codes import ErrorCode  # noqa: E402
from reference_client.effects import Ended, Reconnected, Reconnecting  # noqa: E402
from reference_client.machine import State  # noqa: E402
from reference_client.server_messages import (  # noqa: E402
    ConnectionAway,
    ConnectionBack,
    ConnectionCreated,
    ConnectionDestroyed,
    Signal,
)


@contextlib.asynccontextmanager
async def joined(server, session, role="publisher", data=None, url=None, **options):
    """A client in the session."""
    async with Client(url or websocket_url(server)) as client:
        await connect(client, server, session, role, data, **options)
        yield client


async def connect(client, server, session, role="publisher", data=None, **options):
    project = server.project
    async with asyncio.timeout(DEADLINE):
        await client.connect(project.key, session, project.token(session, role, data), **options)


def websocket_url(server):
    return server.url.replace("http", "ws", 1)


async def event(client, kind):
    """The next event of this kind. Other events before it are dropped."""
    async with asyncio.timeout(DEADLINE):
        while True:
            if isinstance(found := await client.events.get(), kind):
                return found


async def answer(request):
    async with asyncio.timeout(DEADLINE):
        return await request


async def code_of(request):
    """The code with which the request fails."""
    with pytest.raises(RequestFailed) as failure:
        await answer(request)
    return failure.value.code


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


async def test_sockets_are_cut_while_signals_are_sent(server, session):
    """Each signal arrives once and in order, however often both sockets end: G3, RES-2, RES-9."""
    count, cuts = 300, 12
    chance = random.Random(1)
    async with joined(server, session) as ada, joined(server, session) as bob:
        sent = []
        for number in range(count):
            sent.append(ada.signal("number", str(number)))
            if number % (count // cuts) == 0:
                # Ada has signals on the way and not yet answered.
                await asyncio.wait(sent[-chance.randint(1, 20) :], timeout=0)
                for client in (ada, bob):
                    client.cut()
                    await event(client, Reconnected)
        seqs = [await answer(request) for request in sent]
        assert seqs == sorted(seqs)
        for client in (ada, bob):
            signals = [await next_signal(client) for _ in range(count)]
            assert [signal.data for signal in signals] == [str(number) for number in range(count)]
            assert [signal.seq for signal in signals] == seqs
