"""A server that keeps its sessions over a stop: docs/PROTOCOL.md RES-15 and `--state-dir`. See test_crash.py, too."""

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import socket
import time

import pytest
import websockets

from credentials import Project
from durable import FILES, serve, stop, time_passes, two_in_a_session
from server_process import DEADLINE, Command, Server, run
from signalbox_client import Client, reconnect
from waiting import free_port
from webhook_receiver import Receiver


async def test_res_15_a_connection_that_does_not_return_expires_counted_from_the_stop(tmp_path):
    with serve(tmp_path, resume_seconds=1) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        await stop(server)
    with serve(tmp_path, resume_seconds=1) as server:
        async with await Client.join(server, session) as eve:
            gone = {each["connectionId"] for each in eve.connected["connections"]} - {eve.id}
            # The resume window may end before or after the new server starts. Eve gets one event for each connection
            # she knows.
            for _ in list(gone):
                event = await eve.expect("connectionDestroyed", reason="networkDisconnected")
                gone.remove(event["connectionId"])
            assert eve.connected["epoch"] == ada.connected["epoch"]
            async with await reconnect(server, session, ada, after=2) as late:
                assert late.connected["outcome"] == "recovered"


@contextlib.contextmanager
def full_log():
    """How to start a server whose log nobody reads: arguments of `Server`."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writing, b"\n" * 4096)
        os.set_blocking(writing, True)
        yield {"launcher": ("bash", "-c", f'exec "$@" 2>&{writing}', "bash"), "pass_fds": (writing,)}
    finally:
        os.close(reading)
        os.close(writing)


async def status_after_many_signals(folder, **start):
    """The exit status of a server that gets a signal again and again. Checks that the server has lost nothing."""
    with serve(folder, **start) as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        answer, _ = await ada.signal(type="chat", data="acknowledged")
        # The client does not answer the close frame, since this loop does not yield.
        while server.process.poll() is None:
            # Two signals of one kind could count as one while the server has not taken the first.
            for number in (signal.SIGTERM, signal.SIGINT):
                server.process.send_signal(number)
            time.sleep(0.005)
        status = server.process.returncode
    with serve(folder) as server:
        async with await reconnect(server, session, ada, after=1) as back:
            assert back.connected["outcome"] == "resumed"
            await back.expect("signal", seq=answer["seq"], data="acknowledged")
    return status


@pytest.mark.parametrize("log_is_read", [True, False])
async def test_g_2_a_third_signal_ends_the_server_at_once_and_loses_nothing(tmp_path, log_is_read):
    """The server ends with status 1, also when it waits for the reader of its log so long that the end that the first
    signal began comes first.

    A server that stops waits 100 ms for its clients. On a busy machine it can have stopped, with status 0, before it
    gets the third signal; a busy machine is not always slow.
    """
    statuses = []
    while len(statuses) < 5 and 1 not in statuses:
        with contextlib.nullcontext({}) if log_is_read else full_log() as start:
            statuses.append(await status_after_many_signals(tmp_path / str(len(statuses)), **start))
    assert statuses[-1] == 1 and set(statuses) <= {0, 1}, statuses


@pytest.mark.parametrize("obstacle, status", [("port", 69), ("certificate", 78), ("lock", 73)])
async def test_g_4_a_server_that_cannot_start_changes_nothing_for_the_next_one(tmp_path, obstacle, status):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    arguments = ["--state-dir", folder, "--port", "0"]
    settings = {"api_key": "100", "api_secret": server.project.secret}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        match obstacle:
            case "port":
                arguments[-1] = str(taken.getsockname()[1])
            case "certificate":
                (tmp_path / "bad.pem").write_text("no certificate")
                arguments += ["--tls-cert", tmp_path / "bad.pem", "--tls-key", tmp_path / "bad.pem"]
            case "lock":
                holder = os.open(folder, os.O_RDONLY)
                fcntl.flock(holder, fcntl.LOCK_EX)
        failed = run("serve", *arguments, **settings)
        assert failed.returncode == status and failed.stderr, failed
        if obstacle == "lock":
            os.close(holder)
    with serve(folder) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed"


@pytest.mark.waiting
async def test_res_15_a_server_that_cannot_start_does_not_extend_the_windows(tmp_path):
    """The windows run from the end of the last server that had clients."""
    settings = {"resume_seconds": 1}
    with serve(tmp_path, **settings) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    await time_passes(3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        failed = run(
            "serve", "--state-dir", tmp_path, "--port", taken.getsockname()[1], api_key="100",
            api_secret=server.project.secret, **settings,
        )  # fmt: skip
        assert failed.returncode == 69, failed
    with serve(tmp_path, **settings) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "recovered"


async def test_res_15_sessions_of_a_project_that_is_missing_for_a_run_are_continued_later(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    with serve(tmp_path, project=Project("200", "unused"), api_key="200", api_secret="another secret") as server:
        await stop(server)
    with serve(tmp_path) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed" and back.me == ada.me


async def test_res_15_rest_4_development_mode_keeps_its_project_and_its_rooms(tmp_path):
    def room(server):
        access = server.room("lobby")
        server.project = Project(access["apiKey"], "unused")
        return access["sessionId"], access["token"]

    with serve(tmp_path, dev=True) as server:
        session, token = room(server)
        ada = await Client.join(server, session, token=token)
        assert server.room("lobby")["sessionId"] == session != server.room("den")["sessionId"]
        credentials = server.out.until("export SIGNALBOX_API_KEY=")
        await stop(server)
    secret = tmp_path / "development.secret"
    assert secret.stat().st_mode & 0o777 == 0o600 and secret.read_text().strip() in credentials
    with serve(tmp_path, dev=True) as server:
        assert server.out.until("export SIGNALBOX_API_KEY=") == credentials
        assert {path.name for path in tmp_path.iterdir()} == {"development.secret"} | FILES
        assert room(server)[0] == session
        # The token of the previous run is still valid.
        async with await reconnect(server, session, ada, after=1, token=token) as back:
            assert back.connected["outcome"] == "resumed" and back.me == ada.me
            # A client that joins the room now is in the same session.
            async with await Client.join(server, session, token=room(server)[1]) as bob:
                await back.expect("connectionCreated", seq=2, connection=bob.me)
    secret.unlink()
    with serve(tmp_path, dev=True) as server:
        assert server.out.until("export SIGNALBOX_API_KEY=") != credentials, "a new secret is random"
        assert room(server)[0] != session
    with Server(dev=True) as server:
        assert room(server)[0] != session


@pytest.mark.waiting
async def test_a_restart_posts_nothing_new_except_for_connections_that_expire(tmp_path):
    with Receiver() as receiver:
        # Long enough for one client to come back on a busy machine.
        settings = {"webhook_url": receiver.url, "resume_seconds": 20}
        with serve(tmp_path, **settings) as server:
            session = server.project.session()
            ada, bob = await two_in_a_session(server, session)
            receiver.expect("sessionCreated", "connectionCreated", "connectionCreated")
            await stop(server)
        with serve(tmp_path, **settings) as server:
            async with await reconnect(server, session, ada, after=2) as back:
                assert back.connected["outcome"] == "resumed"
                (gone,) = receiver.expect_new("connectionDestroyed")
                assert gone.event["connection"]["id"] == bob.id and gone.event["reason"] == "networkDisconnected"
                await back.expect("connectionDestroyed", connectionId=bob.id, reason="networkDisconnected")
                await back.leave()
            receiver.expect("connectionDestroyed", "sessionDestroyed")


async def test_res_14_a_server_with_smaller_limits_reports_what_it_does_not_keep(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        for number in range(20):
            await bob.signal(type="n", data=str(number))
        await stop(server)
    with serve(tmp_path, log_events=10) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] == ada.connected["epoch"]
        async with await reconnect(server, session, bob, after=22) as back:
            assert back.connected["outcome"] == "resumed"


async def test_g_2_signals_that_are_acknowledged_during_the_stop_are_saved(tmp_path):
    """A client sends signals until its socket is closed. Each acknowledged one is there after the restart."""
    with serve(tmp_path, "--drain-seconds", "0") as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        acknowledged, enough = [], asyncio.Event()

        async def send_signals():
            while True:
                answer, _ = await bob.signal(type="n", data=str(len(acknowledged)))
                acknowledged.append(answer["seq"])
                if len(acknowledged) == 20:
                    enough.set()

        sending = asyncio.create_task(send_signals())
        await enough.wait()
        await stop(server)
        with pytest.raises(websockets.ConnectionClosed):
            await asyncio.wait_for(sending, DEADLINE)
    with serve(tmp_path) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed"
            through = back.connected["replayThrough"]
            assert through >= acknowledged[-1]
            for seq in range(3, through + 1):
                await back.expect("signal", seq=seq, data=str(seq - 3))


async def test_res_15_the_listen_command_resumes_by_itself_and_misses_nothing(tmp_path):
    port = str(free_port())
    settings = {
        "api_key": "100", "api_secret": "a secret of the tests, 32 bytes long", "server": f"http://127.0.0.1:{port}"
    }
    with Server("--port", port, "--state-dir", tmp_path) as first:
        session = first.project.session()
        with Command("listen", session, **settings) as listener:

            def next_event():
                # The `signal` command connects and disconnects, too.
                while (event := json.loads(listener.out.next()))["event"] in (
                    "connectionCreated", "connectionDestroyed"
                ):
                    pass
                return event

            assert next_event()["event"] == "connected"
            assert run("signal", session, "--type", "x", "--data", "before", **settings).returncode == 0
            assert next_event()["data"] == "before"
            await stop(first)
            with Server("--port", port, "--state-dir", tmp_path):
                assert run("signal", session, "--type", "x", "--data", "after", **settings).returncode == 0
                assert next_event()["event"] == "reconnecting"
                assert next_event() == {"event": "reconnected", "outcome": "resumed"}
                assert next_event()["data"] == "after"
