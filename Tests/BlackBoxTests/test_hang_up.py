"""The end of the terminal in which the server runs (docs/CONFIGURATION.md, section Reloading)."""

import fcntl
import os
import re
import signal
import subprocess
import termios
import urllib.request

import pytest

from server_process import BINARY, DEADLINE, environment


class InTerminal:
    """`signalbox serve` as the only program of a terminal."""

    def __init__(self, ignores_hang_up=False):
        self.terminal, end = os.openpty()

        def prepare():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if ignores_hang_up:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)

        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", "0"],
            stdin=end,
            stdout=end,
            stderr=end,
            start_new_session=True,
            preexec_fn=prepare,
            env=environment(),
        )
        os.close(end)
        shown = b""
        while not (ready := re.search(rb"is ready at (http://[\d.:]+/)", shown)):
            shown += os.read(self.terminal, 4096)
        self.url = ready[1].decode()

    def close_terminal(self):
        os.close(self.terminal)

    def serves(self):
        with urllib.request.urlopen(self.url + "livez", timeout=DEADLINE) as answer:
            return answer.status == 200


@pytest.fixture
def in_terminal():
    started = []

    def start(**options):
        started.append(InTerminal(**options))
        return started[-1]

    yield start
    for server in started:
        server.process.kill()
        server.process.wait()


def test_a_server_stops_when_its_terminal_is_closed(in_terminal):
    server = in_terminal()
    server.process.send_signal(signal.SIGHUP)
    assert server.serves(), "with the terminal open, SIGHUP only reloads"
    server.close_terminal()
    assert server.process.wait(DEADLINE) == 0


def test_a_server_that_nohup_started_outlives_its_terminal(in_terminal):
    server = in_terminal(ignores_hang_up=True)
    server.close_terminal()
    server.process.send_signal(signal.SIGHUP)
    assert server.serves()
    server.process.terminate()
    assert server.process.wait(DEADLINE) == 0
