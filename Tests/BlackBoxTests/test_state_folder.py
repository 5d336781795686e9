"""The state folder: who may use it, what the server keeps in it, and what happens to files that it cannot use.

docs/CONFIGURATION.md, section Restarting.
"""

import asyncio
import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from os import EX_CANTCREAT

import pytest

from durable import DATABASE, FILES, LEFT_FILES, all_lines, kill, serve, stop, two_in_a_session
from server_process import BINARY, DEADLINE, environment, run
from signalbox_client import Client, reconnect

SECRET = "development.secret"
CREDENTIALS = {"api_key": "100", "api_secret": "a secret of the tests, 32 bytes long"}


async def test_res_6_the_files_are_private_and_have_no_secret_in_them(tmp_path):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        token = server.project.token(session)
        ada = await Client.join(server, session, token=token)
        await ada.signal(type="chat", data="what people say")

        def check(names):
            assert {path.name for path in folder.iterdir()} == names
            assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
            content = b"".join(path.read_bytes() for path in folder.iterdir())
            assert b"what people say" in content
            for secret in (ada.connected["resume"]["secret"], token, server.project.secret):
                assert secret.encode() not in content

        assert folder.stat().st_mode & 0o777 == 0o700
        check(FILES)
        await stop(server)
        check(LEFT_FILES)


def test_a_state_folder_serves_one_server_and_must_be_private(tmp_path):
    with serve(tmp_path):
        second = run("serve", "--port", "0", "--state-dir", tmp_path, **CREDENTIALS)
        assert second.returncode == EX_CANTCREAT and "another server" in second.stderr
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
        failed = run("serve", "--port", "0", "--state-dir", folder, **CREDENTIALS)
        assert failed.returncode == EX_CANTCREAT and re.search(why, failed.stderr) and str(folder) in failed.stderr, failed


async def test_a_state_folder_may_be_writable_by_a_group(tmp_path):
    """Container platforms make the folders of volumes writable by a group."""
    tmp_path.chmod(0o2775)
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await stop(server)
    assert (tmp_path / DATABASE).stat().st_mode & 0o777 == 0o600
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
            assert process.returncode == EX_CANTCREAT and not first and re.search(why, err) and str(folder) in err, err
        else:
            assert process.returncode == 0 and first, err
            assert {path.name for path in folder.iterdir()} == LEFT_FILES


def execute(database, statement):
    # Closing copies the write-ahead log into the database.
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(statement)


def changed(database):
    """Another byte in what was said."""
    content = database.read_bytes()
    assert content.count(b"first words") > 0
    database.write_bytes(content.replace(b"first words", b"other words"))


def without_a_table(database):
    execute(database, "DROP TABLE command")


def later(database):
    execute(database, "PRAGMA user_version = 99")


def other_program(database):
    database.unlink()
    execute(database, "CREATE TABLE notes (text)")


DAMAGES = {
    "cut": lambda database: os.truncate(database, database.stat().st_size - 4096),
    "changed": changed,
    "text": lambda database: database.write_text("[]\n"),
    "binary": lambda database: database.write_bytes(b"\0\1\x7f" * 1_000_000),
    "without a table": without_a_table,
    "other program": other_program,
    "later version": later,
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_g_4_res_15_a_database_that_cannot_be_used_is_set_aside_and_clients_are_told(tmp_path, damage):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        await ada.signal(type="chat", data="first words")
        await stop(server)
    database = tmp_path / DATABASE
    DAMAGES[damage](database)
    damaged = database.read_bytes()
    with serve(tmp_path) as server:
        aside = tmp_path / f"{DATABASE}.{'later' if damage == 'later version' else 'damaged'}"
        assert aside.read_bytes() == damaged
        assert not aside.stat().st_mode & 0o077
        async with await reconnect(server, session, ada, after=3) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] != ada.connected["epoch"]
            assert (await back.signal(data="x"))[0]["ev"] == "ack"
            # The new database is continued as any other.
            kill(server)
        told = [line for line in all_lines(server) if "not continued" in line or "begin anew" in line]
        assert len(told) == 1 and str(database) in told[0] and str(aside) in told[0], told
    with serve(tmp_path) as server:
        async with await reconnect(server, session, back, after=2) as again:
            assert again.connected["outcome"] == "resumed"


@pytest.mark.parametrize("stopped_before", [False, True])
async def test_g_4_a_missing_write_ahead_log_is_noticed_and_clients_are_told(tmp_path, stopped_before):
    """It holds the newest commands."""
    if stopped_before:
        with serve(tmp_path) as server:
            await two_in_a_session(server, server.project.session())
            await stop(server)
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        kill(server)
    (tmp_path / (DATABASE + "-wal")).unlink()
    with serve(tmp_path) as server:
        assert str(tmp_path / DATABASE) in server.err.until("begin anew")
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] != ada.connected["epoch"]


@pytest.mark.parametrize("suffix, kind", [("", "link"), ("-wal", "folder"), ("-tail", "pipe"), ("", "other")])
def test_a_file_that_the_server_did_not_write_is_refused_and_left_in_place(tmp_path, suffix, kind):
    """Even if its content is valid: a member of a group that can write to the folder could have put it there."""
    folder, real = tmp_path / "state", tmp_path / "real"
    with serve(folder) as server:
        kill(server)
    file = folder / (DATABASE + suffix)
    file.rename(real)
    match kind:
        case "link":
            file.symlink_to(real)
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "other":
            if os.geteuid() != 0:
                pytest.skip("only root can change the owner of a file")
            file.write_bytes(real.read_bytes())
            os.chown(file, 1, 1)
    failed = run("serve", "--port", "0", "--state-dir", folder, **CREDENTIALS)
    assert failed.returncode == EX_CANTCREAT and failed.stderr.count("\n") == 1 and str(file) in failed.stderr, failed
    assert file.exists() and real.exists()


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
    assert failed.returncode == EX_CANTCREAT and SECRET in failed.stderr and str(tmp_path) in failed.stderr, failed
    assert failed.stderr.count("\n") == 1 and text.strip() not in failed.stderr
    assert secret.exists() and (tmp_path / DATABASE).exists(), "both files are kept"


# Each page that SQLite writes takes a tenth of a second.
SLOW_DISK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    ssize_t (*write)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (count == 4096) usleep(100000);
    return write(file, bytes, count, offset);
}
"""


async def test_log_25_a_slow_disk_holds_up_only_those_who_wait_for_it(tmp_path):
    library = tmp_path / "slow.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", library, "-xc", "-", "-ldl"], input=SLOW_DISK, text=True, check=True)
    with serve(tmp_path / "state", env=environment(**CREDENTIALS) | {"LD_PRELOAD": str(library)}) as server:
        async with await Client.join(server, server.project.session()) as client:
            writing = asyncio.create_task(count_acknowledged(client, 20))
            answers = []
            while not writing.done():
                begin = time.monotonic()
                assert (await asyncio.to_thread(server.request, "GET", "/livez")).status == 200
                answers.append(time.monotonic() - begin)
            # A loop that committed each of them would answer once for each.
            assert len(answers) > 30 and statistics.median(answers) < await writing / 20


async def count_acknowledged(client, count):
    """The seconds that it takes to have this number of signals acknowledged, one after the other."""
    begin = time.monotonic()
    for _ in range(count):
        answer, _ = await client.signal(type="x")
        assert answer["ev"] == "ack", answer
    return time.monotonic() - begin


@pytest.mark.waiting
async def test_rest_2_a_request_that_the_storage_does_not_decide_in_time_gets_504(tmp_path):
    """It cannot be taken back: with 503 a backend would repeat it, and the clients would get it twice."""
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        path = server.session_path(session, "/signal")
        victim = server.session_path(session, f"/connection/{bob.id}")
        with contextlib.closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answers = await asyncio.gather(
                asyncio.to_thread(server.rest, "POST", path, {"type": "late", "data": "once"}),
                asyncio.to_thread(server.rest, "DELETE", victim),
            )
            other.execute("ROLLBACK")
        for answer in answers:
            assert answer.status == 504 and answer.headers["Retry-After"] is None, answer
            assert answer.json()["code"] == 504
        # Each once, in the order in which the requests came.
        events = [await ada.next(), await ada.next()]
        assert sorted(event["ev"] for event in events) == ["connectionDestroyed", "signal"], events


@pytest.mark.parametrize("is_copied", [False, True])
async def test_log_24_g_4_a_copy_of_a_running_servers_folder_is_not_continued_and_a_moved_folder_is(tmp_path, is_copied):
    folder, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    with serve(folder) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        kill(server)
    if is_copied:
        shutil.copytree(folder, elsewhere)
    else:
        folder.rename(elsewhere)
    with serve(elsewhere) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == ("lost" if is_copied else "resumed")
        kill(server)
        assert any("the database is a copy" in line for line in all_lines(server)) == is_copied
