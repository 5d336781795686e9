"""The tools for the sessions in a state folder: `signalbox state inspect`, `check` and `backup`."""

import asyncio
import json
import os
import shutil
import sqlite3

import pytest

from server_process import Server, run
from signalbox_client import Client, reconnect
from waiting import wait_for

NO_INPUT, NOT_WRITTEN, USAGE = os.EX_NOINPUT, os.EX_CANTCREAT, os.EX_USAGE
DATABASE = "sessions.sqlite"
# Everything that clients have sent. No output may contain it.
SECRETS = ("the words of a user", "aPrivateType", "name of Ada", "name of Bob")


def serve(folder, *arguments, **settings):
    return Server("--state-dir", folder, *arguments, **settings)


def state(*arguments, code=0):
    """Runs a command of the group, requires its exit code, and returns what it prints."""
    result = run("state", *arguments)
    assert result.returncode == code, result
    output = result.stdout + result.stderr
    for text in (*SECRETS, "Fatal error", "Backtrace"):
        assert text not in output, output
    if code in (0, 1) and result.stdout:
        assert result.stderr == "", result
        return result.stdout
    assert result.stdout == "" and len(result.stderr.strip().splitlines()) == 1, result
    return result.stderr


def inspect(folder):
    return json.loads(state("inspect", folder, "--json"))


async def come_back(server, session, ada, after):
    token = server.project.token(session, data=SECRETS[2])
    return await reconnect(server, session, ada, after, token=token)


async def chat(server):
    """A session of ada, who stays, and bob, who loses his socket. Returns it with ada's `connected`."""
    session = server.project.session()
    ada = await Client.join(server, session, data=SECRETS[2])
    bob = await Client.join(server, session, data=SECRETS[3])
    await ada.expect("connectionCreated")
    await ada.signal(type=SECRETS[1], data=SECRETS[0])
    await ada.signal(type=SECRETS[1], data=SECRETS[0], to=bob.id)
    bob.socket.transport.abort()
    # The loss is in the folder when the server has noticed it.
    await asyncio.to_thread(
        wait_for, lambda: inspect(server.folder)["totals"]["detached"] == 1, "the loss of a socket")
    return session, ada


@pytest.mark.parametrize("end", ["running", "stopped", "killed"])
async def test_inspect_and_check_show_the_sessions_and_nothing_that_users_sent(tmp_path, end):
    folder = tmp_path / "state"
    with serve(folder) as server:
        server.folder = folder
        session, ada = await chat(server)
        if end == "stopped":
            assert await asyncio.to_thread(server.stop) == 0
        elif end == "killed":
            server.process.kill()
            server.process.wait()
        report = inspect(folder)
        [shown] = report["sessions"]
        assert shown["sessionId"] == session and shown["epoch"] == ada.connected["epoch"]
        assert shown["state"] == "live" and shown["attached"] + shown["detached"] == 2
        if end != "stopped":
            assert (shown["attached"], shown["detached"]) == (1, 1)
        assert (shown["events"], shown["lastSeq"]) == (4, 4) and shown["eventBytes"] > 0
        assert shown["lastEvents"] == ["presence", "presence", "signal", "directedSignal"]
        assert shown["commands"] > 0 or shown["snapshotBytes"] > 0
        assert report["totals"]["sessions"] == 1 and report["totals"]["events"] == 4
        sizes = {each["name"]: each["bytes"] for each in report["files"]}
        assert sizes[DATABASE] == (folder / DATABASE).stat().st_size
        assert report["continues"] is True and report["reason"] is None

        lines = state("inspect", folder).splitlines()
        assert lines[0].split()[:3] == ["session", "epoch", "attached"]
        assert lines[1].split()[:2] == [session, ada.connected["epoch"]]
        assert lines[1].endswith("presence presence signal directedSignal")
        assert lines[2].startswith("1 session, 2 connections (")
        assert f"{DATABASE} {sizes[DATABASE]} bytes" in lines[3]
        assert len(lines) == 4

        assert state("check", folder).startswith("no faults in 1 session with ")
        if end == "running":
            await ada.signal(type="t", data="the server goes on")
            assert inspect(folder)["sessions"][0]["lastSeq"] == 5
            return
    # The tools have changed nothing: the next server continues the session.
    with serve(folder) as server:
        async with await come_back(server, session, ada, after=4) as again:
            assert again.connected["outcome"] == "resumed"


async def test_a_backup_is_a_private_copy_from_a_running_server_and_its_sessions_begin_anew(tmp_path):
    folder, copy = tmp_path / "state", tmp_path / "copy"
    copy.mkdir(mode=0o700)
    with serve(folder) as server:
        server.folder = folder
        session, ada = await chat(server)
        text = state("backup", folder, copy / DATABASE)
        assert str(copy / DATABASE) in text and "new epochs" in text
        await ada.signal(type="t", data="later")
        assert inspect(folder)["sessions"][0]["lastSeq"] == 5
    (copy / f"{DATABASE}.history").rename(copy / "history.sqlite")
    assert sorted(path.name for path in copy.iterdir()) == ["history.sqlite", DATABASE]
    assert (copy / DATABASE).stat().st_mode & 0o777 == 0o600
    report = inspect(copy)
    assert [each["lastSeq"] for each in report["sessions"]] == [4]
    assert report["continues"] is False and "is a copy" in report["reason"]
    assert "new sessions: the database is a copy" in state("inspect", copy)
    assert "new sessions: the database is a copy" in state("check", copy)
    # Restored as the help says.
    with serve(copy) as server:
        server.err.until("the database is a copy")
        async with await come_back(server, session, ada, after=4) as again:
            assert again.connected["outcome"] == "lost" and again.connected["epoch"] != ada.connected["epoch"]


def test_a_backup_replaces_no_file(tmp_path):
    with serve(tmp_path / "state"):
        kept = tmp_path / "kept"
        kept.write_text("mine")
        assert str(kept) in state("backup", tmp_path / "state", kept, code=NOT_WRITTEN)
        assert kept.read_text() == "mine"
        state("backup", tmp_path / "state", tmp_path / "missing/copy", code=NOT_WRITTEN)
        state("backup", tmp_path / "state", tmp_path, code=NOT_WRITTEN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "state"]


def test_a_state_folder_without_sessions_is_intact(tmp_path):
    with serve(tmp_path) as server:
        assert inspect(tmp_path)["sessions"] == []
        assert state("inspect", tmp_path).startswith("0 sessions, 0 connections (0 attached), 0 events")
        assert state("check", tmp_path).startswith("no faults in 0 sessions with 0 commands")
        assert server.stop() == 0
    assert inspect(tmp_path)["totals"]["sessions"] == 0


@pytest.mark.parametrize("command", ["inspect", "check", "backup"])
def test_a_folder_that_is_missing_or_has_no_database_is_refused_and_named(tmp_path, command):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    more = [tmp_path / "copy"] if command == "backup" else []
    for name in ("missing", "empty", "file"):
        assert str(tmp_path / name) in state(command, tmp_path / name, *more, code=NO_INPUT)
    assert list((tmp_path / "empty").iterdir()) == [], "the commands create nothing"
    assert not (tmp_path / "copy").exists()
    assert run("state", command).returncode == USAGE
    assert run("state", command, tmp_path, *more, "surplus").returncode == USAGE


def change(folder, sql):
    with sqlite3.connect(folder / DATABASE) as database:
        database.execute(sql)
    database.close()


@pytest.mark.parametrize("sql, word", [
    ("UPDATE command SET bytes = x'00' WHERE position = 2", "position 2"),
    ("DELETE FROM command WHERE position = 2", "missing before position 3"),
    ("UPDATE state SET position = position + 1", "state"),
    ("DELETE FROM command WHERE position = (SELECT max(position) FROM command)", "missing"),
])  # fmt: skip
async def test_check_reports_each_fault_in_a_line_and_fails(tmp_path, sql, word):
    folder, damaged = tmp_path / "state", tmp_path / "damaged"
    with serve(folder) as server:
        server.folder = folder
        await chat(server)
        server.process.kill()
        server.process.wait()
    shutil.copytree(folder, damaged)
    change(damaged, sql)
    [line] = state("check", damaged, code=1).splitlines()
    assert word in line
    assert state("check", folder).startswith("no faults")


def test_a_file_that_is_no_database_is_refused_by_each_command(tmp_path):
    (tmp_path / DATABASE).write_bytes(b"not a database, " * 1000)
    assert DATABASE in state("inspect", tmp_path, code=1)
    state("check", tmp_path, code=1)
    state("backup", tmp_path, tmp_path / "copy", code=1)
    assert [path.name for path in tmp_path.iterdir()] == [DATABASE]


# A view that has no end, a trigger that forgets what the server writes, and others that no server has created.
FOREIGN = [
    ("ALTER TABLE command RENAME TO hidden; CREATE VIEW command AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
     "FROM n) SELECT x AS position, x AS session, x AS number, x AS time, x AS run, x AS counter, x AS checksum, x'' AS "
     "bytes FROM n", "hidden"),
    ("CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", "endless"),
    ("CREATE TRIGGER forget AFTER INSERT ON command BEGIN DELETE FROM command; END", "forget"),
    ("CREATE INDEX slow ON command (bytes)", "slow"), ("CREATE TABLE 'x\n\x1b[2J' (y)", "x??[2J"),
    ("ALTER TABLE session ADD COLUMN more BLOB", "session"), ("DROP TABLE state", "state"),
]  # fmt: skip


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The state folder of a server that has stopped."""
    folder = tmp_path_factory.mktemp("stopped") / "state"
    with serve(folder) as server:
        assert server.stop() == 0
    return folder


@pytest.mark.parametrize("sql, name", FOREIGN, ids=[name for _, name in FOREIGN])
def test_log_23_a_schema_that_is_not_ours_is_damage_and_named(tmp_path, stopped, sql, name):
    folder, copy = tmp_path / "state", tmp_path / "copy"
    shutil.copytree(stopped, folder)
    with sqlite3.connect(folder / DATABASE) as database:
        database.executescript(sql)
    database.close()
    assert name in state("inspect", folder, code=1)
    [line] = state("check", folder, code=1).splitlines()
    assert name in line
    assert name in state("backup", folder, copy, code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    # The server keeps nothing in such a database.
    with serve(folder) as server:
        assert name in server.err.until("it is set aside as")
    assert (folder / "sessions.sqlite.damaged").exists()


def make_link(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("suffix, make", [
    ("", os.mkfifo), ("", make_link), ("-wal", os.mkfifo), ("-shm", make_link), ("-journal", os.mkfifo), ("-tail", make_link),
])
def test_a_file_that_is_not_regular_is_refused_and_named(tmp_path, stopped, suffix, make):
    """To open a named pipe waits for its other end."""
    folder, file = tmp_path / "state", DATABASE + suffix
    shutil.copytree(stopped, folder)
    (folder / file).unlink(missing_ok=True)
    make(folder / file)
    for command in (["inspect", folder], ["check", folder], ["backup", folder, tmp_path / "copy"]):
        assert file in state(*command, code=NO_INPUT)
    refused = run("serve", "--port", "0", "--state-dir", folder)
    assert refused.returncode != 0 and file in refused.stderr and refused.stderr.count("\n") == 1, refused
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_log_24_a_backup_leaves_the_files_of_others_alone(tmp_path, stopped):
    (tmp_path / "copy.new").write_text("mine")
    state("backup", stopped, tmp_path / "copy")
    assert (tmp_path / "copy.new").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "copy.history", "copy.new"]


@pytest.mark.parametrize("sql", [
    "UPDATE command SET bytes = x'00' WHERE position = 2", "UPDATE state SET alive = alive + 1",
])  # fmt: skip
async def test_log_24_a_backup_of_a_damaged_database_fails(tmp_path, sql):
    folder = tmp_path / "state"
    with serve(folder) as server:
        server.folder = folder
        await chat(server)
        server.process.kill()
        server.process.wait()
    change(folder, sql)
    assert "signalbox state check" in state("backup", folder, tmp_path / "copy", code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
