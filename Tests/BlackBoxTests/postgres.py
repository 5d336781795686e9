"""A cluster of PostgreSQL in a folder of its own, on a Unix socket only."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

import psycopg2

from waiting import wait_for


def programs():
    """The folder with the programs of the newest PostgreSQL. Debian has none of them in the path."""
    folders = pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in folders), key=lambda folder: int(folder.parent.name))


def unprivileged():
    """Whose processes they are: PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return {}
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Postgres:
    def __init__(self):
        # The path of a socket is short.
        self.folder = tempfile.mkdtemp(prefix="signalbox-postgres-", dir="/tmp")
        self.owner = unprivileged()
        if self.owner:
            os.chown(self.folder, self.owner["user"], self.owner["group"])
        self.url = f"postgresql:///postgres?host={self.folder}&user=postgres"
        self.data = f"{self.folder}/data"
        try:
            options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]
            self.call("initdb", "-D", self.data, *options)
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def call(self, program, *arguments):
        done = subprocess.run(
            [programs() / program, *arguments], cwd=self.folder, capture_output=True, text=True, **self.owner)
        assert done.returncode == 0, done

    def start(self):
        self.process = None
        wait_for(self.answers, "PostgreSQL")

    def answers(self):
        # After a kill, the next one may have to wait for processes that are still to notice it.
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [programs() / "postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses="],
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.owner)  # fmt: skip
        try:
            return self.rows("SELECT 1")
        except psycopg2.OperationalError:
            return None

    def rows(self, query, *values):
        with contextlib.closing(psycopg2.connect(self.url)) as database, database.cursor() as cursor:
            cursor.execute(query, values)
            return cursor.fetchall()

    @contextlib.contextmanager
    def locked(self, table):
        """Nobody else reads or writes the table meanwhile."""
        with contextlib.closing(psycopg2.connect(self.url)) as database, database.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table}")
            yield

    def until_locked(self):
        """Waits until somebody waits for a lock."""
        query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        wait_for(lambda: self.rows(query), "a transaction that waits")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)  # The fast shutdown ends all transactions.
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
