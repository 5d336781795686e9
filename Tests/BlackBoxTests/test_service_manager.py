"""What a service manager learns from the server, on a real datagram socket: sd_notify(3) and sd_watchdog_enabled(3)."""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import secrets
import signal
import socket
import subprocess
import sys
import time

import pytest

from server_process import BINARY, DEADLINE, Server, environment

# Becomes the program, with the watchdog for its own process. The process keeps its ID.
WATCHED = "import os, sys; os.environ['WATCHDOG_PID'] = str(os.getpid()); os.execv(sys.argv[1], sys.argv[1:])"


class Manager:
    """The receiving end of NOTIFY_SOCKET."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + name[1:] if name.startswith("@") else name)

    def next(self, timeout=DEADLINE):
        """The assignments of the next datagram; None if there is none in time."""
        self.socket.settimeout(timeout)
        try:
            text = self.socket.recv(4096).decode()
        except TimeoutError:
            return None
        assert text.endswith("\n")
        return dict(line.split("=", 1) for line in text.splitlines())

    def until(self, name):
        """The next datagram with this assignment."""
        deadline = time.monotonic() + DEADLINE
        while (message := self.next(max(0.001, deadline - time.monotonic()))) is not None:
            if name in message:
                return message
        raise AssertionError(f"no {name} in time")


@pytest.fixture
def notify(tmp_path):
    name = str(tmp_path / "notify")
    manager = Manager(name)
    yield manager, name
    manager.socket.close()


def managed(*arguments, name, watchdog=None, **settings):
    """A server with this NOTIFY_SOCKET, and with a watchdog of so many microseconds."""
    program = ["/usr/bin/env", f"NOTIFY_SOCKET={name}"]
    if watchdog:
        program += [f"WATCHDOG_USEC={watchdog}", sys.executable, "-S", "-c", WATCHED]
    return Server(*arguments, launcher=program, **settings)


@pytest.mark.parametrize("abstract", [False, True])
def test_a_service_manager_learns_of_the_start_and_the_stop(abstract, tmp_path):
    name = "@signalbox-test-" + secrets.token_hex(8) if abstract else str(tmp_path / "notify")
    manager = Manager(name)
    with contextlib.closing(manager.socket), managed(name=name) as server:
        ready = manager.next()
        assert ready["READY"] == "1" and ready["STATUS"] == f"listening at {server.url}/"
        assert server.request("GET", "/readyz").status == 200
        server.process.terminate()
        assert manager.next() == {"STOPPING": "1", "STATUS": "disconnecting the clients"}
        assert server.wait() == 0
        assert manager.next(0.01) is None


def test_a_server_that_cannot_start_is_never_ready(notify):
    manager, name = notify
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = subprocess.run(
            [BINARY, "serve", "--port", str(taken.getsockname()[1]), "--ephemeral"],
            env=environment() | {"NOTIFY_SOCKET": name}, capture_output=True, text=True, timeout=DEADLINE)
    assert process.returncode == 69
    assert manager.next(0.01) is None


def test_a_reload_begins_with_the_time_and_ends_ready_also_when_it_is_refused(notify, tmp_path):
    manager, name = notify
    file = tmp_path / "signalbox.json"
    file.write_text(json.dumps({"drainSeconds": 1}))
    with managed("--config", file, name=name) as server:
        manager.until("READY")
        for contents, status in [('{"drainSeconds": 2}', "reloaded the settings"), ("{", "refused to reload")]:
            file.write_text(contents)
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            server.process.send_signal(signal.SIGHUP)
            reloading = manager.next()
            assert reloading["RELOADING"] == "1"
            assert before <= int(reloading["MONOTONIC_USEC"]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            ready = manager.next()
            assert ready["READY"] == "1" and ready["STATUS"].startswith(status)


@contextlib.contextmanager
def stopped_thread(thread):
    """Stops one thread of another process, as a loop that hangs; the other threads run on."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    seize, interrupt, detach, wait_all = 0x4206, 0x4207, 17, 0x40000000

    def trace(request):
        if libc.ptrace(request, thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    trace(seize)
    trace(interrupt)
    assert os.waitpid(thread, wait_all)[0] == thread
    yield
    trace(detach)


def loop_thread(pid):
    """The thread with the event loop, which has the name of the program."""
    [thread] = [
        int(task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
        if int(task.name) != pid and (task / "comm").read_text() == "signalbox\n"
    ]  # fmt: skip
    return thread


def test_the_loop_feeds_the_watchdog_and_a_loop_that_hangs_does_not(notify):
    manager, name = notify
    with managed(name=name, watchdog=400_000) as server:
        manager.until("READY")
        begin = time.monotonic()
        for _ in range(4):
            assert manager.next() == {"WATCHDOG": "1"}
        # Half of the time each, and not more often.
        assert time.monotonic() - begin >= 0.55
        with stopped_thread(loop_thread(server.pid)):
            while manager.next(0.001):
                pass
            assert manager.next(1.2) is None, "three times the watchdog's time"
        assert manager.next() == {"WATCHDOG": "1"}
        server.process.terminate()
        manager.until("STOPPING")
        assert server.wait() == 0


def test_a_server_without_a_watchdog_feeds_none(notify):
    manager, name = notify
    with managed(name=name) as server:
        manager.until("READY")
        assert server.request("GET", "/livez").status == 200
        assert manager.next(0.5) is None


@pytest.mark.parametrize(
    "variables, message",
    [
        ({"NOTIFY_SOCKET": "vsock:2:9"}, 'NOTIFY_SOCKET is "vsock:2:9". Use the absolute path of a socket'),
        ({"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "often"}, 'WATCHDOG_USEC is "often". Use a number of microseconds'),
    ],
)
def test_a_wrong_variable_is_one_line_and_status_64(variables, message):
    process = subprocess.run(
        [BINARY, "serve", "--port", "0", "--ephemeral"], env=environment() | variables, capture_output=True, text=True,
        timeout=DEADLINE)
    assert process.returncode == 64 and process.stdout == ""
    assert process.stderr.startswith(f"signalbox: {message}") and process.stderr.count("\n") == 1


# Answers with another version than the library itself.
IMPOSTOR = 'const char *json_c_version(void) { return "0.99"; }\n'


def test_a_library_that_was_not_tested_is_a_warning_in_one_line(tmp_path):
    (tmp_path / "impostor.c").write_text(IMPOSTOR)
    library = tmp_path / "impostor.so"
    subprocess.run(["clang", "-shared", "-fPIC", "-o", library, tmp_path / "impostor.c"], check=True)
    with Server(launcher=["/usr/bin/env", f"LD_PRELOAD={library}"]) as server:
        server.err.until("listening")
        server.stop()
        warnings = [line for line in server.err.seen if "not tested with" in line]
    assert len(warnings) == 1 and "json-c 0.99 (tested: 0.16, 0.18). Use a tested version" in warnings[0]
    with Server() as server:
        server.err.until("listening")
        server.stop()
        assert not re.search("not tested with", "\n".join(server.err.seen))
