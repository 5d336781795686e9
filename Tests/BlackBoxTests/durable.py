"""Servers that keep their sessions in a state folder, for the tests of restarts and crashes."""

import asyncio

from server_process import Server
from signalbox_client import Client

DATABASE = "sessions.sqlite"
HISTORY = "history.sqlite"
# The databases, SQLite's write-ahead logs and their indices, and the marks of the last transactions.
FILES = {name + suffix for name in (DATABASE, HISTORY) for suffix in ("", "-wal", "-shm", "-tail")}
# Those that are left after a stop.
LEFT_FILES = {name + suffix for name in (DATABASE, HISTORY) for suffix in ("", "-tail")}


def serve(folder, *arguments, **settings):
    return Server("--state-dir", folder, *arguments, **settings)


async def stop(server):
    """Stops the server while the event loop runs, so that the clients answer its close frames."""
    assert await asyncio.to_thread(server.stop) == 0


def kill(server):
    """Ends the server by `kill -9`."""
    server.process.kill()
    server.wait()


async def two_in_a_session(server, session):
    ada, bob = await Client.join(server, session), await Client.join(server, session)
    await ada.expect("connectionCreated", seq=2)
    return ada, bob


async def time_passes(seconds):
    """Waits for an event that another server causes after this time."""
    with Server(resume_seconds=seconds) as clock:
        session = clock.project.session()
        async with await Client.join(clock, session) as observer:
            lost = await Client.join(clock, session)
            await observer.expect("connectionCreated")
            lost.socket.transport.abort()
            await observer.expect("connectionDestroyed", reason="networkDisconnected")


def all_lines(server):
    """The lines on standard error of a server that has ended."""
    while server.err.next() is not None:
        pass
    return server.err.seen
