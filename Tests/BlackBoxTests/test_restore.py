"""What comes back of what was acknowledged: backups, orderly stops, and files that go while a server runs."""

import asyncio
import shutil
import signal

import pytest

import durable
from server_process import run
from signalbox_client import Client, reconnect
from test_history import say
from waiting import until

WINDOWS = {"resume_seconds": 60, "recovery_seconds": 1}
REVOKED = {"user": "mallory"}


def serve(folder):
    return durable.serve(folder, history="chat", **WINDOWS)


def messages(server, session):
    """The whole history of a room, by seqs."""
    found, more = {}, True
    while more:
        path = server.session_path(session, f"/message?limit=200&after={max(found, default=0)}")
        page = server.rest("GET", path).json()
        found |= {message["seq"]: message["data"] for message in page["messages"]}
        more = page["more"]
    return found


async def acknowledged(server, session, count):
    """Says something, and returns what the server has acknowledged, by seqs."""
    async with await Client.join(server, session) as client:
        words = [f"message {number}" for number in range(count)]
        return dict(zip(await say(client, *words), words))


def restore(*arguments, code=0):
    result = run("state", "restore", *arguments)
    assert result.returncode == code, result
    return result.stdout + result.stderr


async def comes_back(folder, session, before):
    """Requires that a server on the folder lives, and has these messages, whose seqs it gives to no others."""
    with serve(folder) as server:
        assert messages(server, session) == before
        # Longer than the interval in which a server looks at its files.
        await durable.time_passes(3)
        after = await acknowledged(server, session, 5)
        assert not before.keys() & after.keys()
        assert messages(server, session) == before | after
        assert server.process.poll() is None
        assert await asyncio.to_thread(server.stop) == 0


@pytest.mark.waiting
@pytest.mark.parametrize("count, end", [(5, "running"), (30, "killed"), (100, "stopped")])
async def test_h_1_a_restored_backup_has_every_acknowledged_message(tmp_path, count, end):
    folder, backup = tmp_path / "state", tmp_path / "backup"
    with serve(folder) as server:
        session = server.project.session()
        before = await acknowledged(server, session, count)
        if end == "stopped":
            assert await asyncio.to_thread(server.stop) == 0
        elif end == "killed":
            durable.kill(server)
        assert run("state", "backup", folder, backup).returncode == 0
        if end == "running":
            await acknowledged(server, session, 3)
            assert "Stop it first" in restore(backup, folder, code=73)
    text = restore(backup, folder)
    assert f"{count} messages of 1 session" in text and str(folder / "replaced.") in text
    await comes_back(folder, session, before)


async def test_h_1_the_history_of_a_backup_alone_has_every_acknowledged_message(tmp_path):
    folder, backup, other = tmp_path / "state", tmp_path / "backup", tmp_path / "other"
    with serve(folder) as server:
        session = server.project.session()
        before = await acknowledged(server, session, 30)
        assert run("state", "backup", folder, backup).returncode == 0
    other.mkdir(mode=0o700)
    shutil.copy(tmp_path / "backup.history", other / durable.HISTORY)
    await comes_back(other, session, before)


@pytest.mark.parametrize("missing", ["backup", "backup.history"])
async def test_log_24_half_a_backup_is_refused_and_the_folder_stays(tmp_path, missing):
    folder, backup = tmp_path / "state", tmp_path / "backup"
    with serve(folder) as server:
        session = server.project.session()
        before = await acknowledged(server, session, 5)
        assert run("state", "backup", folder, backup).returncode == 0
        assert await asyncio.to_thread(server.stop) == 0
    (tmp_path / missing).unlink()
    assert str(tmp_path / missing) + " is missing" in restore(backup, folder, code=66)
    assert {path.name for path in folder.iterdir()} == durable.LEFT_FILES
    await comes_back(folder, session, before)


async def test_log_24_a_restore_keeps_what_is_revoked(tmp_path):
    folder, backup = tmp_path / "state", tmp_path / "backup"
    with serve(folder) as server:
        path = f"/v2/project/{server.project.key}/revocation"
        assert server.rest("POST", path, {"user": "old"}).status == 200
        assert run("state", "backup", folder, backup).returncode == 0
        assert server.rest("POST", path, {"user": "new"}).status == 200
    assert "2 revocations hold" in restore(backup, folder)
    with serve(folder) as server:
        listed = server.rest("GET", path).json()
        assert {"old", "new"} <= set(str(listed).replace("'", " ").split())


def remove_sessions(folder):
    for file in folder.glob("sessions.sqlite*"):
        file.unlink()


@pytest.mark.parametrize("count", [5, 100])
async def test_h_1_an_orderly_stop_leaves_every_message_in_the_history(tmp_path, count):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        before = await acknowledged(server, session, count)
        assert await asyncio.to_thread(server.stop) == 0
    remove_sessions(folder)
    await comes_back(folder, session, before)


@pytest.mark.parametrize("count", [5, 100])
async def test_h_2_without_the_sessions_of_a_killed_server_no_number_is_given_twice(tmp_path, count):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        before = await acknowledged(server, session, count)
        durable.kill(server)
    remove_sessions(folder)
    for _ in range(2):
        with serve(folder) as server:
            after = await acknowledged(server, session, count)
            other = await acknowledged(server, server.project.session(), 1)
            assert not before.keys() & after.keys() and min(other) > 1_000_000_000
            before |= after


@pytest.mark.parametrize("suffix", ["", "-wal"])
async def test_log_23_a_removed_history_ends_the_server_and_is_told_again_at_the_next_start(tmp_path, suffix):
    folder = tmp_path / "state"
    with serve(folder) as server:
        await acknowledged(server, server.project.session(), 100)
        (folder / (durable.HISTORY + suffix)).unlink()
        server.err.until("so the history cannot be kept")
        assert await asyncio.to_thread(server.wait) == 1
    if suffix == "":
        with serve(folder) as server:
            server.err.until("the messages of the history cannot be read any more|the history lacks the newest messages")


@pytest.mark.parametrize("how", ["removed", "damaged"])
async def test_his_3_a_lost_write_ahead_log_of_the_history_is_told(tmp_path, how):
    folder = tmp_path / "state"
    log = folder / f"{durable.HISTORY}-wal"
    with serve(folder) as server:
        session = server.project.session()
        before = await acknowledged(server, session, 300)
        await until(lambda: log.stat().st_size > 20_000, "a transaction of the history")
        durable.kill(server)
    if how == "removed":
        log.unlink()
    else:
        content = bytearray(log.read_bytes())
        content[32 + 24 + 100] ^= 1
        log.write_bytes(content)
    assert "history.sqlite: the newest messages are missing" in run("state", "check", folder).stdout
    assert run("state", "backup", folder, tmp_path / "backup").returncode == 1
    with serve(folder) as server:
        server.err.until("the history lacks the newest messages")
        after = await acknowledged(server, session, 5)
        assert not before.keys() & after.keys()


async def test_rest_8_a_removed_file_with_revocations_is_written_again(tmp_path):
    folder = tmp_path / "state"
    file = folder / "revocations.json"
    with serve(folder) as server:
        assert server.rest("POST", f"/v2/project/{server.project.key}/revocation", REVOKED).status == 200
        kept = file.read_bytes()
        file.unlink()
        server.err.until("it is written again")
        assert file.read_bytes() == kept
        file.write_text("replaced")
        server.err.until("it is written again")
        assert file.read_bytes() == kept


def copy_of(folder, server):
    """The files of a running server at one moment, as a snapshot of the volume has them."""
    server.process.send_signal(signal.SIGSTOP)
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    server.process.send_signal(signal.SIGCONT)
    return files


def put_back(folder, files):
    """Into the same files: a volume that is put back keeps their numbers."""
    for file in folder.iterdir():
        if file.name not in files:
            file.unlink()
    for name, content in files.items():
        with open(folder / name, "r+b") as file:
            file.truncate(0)
            file.write(content)


async def test_his_3_res_3_a_volume_that_was_put_back_gives_no_number_twice_once_a_client_proves_it(tmp_path):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        ada, bob = await durable.two_in_a_session(server, session)
        kept = dict(zip(await say(ada, "before"), ["before"]))
        files = copy_of(folder, server)
        gone = await say(ada, *map(str, range(10)))
        await until(lambda: len(messages(server, session)) == 11, "the messages")
        durable.kill(server)
    put_back(folder, files)
    with serve(folder) as server:
        # Somebody who has seen nothing newer comes first.
        early = await reconnect(server, session, bob, min(kept))
        assert early.connected["outcome"] == "resumed" and early.connected["epoch"] == ada.connected["epoch"]
        late = await reconnect(server, session, ada, gone[-1])
        assert late.connected["outcome"] == "lost" and late.connected["epoch"] != ada.connected["epoch"]
        server.err.until("a client has newer events than the state folder")
        code, _ = await early.closed()
        assert code == 1001
        again = await reconnect(server, session, bob, min(kept))
        assert again.connected["outcome"] == "lost" and again.connected["epoch"] == late.connected["epoch"]
        new = await say(late, *map(str, range(20)))
        assert not {*gone, *kept} & {*new}
        durable.kill(server)
    # The new epoch goes on.
    with serve(folder) as server:
        resumed = await reconnect(server, session, late, new[-1])
        assert resumed.connected["outcome"] == "resumed"
        assert messages(server, session) == kept | dict(zip(new, map(str, range(20))))
