"""A server that keeps its sessions over a restart: docs/PROTOCOL.md RES-15, `--state-dir`."""

import asyncio
import fcntl
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

from credentials import Project
from server_process import BINARY, Command, Server, environment, run
from signalbox_client import Client
from test_resume import come_back
from webhook_receiver import Receiver

FILE = "sessions.state"


def serve(folder, *arguments, **settings):
    return Server("--state-dir", folder, *arguments, **settings)


async def stop(server):
    """Asks it to end while the clients still answer: none of them has to be waited for."""
    assert await asyncio.to_thread(server.stop) == 0


async def two_in_a_session(server, session):
    ada, bob = await Client.join(server, session), await Client.join(server, session)
    await ada.expect("connectionCreated", seq=2)
    return ada, bob


async def test_res_15_a_restart_loses_nothing_and_is_noticed_by_nobody(tmp_path):
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
        assert list(folder.iterdir()) == [], "it is used once"
        ada2 = await come_back(server, session, ada, after=2)
        bob2 = await come_back(server, session, bob, after=3)
        async with ada2, bob2:
            for old, new in ((ada, ada2), (bob, bob2)):
                assert new.connected["outcome"] == "resumed" and new.me == old.me
                assert new.connected["epoch"] == old.connected["epoch"]
            await ada2.expect("signal", seq=3, data='say "é\u2028\u0000"', **{"from": ada.id})
            await ada2.expect("signal", seq=4, data="to her", to=ada.id)
            # RES-9: carried out once, over the restart as well.
            await ada2.send('{"op":"signal","id":%d,"type":"chat","data":"again"}' % again)
            await ada2.expect("ack", id=again, seq=3)
            answer, events = await bob2.signal(type="chat", data="on we go")
            assert answer["seq"] == 5 and [event["ev"] for event in events] == ["signal"]
            await ada2.expect("signal", seq=5, data="on we go")
            # By REST they were there all the time.
            listed = server.rest("GET", server.session_path(session, "/connection")).json()
            assert [each["connectionId"] for each in listed["items"]] == [ada.id, bob.id]


async def test_res_15_who_does_not_come_back_in_time_is_given_up_and_the_time_runs_from_the_stop(tmp_path):
    with serve(tmp_path, resume_seconds=1) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        await stop(server)
    with serve(tmp_path, resume_seconds=1) as server:
        async with await Client.join(server, session) as eve:
            gone = {each["connectionId"] for each in eve.connected["connections"]} - {eve.id}
            # Whether the second was over before the server was back, or not: each is told once, to whom it concerns.
            for _ in list(gone):
                event = await eve.expect("connectionDestroyed", reason="networkDisconnected")
                gone.remove(event["connectionId"])
            assert eve.connected["epoch"] == ada.connected["epoch"]
            async with await come_back(server, session, ada, after=2) as late:
                assert late.connected["outcome"] == "recovered"


async def test_res_10_one_forced_out_before_the_restart_is_told_after_it(tmp_path):
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
            "connectionId": ada.id, "secret": ada.connected["resume"]["secret"], "epoch": ada.connected["epoch"], "after": 2,
        }  # fmt: skip
        token = server.project.token(session)
        await again.request("connect", apiKey="100", sessionId=session, token=token, resume=resume)
        code, events = await again.closed()
        assert code == 4502 and events[0]["reason"] == "forceDisconnected"


DAMAGES = {
    "cut": lambda text: text[:-20],
    "changed": lambda text: text.replace('"seq":2', '"seq":3', 1),
    "foreign": lambda text: "[]\n",
    "version": lambda text: text.replace('"signalboxState":1', '"signalboxState":99', 1),
    "empty": lambda text: "",
    "long": lambda text: text + "{}\n",
    "binary": lambda text: "\x00\x01\x7f" * 1_000_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_g_4_a_state_that_is_not_whole_is_set_aside_and_the_loss_is_told(tmp_path, damage):
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
        line = server.err.until("are lost")
        assert "set aside" in line and str(tmp_path) in line
        assert [path.name for path in tmp_path.iterdir()] == [FILE + ".refused"]
        assert (tmp_path / (FILE + ".refused")).read_text() == damaged
        async with await come_back(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] != ada.connected["epoch"]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "other"])
def test_what_is_no_file_of_the_servers_own_is_set_aside(tmp_path, kind):
    """Even where what stands in it could be read."""
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
                pytest.skip("only root can give a file away")
            kept.write_bytes(real.read_bytes())
            os.chown(kept, 1, 1)
    with serve(tmp_path) as server:
        server.err.until("are lost")
        assert not kept.is_symlink() and not kept.exists() and real.exists()


async def test_g_4_after_a_kill_nothing_old_comes_back(tmp_path):
    """A state is read, more is acknowledged, the server is killed: the next one must not give the same numbers again."""
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    with serve(tmp_path) as server:
        back = await come_back(server, session, ada, after=2)
        assert back.connected["outcome"] == "resumed"
        answer, _ = await back.signal(type="chat", data="acknowledged")
        assert answer["seq"] == 3
        server.process.kill()
        server.wait()
    with serve(tmp_path) as server:
        async with await come_back(server, session, back, after=3) as again:
            assert again.connected["outcome"] == "lost" and again.connected["epoch"] != ada.connected["epoch"]


async def test_g_4_a_third_signal_ends_it_at_once_and_nothing_is_kept(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        # Nobody answers the goodbye while this does not wait, so the server would wait for two seconds.
        while server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.01)
        assert server.process.returncode == 1
    assert list(tmp_path.iterdir()) == []
    with serve(tmp_path) as server:
        async with await come_back(server, session, ada, after=1) as back:
            assert back.connected["outcome"] == "lost"


@pytest.mark.parametrize("obstacle", ["port", "certificate", "lock"])
async def test_g_4_a_server_that_cannot_start_leaves_the_state_where_it_is(tmp_path, obstacle):
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
        async with await come_back(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed"


def test_a_state_folder_has_one_server_and_is_its_own(tmp_path):
    settings = {"api_key": "100", "api_secret": "secret"}
    with serve(tmp_path):
        second = run("serve", "--port", "0", "--state-dir", tmp_path, **settings)
        assert second.returncode == 1 and "in use by another server" in second.stderr
    open_to_all, sticky = tmp_path / "open", tmp_path / "sticky"
    for folder, mode in ((open_to_all, 0o777), (sticky, 0o1777)):
        folder.mkdir()
        folder.chmod(mode)
    for folder, why in (
        (open_to_all, "everybody may write in it"),
        (sticky, "everybody may write in it"),
        (tmp_path / "no" / "parent", "cannot be made"),
        (pathlib.Path("/dev/null"), "cannot be opened"),
    ):
        failed = run("serve", "--port", "0", "--state-dir", folder, **settings)
        assert failed.returncode == 1 and why in failed.stderr and str(folder) in failed.stderr, failed


async def test_a_state_folder_may_be_a_groups(tmp_path):
    """As volumes of container platforms are."""
    tmp_path.chmod(0o2775)
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    with serve(tmp_path) as server:
        async with await come_back(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    "owner, group, mode, why",
    [
        (0, 12345, 0o770, None), (12345, 0, 0o700, None), (12345, 0, 0o500, "cannot be written in"),
        (0, 0, 0o775, "cannot be written in"), (1, 12345, 0o770, "belongs to another user"),
    ],
)  # fmt: skip
def test_a_state_folder_is_the_users_or_roots_and_is_known_to_take_files_before_there_is_something_to_lose(owner, group, mode, why):
    # Not below a folder that only root may enter.
    with tempfile.TemporaryDirectory() as outer:
        os.chmod(outer, 0o755)
        folder = pathlib.Path(outer) / "state"
        folder.mkdir()
        os.chown(folder, owner, group)
        folder.chmod(mode)
        binary = pathlib.Path(outer) / "signalbox"
        shutil.copy(BINARY, binary)
        process = subprocess.Popen(
            [binary, "serve", "--port", "0", "--state-dir", folder], env=environment(api_key="100", api_secret="s"), cwd=outer,
            user=12345, group=12345, extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            first = process.stdout.readline()
            process.terminate()
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
            process.wait()
        if why:
            assert process.returncode == 1 and not first and why in err and str(folder) in err, err
        else:
            assert process.returncode == 0 and first and [path.name for path in folder.iterdir()] == [FILE], err


SECRET = "development.secret"


async def test_res_15_development_mode_goes_on_with_its_project_and_its_rooms(tmp_path):
    def room(server):
        told = server.room("lobby")
        server.project = Project(told["apiKey"], "nobody signs with it here")
        return told["sessionId"], told["token"]

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
        # With the token of the last run.
        async with await come_back(server, session, ada, after=1, token=token) as back:
            assert back.connected["outcome"] == "resumed" and back.me == ada.me
            # And who comes to the room now meets who was there.
            async with await Client.join(server, session, token=room(server)[1]) as bob:
                await back.expect("connectionCreated", seq=2, connection=bob.me)
    secret.unlink()
    with serve(tmp_path, dev=True) as server:
        assert server.out.until("export SIGNALBOX_API_KEY=") != credentials, "random"
        assert room(server)[0] != session
    with Server(dev=True) as server:
        assert room(server)[0] != session


@pytest.mark.parametrize("damage", ["empty", "short", "long", "other", "no end", "readable", "link", "folder", "pipe"])
def test_a_development_secret_that_is_not_the_servers_own_is_refused_and_left_alone(tmp_path, damage):
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
    assert secret.exists() and (tmp_path / FILE).exists(), "nothing is thrown away"


def test_a_state_that_others_may_have_written_is_set_aside(tmp_path):
    with serve(tmp_path) as server:
        assert server.stop() == 0
    (tmp_path / FILE).chmod(0o620)
    with serve(tmp_path) as server:
        server.err.until("are lost: it is not a file of the server's own")


async def test_a_state_that_cannot_be_written_is_said_and_the_exit_code_is_not_0(tmp_path):
    """The disk is full: nothing may be longer than 300 bytes."""

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
                out, err = await asyncio.to_thread(process.communicate, timeout=20)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 1
        assert "File too large" in err and str(tmp_path) in err
        assert list(tmp_path.iterdir()) == [], "no half file"
        # The sessions are over, then.
        names = [receiver.next().name for _ in range(6)]
        assert names.count("connectionDestroyed") == 2 and names[-1] == "sessionDestroyed"


async def test_opentok_4_6_webhooks_hear_nothing_of_a_restart_but_of_who_does_not_come_back(tmp_path):
    with Receiver() as receiver:
        settings = {"webhook_url": receiver.url, "resume_seconds": 3}
        with serve(tmp_path, **settings) as server:
            session = server.project.session()
            ada, bob = await two_in_a_session(server, session)
            receiver.expect("sessionCreated", "connectionCreated", "connectionCreated")
            await stop(server)
        with serve(tmp_path, **settings) as server:
            async with await come_back(server, session, ada, after=2) as back:
                assert back.connected["outcome"] == "resumed"
                (gone,) = receiver.expect("connectionDestroyed")
                assert gone.event["connection"]["id"] == bob.id and gone.event["reason"] == "networkDisconnected"
                await back.expect("connectionDestroyed", connectionId=bob.id, reason="networkDisconnected")
                await back.leave()
            receiver.expect("connectionDestroyed", "sessionDestroyed")


async def test_res_14_a_server_with_smaller_limits_tells_what_it_does_not_keep(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        for number in range(20):
            await bob.signal(type="n", data=str(number))
        await stop(server)
    with serve(tmp_path, log_events=10) as server:
        async with await come_back(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] == ada.connected["epoch"]
        async with await come_back(server, session, bob, after=22) as back:
            assert back.connected["outcome"] == "resumed"


async def test_g_2_what_is_acknowledged_while_the_server_goes_is_kept(tmp_path):
    """Signals go on, one after the other, until the socket is closed: each that was acknowledged is there afterwards."""
    with serve(tmp_path, "--drain-seconds", "0") as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        acknowledged = []

        async def go_on():
            while True:
                answer, _ = await bob.signal(type="n", data=str(len(acknowledged)))
                acknowledged.append(answer["seq"])

        going = asyncio.create_task(go_on())
        while len(acknowledged) < 20:
            await asyncio.sleep(0.001)
        await stop(server)
        await asyncio.wait([going], timeout=5)
    with serve(tmp_path) as server:
        async with await come_back(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "resumed"
            through = back.connected["replayThrough"]
            assert through >= acknowledged[-1]
            for seq in range(3, through + 1):
                await back.expect("signal", seq=seq, data=str(seq - 3))


async def test_res_15_a_client_of_ours_comes_back_by_itself_and_misses_nothing(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    settings = {"api_key": "100", "api_secret": "a secret of the tests, 32 bytes long", "server": f"http://127.0.0.1:{port}"}
    with Server("--port", port, "--state-dir", tmp_path) as first:
        session = first.project.session()
        with Command("listen", session, **settings) as listener:

            def heard():
                # The command that signals comes and goes, too.
                while (event := json.loads(listener.out.next()))["event"] in ("connectionCreated", "connectionDestroyed"):
                    pass
                return event

            assert heard()["event"] == "connected"
            assert run("signal", session, "--type", "x", "--data", "before", **settings).returncode == 0
            assert heard()["data"] == "before"
            await stop(first)
            with Server("--port", port, "--state-dir", tmp_path):
                assert run("signal", session, "--type", "x", "--data", "after", **settings).returncode == 0
                assert heard()["event"] == "reconnecting"
                assert heard() == {"event": "reconnected", "outcome": "resumed"}
                assert heard()["data"] == "after"
