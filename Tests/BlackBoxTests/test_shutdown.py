"""The end of the server: docs/PROTOCOL.md LEAVE-4 and LEAVE-5, SIGTERM and SIGINT."""

import asyncio
import contextlib
import signal
import socket
import subprocess
import time

import pytest

from raw_socket import RawSocket
from server_process import DEADLINE, Server
from signalbox_client import Client, connect_line


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_leave_4_a_stopping_server_disconnects_its_clients_and_exits_with_0(how):
    with Server() as server:
        session = server.project.session()
        clients = await asyncio.gather(*(Client.join(server, session) for _ in range(5)), Client.open(server))
        # A client that does not answer the close frame does not delay the end.
        raw = await RawSocket.websocket(server)
        await raw.send_text(connect_line(server, session))
        idle = await RawSocket.open(server)
        server.process.send_signal(how)
        for code, events in await asyncio.gather(*(client.closed() for client in clients[:5])):
            assert code == 1001
            wait = events[-1].pop("reconnectAfter")
            assert 0 <= wait <= 1000, "RES-13, LEAVE-5: a few clients are asked to return soon"
            assert events[-1] == {"ev": "disconnected", "reason": "networkDisconnected", "reconnect": True}
            # Presence of the others is allowed, but need not be sent any more.
            assert all(event["ev"] in ("connectionCreated", "connectionDestroyed", "disconnected") for event in events)
        assert (await clients[5].closed())[0] == 1001
        # A client that keeps its socket open for ever would keep the server until this fails.
        assert await asyncio.to_thread(server.wait) == 0
        for socket in (raw, idle):
            socket.writer.transport.abort()
        with pytest.raises(OSError):
            await Client.open(server)


def test_a_second_sigterm_does_not_prolong_the_end():
    with Server() as server:
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        try:
            code = server.wait()
        except subprocess.TimeoutExpired:
            pytest.fail("the server is still running")
        assert code == 0


async def drain(server, count):
    """Connects clients, sends SIGTERM, and waits for the first close. Returns the tasks that wait for each close."""
    session = server.project.session()
    quiet = {"connectionEventsSuppressed": True}
    clients = []
    for _ in range(count // 25):
        clients += await asyncio.gather(*(Client.join(server, session, options=quiet) for _ in range(25)))
    server.process.send_signal(signal.SIGTERM)
    ends = [asyncio.create_task(timed_end(client)) for client in clients]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    return ends


async def timed_end(client):
    """When the close arrived, its code, and the last event before it."""
    code, events = await client.closed()
    return time.monotonic(), code, events[-1]


async def test_leave_5_a_stopping_server_disconnects_its_clients_in_turn_and_asks_them_back_in_turn():
    """Meanwhile it answers HTTP, is not ready, and accepts no new client.

    1500 clients take 1.5 seconds, a millisecond each. `reconnectAfter` counts from the client's own turn. It is the
    time until the last client has been disconnected, plus a random part of 1.5 seconds. So it shows the schedule by
    the server's clock.
    """
    with Server("--drain-seconds", "5") as server:
        ends = await drain(server, 1500)
        answer, newcomer = await asyncio.gather(
            asyncio.to_thread(server.request, "GET", "/readyz"), Client.open(server)
        )
        assert answer.status == 503
        assert (await newcomer.closed())[0] == 1001
        ends = sorted([await end for end in ends], key=lambda end: end[0])
        assert {code for _, code, _ in ends} == {1001}
        waits = [event["reconnectAfter"] for _, _, event in ends]
        assert 0 <= min(waits) and max(waits) <= 3000, "as long again as the drain"
        assert ends[-1][0] - ends[0][0] > 1, "one after the other"
        # The average falls by the time between the turns: 1125 ms from the first quarter to the last.
        first, last = waits[:375], waits[-375:]
        assert sum(first) / 375 - sum(last) / 375 > 700, "no client returns before the last one is disconnected"
        assert max(last) - min(last) > 750, "one after the other"
        assert await asyncio.to_thread(server.wait) == 0


async def test_leave_5_a_second_signal_disconnects_the_remaining_clients_at_once():
    """Enough clients that most of them remain when the second signal comes, even if the test is a second late."""
    with Server("--drain-seconds", "5") as server:
        ends = await drain(server, 1500)
        server.process.send_signal(signal.SIGTERM)
        waits = [(await end)[2]["reconnectAfter"] for end in ends]
        # In turn they would be asked to return after the last had been disconnected, up to 1.5 seconds later.
        assert sum(wait <= 250 for wait in waits) > 200, sorted(waits)
        assert await asyncio.to_thread(server.wait) == 0


async def test_a_killed_server_can_be_restarted_on_its_port_at_once():
    with Server() as server:
        async with await Client.join(server, server.project.session()) as client:
            server.process.kill()
            code, _ = await client.closed()
            assert code is None
            server.wait()
            with Server("--port", str(server.port)) as again:
                assert again.port == server.port


def test_a_stop_in_the_same_turn_as_the_ends_of_connections_exits_with_0():
    """The server is suspended meanwhile, so that it finds all of this at once: it must close no connection twice."""
    request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with Server(log_level="trace") as server, contextlib.ExitStack() as stack:

        def connection(first):
            client = stack.enter_context(socket.create_connection((server.host, server.port), DEADLINE))
            client.sendall(first)
            if first == request:
                assert client.recv(4096).startswith(b"HTTP/1.1 200")
            return client

        idle, held = ([connection(first) for _ in range(5)] for first in (request, request[:-2]))
        server.process.send_signal(signal.SIGSTOP)
        for clients in (idle, held):
            clients[0].close()
            clients[1].shutdown(socket.SHUT_WR)
            clients[2].sendall(request)
            clients[3].sendall(b"\r\n")
        for first in (b"", request[:-2], request + request):
            stack.enter_context(socket.create_connection((server.host, server.port), DEADLINE)).sendall(first)
        server.process.terminate()
        server.process.send_signal(signal.SIGCONT)
        assert server.wait() == 0
