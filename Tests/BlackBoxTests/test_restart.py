"""A server that keeps its sessions over a restart: docs/PROTOCOL.md RES-15 and `--state-dir`."""

import asyncio
import fcntl
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest
import websockets

from credentials import Project
from server_process import BINARY, DEADLINE, Command, Server, environment, run
from signalbox_client import Client, reconnect
from webhook_receiver import Receiver

FILE = "sessions.state"


def serve(folder, *arguments, **settings):
    return Server("--state-dir", folder, *arguments, **settings)


async def stop(server):
    """Stops the server while the event loop runs, so that the clients answer its close frames."""
    assert await asyncio.to_thread(server.stop) == 0


async def two_in_a_session(server, session):
    ada, bob = await Client.join(server, session), await Client.join(server, session)
    await ada.expect("connectionCreated", seq=2)
    return ada, bob


async def test_res_15_a_restart_loses_nothing_and_clients_see_no_event(tmp_path):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        answer, _ = await ada.signal(type="chat", data='say "é\u2028\u0000"')
        again = answer["id"]
        await bob.signal(type="chat", data="to her", to=ada.id)
        await stop(server)
    kept = folder / FILE
    assert kept.stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700
    assert ada.connected["resume"]["secret"] not in kept.read_text()
    with serve(folder) as server:
        assert list(folder.iterdir()) == [], "the server deletes the file once it has read it"
        ada2 = await reconnect(server, session, ada, after=2)
        bob2 = await reconnect(server, session, bob, after=3)
        async with ada2, bob2:
            for old, new in ((ada, ada2), (bob, bob2)):
                assert new.connected["outcome"] == "resumed" and new.me == old.me
                assert new.connected["epoch"] == old.connected["epoch"]
            await ada2.expect("signal", seq=3, data='say "é\u2028\u0000"', **{"from": ada.id})
            await ada2.expect("signal", seq=4, data="to her", to=ada.id)
            # RES-9: a request is carried out once, also across a restart.
            await ada2.send('{"op":"signal","id":%d,"type":"chat","data":"again"}' % again)
            await ada2.expect("ack", id=again, seq=3)
            answer, events = await bob2.signal(type="chat", data="after the restart")
            assert answer["seq"] == 5 and [event["ev"] for event in events] == ["signal"]
            await ada2.expect("signal", seq=5, data="after the restart")
            # REST lists the connections as if the server had not stopped.
            listed = server.rest("GET", server.session_path(session, "/connection")).json()
            assert [each["connectionId"] for each in listed["items"]] == [ada.id, bob.id]


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


async def test_res_10_a_client_that_was_force_disconnected_before_the_restart_is_told_after_it(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        mod = await Client.join(server, session, role="moderator")
        ada = await Client.join(server, session)
        ada.socket.transport.abort()
        await mod.answer(await mod.request("forceDisconnect", connectionId=ada.id))
        await stop(server)
    with serve(tmp_path) as server:
        again = await Client.open(server)
        resume = {
            "connectionId": ada.id, "secret": ada.connected["resume"]["secret"], "epoch": ada.connected["epoch"],
            "after": 2,
        }  # fmt: skip
        token = server.project.token(session)
        await again.request("connect", apiKey="100", sessionId=session, token=token, resume=resume)
        code, events = await again.closed()
        assert code == 4502 and events[0]["reason"] == "forceDisconnected"


DAMAGES = {
    "cut": lambda text: text[:-20],
    "changed": lambda text: text.replace('"seq":2', '"seq":3', 1),
    "foreign": lambda text: "[]\n",
    "version": lambda text: re.sub('"signalboxState":[0-9]+', '"signalboxState":99', text, count=1),
    "empty": lambda text: "",
    "long": lambda text: text + "{}\n",
    "binary": lambda text: "\x00\x01\x7f" * 1_000_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_g_4_a_damaged_state_file_is_set_aside_and_the_loss_is_reported(tmp_path, damage):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    kept = tmp_path / FILE
    text = kept.read_text()
    damaged = DAMAGES[damage](text)
    assert damaged != text
    kept.write_text(damaged)
    with serve(tmp_path) as server:
        line = server.err.until("lost")
        assert str(tmp_path) in line
        assert [path.name for path in tmp_path.iterdir()] == [FILE + ".refused"]
        assert (tmp_path / (FILE + ".refused")).read_text() == damaged
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] != ada.connected["epoch"]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "other"])
def test_a_state_file_that_the_server_did_not_write_is_set_aside(tmp_path, kind):
    """Even if its content is valid."""
    kept, real = tmp_path / FILE, tmp_path / "real"
    with serve(tmp_path) as server:
        assert server.stop() == 0
    kept.rename(real)
    match kind:
        case "link":
            kept.symlink_to(real)
        case "folder":
            kept.mkdir()
        case "pipe":
            os.mkfifo(kept)
        case "other":
            if os.geteuid() != 0:
                pytest.skip("only root can change the owner of a file")
            kept.write_bytes(real.read_bytes())
            os.chown(kept, 1, 1)
    with serve(tmp_path) as server:
        server.err.until("lost")
        assert not kept.is_symlink() and not kept.exists() and real.exists()


async def test_g_4_after_a_kill_no_old_state_is_restored(tmp_path):
    """After the state was restored, a signal is acknowledged, and the server is killed: the next server must not
    reuse its seq."""
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    with serve(tmp_path) as server:
        back = await reconnect(server, session, ada, after=2)
        assert back.connected["outcome"] == "resumed"
        answer, _ = await back.signal(type="chat", data="acknowledged")
        assert answer["seq"] == 3
        server.process.kill()
        server.wait()
    with serve(tmp_path) as server:
        async with await reconnect(server, session, back, after=3) as again:
            assert again.connected["outcome"] == "lost" and again.connected["epoch"] != ada.connected["epoch"]


async def test_g_4_a_third_signal_ends_the_server_at_once_and_saves_nothing(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        # The client does not answer the close frame, since this loop does not yield: the server would wait for two
        # seconds.
        while server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            # Two signals at once could count as one. The loop ends with the process.
            time.sleep(0.01)
        assert server.process.returncode == 1
    assert list(tmp_path.iterdir()) == []
    with serve(tmp_path) as server:
        async with await reconnect(server, session, ada, after=1) as back:
            assert back.connected["outcome"] == "lost"


@pytest.mark.parametrize("obstacle", ["port", "certificate", "lock"])
async def test_g_4_a_server_that_cannot_start_leaves_the_state_file_in_its_folder(tmp_path, obstacle):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    text = (folder / FILE).read_text()
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
        assert failed.returncode == 1 and failed.stderr, failed
        if obstacle == "lock":
            os.close(holder)
    assert (folder / FILE).read_text() == text
    with serve(folder) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed"


def test_a_state_folder_serves_one_server_and_must_be_private(tmp_path):
    settings = {"api_key": "100", "api_secret": "secret"}
    with serve(tmp_path):
        second = run("serve", "--port", "0", "--state-dir", tmp_path, **settings)
        assert second.returncode == 1 and "another server" in second.stderr
    open_to_all, sticky = tmp_path / "open", tmp_path / "sticky"
    for folder, mode in ((open_to_all, 0o777), (sticky, 0o1777)):
        folder.mkdir()
        folder.chmod(mode)
    for folder, why in (
        (open_to_all, "write"),
        (sticky, "write"),
        (tmp_path / "no" / "parent", "made|create"),
        (pathlib.Path("/dev/null"), "open|not a folder"),
    ):
        failed = run("serve", "--port", "0", "--state-dir", folder, **settings)
        assert failed.returncode == 1 and re.search(why, failed.stderr) and str(folder) in failed.stderr, failed


async def test_a_state_folder_may_be_writable_by_a_group(tmp_path):
    """Container platforms make the folders of volumes writable by a group."""
    tmp_path.chmod(0o2775)
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    with serve(tmp_path) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run the server as another user")
@pytest.mark.parametrize(
    "owner, group, mode, why",
    [
        (0, 12345, 0o770, None), (12345, 0, 0o700, None), (12345, 0, 0o500, "writ"),
        (0, 0, 0o775, "writ"), (1, 12345, 0o770, "another user"),
    ],
)  # fmt: skip
def test_a_state_folder_belongs_to_the_user_or_root_and_is_checked_at_start(owner, group, mode, why):
    # pytest's own folder can be entered by root only.
    with tempfile.TemporaryDirectory() as outer:
        os.chmod(outer, 0o755)
        folder = pathlib.Path(outer) / "state"
        folder.mkdir()
        os.chown(folder, owner, group)
        folder.chmod(mode)
        binary = pathlib.Path(outer) / "signalbox"
        shutil.copy(BINARY, binary)
        process = subprocess.Popen(
            [binary, "serve", "--port", "0", "--state-dir", folder], env=environment(api_key="100", api_secret="s"),
            cwd=outer,
            user=12345, group=12345, extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            first = process.stdout.readline()
            process.terminate()
            _, err = process.communicate(timeout=DEADLINE)
        finally:
            process.kill()
            process.wait()
        if why:
            assert process.returncode == 1 and not first and re.search(why, err) and str(folder) in err, err
        else:
            assert process.returncode == 0 and first and [path.name for path in folder.iterdir()] == [FILE], err


SECRET = "development.secret"


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
    secret = tmp_path / SECRET
    assert secret.stat().st_mode & 0o777 == 0o600 and secret.read_text().strip() in credentials
    with serve(tmp_path, dev=True) as server:
        assert server.out.until("export SIGNALBOX_API_KEY=") == credentials
        assert [path.name for path in tmp_path.iterdir()] == [SECRET]
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


@pytest.mark.parametrize("damage", ["empty", "short", "long", "other", "no end", "readable", "link", "folder", "pipe"])
def test_a_damaged_or_readable_development_secret_is_refused_and_left_in_place(tmp_path, damage):
    secret, real = tmp_path / SECRET, tmp_path / "real"
    with serve(tmp_path, dev=True) as server:
        assert server.stop() == 0
    text = secret.read_text()
    match damage:
        case "empty":
            secret.write_text("")
        case "short":
            secret.write_text(text[1:])
        case "long":
            secret.write_text(text + "0\n")
        case "other":
            secret.write_text("G" + text[1:])
        case "no end":
            secret.write_text(text[:-1] + "0")
        case "readable":
            secret.chmod(0o640)
        case "link":
            secret.rename(real)
            secret.symlink_to(real)
        case "folder":
            secret.unlink()
            secret.mkdir()
        case "pipe":
            secret.unlink()
            os.mkfifo(secret)
    failed = run("serve", "--port", "0", "--dev", "--state-dir", tmp_path)
    assert failed.returncode == 1 and SECRET in failed.stderr and str(tmp_path) in failed.stderr, failed
    assert failed.stderr.count("\n") == 1 and text.strip() not in failed.stderr
    assert secret.exists() and (tmp_path / FILE).exists(), "both files are kept"


def test_a_state_file_that_other_users_may_write_is_set_aside(tmp_path):
    with serve(tmp_path) as server:
        assert server.stop() == 0
    (tmp_path / FILE).chmod(0o620)
    with serve(tmp_path) as server:
        server.err.until("lost")
        assert (tmp_path / (FILE + ".refused")).exists()


async def test_a_state_that_cannot_be_written_is_reported_and_the_exit_code_is_1(tmp_path):
    """A file size limit of 300 bytes stands for a full disk."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    with Receiver() as receiver:
        settings = {"api_key": "100", "api_secret": "a secret of the tests, 32 bytes long", "webhook_url": receiver.url}
        process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", "--state-dir", tmp_path], env=environment(**settings), preexec_fn=limit,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            port = int(process.stdout.readline().rsplit(":", 1)[1].rstrip("/\n"))
            with Server(api_secret="unused") as other:  # for its project's tokens
                other.port, other.url = port, f"http://127.0.0.1:{port}"
                session = other.project.session()
                await two_in_a_session(other, session)
                process.terminate()
                out, err = await asyncio.to_thread(process.communicate, timeout=DEADLINE)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 1
        assert "File too large" in err and str(tmp_path) in err
        assert list(tmp_path.iterdir()) == [], "no partial file is left"
        # The sessions have ended.
        names = [receiver.next().name for _ in range(6)]
        assert names.count("connectionDestroyed") == 2 and names[-1] == "sessionDestroyed"


async def test_opentok_4_6_a_restart_posts_nothing_except_for_connections_that_expire(tmp_path):
    with Receiver() as receiver:
        # Long enough for one client to come back on a busy machine.
        settings = {"webhook_url": receiver.url, "resume_seconds": 8}
        with serve(tmp_path, **settings) as server:
            session = server.project.session()
            ada, bob = await two_in_a_session(server, session)
            receiver.expect("sessionCreated", "connectionCreated", "connectionCreated")
            await stop(server)
        with serve(tmp_path, **settings) as server:
            async with await reconnect(server, session, ada, after=2) as back:
                assert back.connected["outcome"] == "resumed"
                (gone,) = receiver.expect("connectionDestroyed")
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
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
