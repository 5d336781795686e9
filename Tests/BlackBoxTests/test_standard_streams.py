"""Standard input, output and error, when nobody reads them, and when they are closed."""

import contextlib
import os
import signal
import subprocess

import pytest

from credentials import Project
from server_process import BINARY, DEADLINE, environment
from signalbox_client import Client
from test_logs import Running
from waiting import accepts, free_port, wait_for

PROJECT = Project("100", "a secret of the tests, 32 bytes long")
STREAMS = (0, 1, 2)


@contextlib.contextmanager
def unread_pipe():
    """The writing end of a pipe whose reader has closed it."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


@contextlib.contextmanager
def server(*arguments, **streams):
    """A server that cannot tell its port."""
    port = free_port()
    process = subprocess.Popen(
        [BINARY, "serve", "--port", str(port), "--log-level", "debug", *arguments],
        env=environment(api_key=PROJECT.key, api_secret=PROJECT.secret), **streams)
    try:
        wait_for(lambda: process.poll() is not None or accepts(port), "the server")
        assert process.poll() is None, "the server serves"
        yield process, Running(PROJECT, "127.0.0.1", port)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


async def is_served(running):
    async with await Client.join(running, PROJECT.session()) as ada:
        return (await ada.signal(data="x"))[0]["ev"] == "ack"


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdout", "stderr")])
async def test_a_server_serves_on_when_nobody_reads_its_output_and_its_log(closed, format):
    """A supervisor may read the ready line, and close the pipe before the second line."""
    with unread_pipe() as pipe:
        streams = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL) | dict.fromkeys(closed, pipe)
        with server("--log-format", format, "--admin-port", "0", **streams) as (process, running):
            assert await is_served(running)
            process.send_signal(signal.SIGHUP)
            assert await is_served(running)
            process.terminate()
            assert process.wait(DEADLINE) == 0


async def test_no_file_or_socket_of_a_server_gets_the_number_of_a_closed_stream():
    """Otherwise the server writes its log to a client."""

    def close_all():
        for stream in STREAMS:
            os.close(stream)

    with server(preexec_fn=close_all) as (process, running):
        assert [os.readlink(f"/proc/{process.pid}/fd/{stream}") for stream in STREAMS] == ["/dev/null"] * 3
        assert await is_served(running)


COMMANDS = [
    "session create", "token SESSION", "token SESSION --format jwt", "credentials", "config init", "config print",
]


def written_to(output, command):
    words = command.replace("SESSION", PROJECT.session()).split()
    return subprocess.run(
        [BINARY, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True,
        timeout=DEADLINE, env=environment(api_key=PROJECT.key, api_secret=PROJECT.secret))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_whose_output_is_closed_ends_quietly(command):
    """As in `signalbox config print | true`: the exit status is that of SIGPIPE, as a shell reports it."""
    with unread_pipe() as pipe:
        ended = written_to(pipe, command)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGPIPE, ""), ended


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_whose_output_does_not_fit_on_the_disk_says_so(command):
    with open("/dev/full", "w") as full:
        ended = written_to(full, command)
    assert ended.returncode == os.EX_CANTCREAT and "No space left" in ended.stderr, ended
    assert ended.stderr.count("\n") == 1, ended
