"""A listening socket from another process: docs/CONFIGURATION.md, "Socket activation", and sd_listen_fds(3)."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys

import pytest

from raw_socket import RawSocket, handshake
from server_process import BINARY, DEADLINE, Server, environment
from signalbox_client import Client, connect_line, reconnect

# Becomes the program, with the socket as descriptor 3. The process keeps its ID.
PASS = """
import os, sys
descriptor, process, count, *command = sys.argv[1:]
os.dup2(int(descriptor), 3)
os.environ.update(LISTEN_PID=process or str(os.getpid()), LISTEN_FDS=count)
os.execv(command[0], command)
"""


def launcher(descriptor, process="", count="1"):
    return [sys.executable, "-S", "-c", PASS, str(descriptor), process, count]


@contextlib.contextmanager
def held_socket(address="127.0.0.1"):
    """A listening socket, as a service manager holds it."""
    with socket.socket() as held:
        held.bind((address, 0))
        held.listen(128)
        yield held


def serve(held, **settings):
    """A server on that socket."""
    # The address is the socket's, whatever the settings say.
    settings = {"host": "192.0.2.1"} | settings
    return Server(launcher=launcher(held.fileno()), pass_fds=[held.fileno()], **settings)


def refusal(descriptor, *arguments, credentials=True, **variables):
    """Runs the server with this descriptor and these variables to its end."""
    settings = {"api_key": "100", "api_secret": "a secret of the tests, 32 bytes long"} if credentials else {}
    return subprocess.run(
        [*launcher(descriptor, **variables), BINARY, "serve", "--port", "0", *arguments], env=environment(**settings),
        pass_fds=[descriptor], capture_output=True, text=True, timeout=DEADLINE)


def connection(server):
    """A connection that the system accepts, whether a server runs or not."""
    tcp = socket.create_connection((server.host, server.port), DEADLINE)
    tcp.setblocking(False)
    return tcp


@pytest.mark.parametrize("tls", [False, True])
async def test_a_connection_that_begins_between_two_servers_is_answered_by_the_second(tls, tmp_path):
    with held_socket() as held:
        settings = {"state_dir": tmp_path, "tls": tls}
        with serve(held, **settings) as first:
            assert first.port == held.getsockname()[1]
            session = first.project.session()
            ada = await Client.join(first, session)
            first.process.terminate()
            code, events = await ada.closed()
            assert code == 1001 and events[-1]["reconnectAfter"] >= 0
            assert await asyncio.to_thread(first.wait) == 0
        waiting = connection(first)
        with serve(held, **settings) as second:
            async with (
                await Client.join(second, session, socket={"sock": waiting}) as bob,
                await reconnect(second, session, ada, after=ada.connected["seq"]) as back,
            ):
                assert back.connected["outcome"] == "resumed"
                answer, _ = await bob.signal(type="chat", data="after the restart")
                assert answer["ev"] == "ack"


async def test_a_stopping_server_leaves_new_connections_to_the_next_one():
    with held_socket() as held:
        with serve(held) as first:
            session = first.project.session()
            ada = await Client.join(first, session)
            # It keeps the first server in its drain until it is cut.
            silent = await RawSocket.websocket(first)
            first.process.terminate()
            await ada.closed()
            waiting = await RawSocket.open(first)
            await waiting.send(handshake())
            assert await asyncio.to_thread(first.wait) == 0
        with serve(held) as second:
            assert (await waiting.head()).startswith("HTTP/1.1 101"), "the second server answers"
            await waiting.send_text(connect_line(second, session))
            assert (await waiting.objects())[0]["ev"] == "connected"
        for raw in (silent, waiting):
            raw.writer.transport.abort()


def test_a_descriptor_that_is_no_listening_socket_is_one_line_and_status_69():
    connected, peer = socket.socketpair()
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    with connected, peer, bound, open(os.devnull) as file:
        for descriptor, fault in [
            (file.fileno(), "is no socket"), (connected.fileno(), "is no TCP socket"),
            (bound.fileno(), "is no listening socket"),
        ]:
            process = refusal(descriptor)
            assert process.returncode == 69 and process.stdout == ""
            assert process.stderr == (
                f"signalbox: Descriptor 3 {fault}. Pass a TCP socket on which `listen` was called, or start the server "
                "without LISTEN_FDS.\n")


def test_development_mode_refuses_a_socket_that_other_machines_can_reach():
    with held_socket("0.0.0.0") as held:
        process = refusal(held.fileno(), credentials=False)
    assert process.returncode == 64 and "cannot listen on 0.0.0.0" in process.stderr
