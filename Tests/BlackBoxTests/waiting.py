"""Waits with a deadline, and what tests wait for."""

import asyncio
import socket
import time

from server_process import DEADLINE


def wait_for(condition, what):
    """Asks until the condition holds, and returns what it found. For what sends no event that a test could wait for."""
    deadline = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)
    return found


async def until(condition, what):
    """The same, while other tasks of the test go on."""
    deadline = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        await asyncio.sleep(0.01)
    return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def accepts(port):
    """Whether something on this machine accepts connections on the port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False
