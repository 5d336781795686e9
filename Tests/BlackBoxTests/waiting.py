"""Waits with a deadline, and what tests wait for."""

import asyncio
import contextlib
import os
import pathlib
import random
import signal
import socket
import time

from server_process import DEADLINE


def wait_for(condition, what, pause=0.02):
    """Asks until the condition holds, and returns what it found. For what sends no event that a test could wait for.

    A long wait needs a longer pause, so that the questions do not keep a processor busy.
    """
    deadline = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(pause)
    return found


async def until(condition, what, seconds=DEADLINE, pause=0.01):
    """The same, while other tasks of the test go on."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        await asyncio.sleep(pause)
    return found


@contextlib.contextmanager
def suspended(pid):
    """A process stands still. SIGSTOP only asks for that: its threads may run on for a while on a busy machine."""
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for(lambda: stands_still(pid), f"process {pid} to stand still")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def stands_still(pid):
    """Whether all threads of a process are stopped."""
    stats = [task.joinpath("stat").read_text() for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    # The name of a thread, in parentheses, may contain any character. Its state follows.
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


# The kernel gives outgoing connections and listeners on port 0 a port of this range.
EPHEMERAL = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")

# UDP sockets, which reserve the ports of `free_port` until this process ends.
_reservations = []


def free_port():
    """A TCP port of the loopback address for a listener that starts later, or starts again.

    The kernel gives it to nobody else meanwhile, and no other process of the tests gets it.
    """
    first_ephemeral = int(EPHEMERAL.read_text().split()[0])
    while True:
        address = ("127.0.0.1", random.randrange(first_ephemeral // 3, first_ephemeral))
        reservation = socket.socket(type=socket.SOCK_DGRAM)
        with contextlib.suppress(OSError), socket.socket() as listener:
            reservation.bind(address)
            listener.bind(address)
            _reservations.append(reservation)
            return address[1]
        reservation.close()


def accepts(port):
    """Whether something on this machine accepts connections on the port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False
