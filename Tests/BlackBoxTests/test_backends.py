"""The backends of Examples/Backends lose and double nothing while they, the server and the database are killed."""

import asyncio
import contextlib
import http.server
import json
import os
import pathlib
import socketserver
import subprocess
import sys
import threading

import pytest

import durable
from credentials import Project
from postgres import Postgres
from server_process import BINARY, DEADLINE, REPOSITORY, Lines, run
from signalbox_client import Client
from test_changes import change, erase, join
from test_feed import Reader
from test_history import WINDOWS, say
from test_readme import Terminal, blocks
from waiting import free_port, until

PROGRAMS = REPOSITORY / "Examples/Backends"
SETTINGS = {"history": "chat,text-chat,TextChat", "changes": "edit,erase", "feed": True, **WINDOWS}


class Backend:
    """One of the programs. It ends with the test."""

    def __init__(self, program, url, folder, *arguments, project=None, **variables):
        project = project or Project("100", "a secret of the tests, 32 bytes long")
        self.command = [sys.executable, str(PROGRAMS / program), *map(str, arguments)]
        self.folder = folder
        self.variables = os.environ | variables | {
            "SIGNALBOX_URL": url, "SIGNALBOX_API_KEY": project.key, "SIGNALBOX_API_SECRET": project.secret,
        }  # fmt: skip

    def start(self):
        self.process = subprocess.Popen(
            self.command, env=self.variables, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.lines = Lines(self.process.stderr)

    def kill(self):
        self.process.kill()
        self.process.wait()
        assert "Traceback" not in "\n".join(self.lines.to_end())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Restarting:
    """A server with a state folder that is killed and starts again on its port."""

    def __init__(self, folder, **settings):
        self.port = free_port()
        self.settings = SETTINGS | settings
        self.start(folder)

    def start(self, folder):
        self.folder = folder
        self.server = durable.serve(folder, "--port", self.port, **self.settings)

    def kill(self):
        durable.kill(self.server)

    def __getattr__(self, name):
        return getattr(self.server, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.__exit__()

    def messages(self, session):
        """The whole history of a session."""
        found, after = [], 0
        while True:
            answer = self.rest("GET", self.session_path(session, f"/message?after={after}&limit=200"))
            assert answer.status == 200, answer
            page = answer.json()
            found += page["messages"]
            if not page["more"]:
                return found
            after = found[-1]["seq"]


class Writer:
    """A client that writes until it is told to stop, and comes back when the server does."""

    def __init__(self, server, session, text="text {}", type="chat"):
        self.server, self.session, self.text, self.type = server, session, text, type
        self.acknowledged = {}
        self.stopping = False
        self.task = asyncio.create_task(self.run())

    async def run(self):
        number, client = 0, None
        while not self.stopping:
            number += 1
            text = self.text.format(number)
            try:
                client = client or await join(self.server, self.session, "u-ada")
                answer, _ = await client.signal(type=self.type, data=text)
                if answer["ev"] == "ack":
                    self.acknowledged[answer["seq"]] = text
                await asyncio.sleep(0.005)
            except Exception:
                # The server is away: the test knows when it is back.
                client = None
                await asyncio.sleep(0.1)

    async def stop(self):
        self.stopping = True
        await self.task


def rows_of(database, session):
    query = "SELECT seq, data, erased, changed FROM messages WHERE session_id = %s ORDER BY seq"
    try:
        return database.rows(query, session)
    except Exception as fault:
        # Before the program has made its tables, and while the database starts again.
        assert type(fault).__name__ in ("UndefinedTable", "OperationalError", "CannotConnectNow"), fault
        return []


def as_row(message):
    data = message.get("data")
    return (message["seq"], data and data.replace("\0", "\ufffd"), message.get("erased", False), message.get("changed"))


async def more_rows(database, session, count=20):
    """Waits until more messages have arrived in the table."""
    before = await asyncio.to_thread(rows_of, database, session)
    async with asyncio.timeout(DEADLINE):
        while len(await asyncio.to_thread(rows_of, database, session)) < len(before) + count:
            await asyncio.sleep(0.05)


async def same_rows(server, database, sessions):
    """Waits until the table has what the histories have, and nothing else."""
    expected = {session: [as_row(each) for each in server.messages(session)] for session in sessions}
    found = {}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DEADLINE):
            while found != expected:
                found = {each: await asyncio.to_thread(rows_of, database, each) for each in sessions}
                await asyncio.sleep(0.05)
    for session in sessions:
        assert found[session] == expected[session]
    total = database.rows("SELECT count(*) FROM messages")
    assert total == [(sum(map(len, expected.values())),)]


async def test_a_table_has_each_kept_message_once_whoever_is_killed(tmp_path):
    with Postgres() as database, Restarting(tmp_path / "state") as server:
        sessions = [server.project.session() for _ in range(2)]
        with Backend("feed_to_postgres.py", server.url, tmp_path, DATABASE_URL=database.url) as backend:
            writers = [Writer(server, session) for session in sessions]
            await more_rows(database, sessions[0])
            server.kill()
            server.start(server.folder)
            await more_rows(database, sessions[0])
            backend.kill()
            backend.start()
            await more_rows(database, sessions[1])
            database.kill()
            database.start()
            await more_rows(database, sessions[1])
            # In the middle of a transaction, that is, of the rows and the offset.
            with database.locked("messages"):
                await asyncio.to_thread(database.until_locked)
                backend.kill()
            # All at once: what comes meanwhile waits in the feed.
            database.kill()
            server.kill()
            server.start(server.folder)
            database.start()
            backend.start()
            await more_rows(database, sessions[0])
            for writer in writers:
                await writer.stop()
            await same_rows(server, database, sessions)
            for writer in writers:
                rows = {seq: data for seq, data, _, _ in rows_of(database, writer.session)}
                assert writer.acknowledged.items() <= rows.items()
                assert len(writer.acknowledged) > 60
            assert database.rows("SELECT * FROM gaps") == []


async def test_a_table_follows_edits_and_erasures_and_never_shows_what_is_erased(tmp_path):
    with Postgres() as database, Restarting(tmp_path / "state") as server:
        session = server.project.session()
        with Backend("feed_to_postgres.py", server.url, tmp_path, DATABASE_URL=database.url) as backend:
            ada = await join(server, session, "u-ada")
            bob = await join(server, session, "u-bob")
            seqs = await say(ada, "one", "two", "three \0 '; DROP TABLE messages; --", "four")
            others = await say(bob, "of Bob", "of Bob, too")
            await same_rows(server, database, [session])
            backend.kill()
            assert (await change(ada, seqs[0], "one, edited"))["ev"] == "ack"
            assert (await erase(ada, seqs[1]))["ev"] == "ack"
            backend.start()
            await same_rows(server, database, [session])
            path = server.session_path(session, "/message?user=u-bob")
            assert server.rest("DELETE", path).status == 204
            await same_rows(server, database, [session])
            contents = {seq: data for seq, data, _, _ in rows_of(database, session)}
            assert contents[seqs[0]] == "one, edited" and contents[seqs[1]] is None
            assert [contents[seq] for seq in others] == [None, None]
            users = database.rows("SELECT DISTINCT user_id, connection->>'user' FROM messages ORDER BY 1")
            assert users == [("u-ada", "u-ada"), ("u-bob", "u-bob")]
            path = server.session_path(session, f"/message?through={seqs[2]}")
            assert server.rest("DELETE", path).status == 204
            # The table keeps that there was something.
            await until(
                lambda: all(erased for seq, _, erased, _ in rows_of(database, session) if seq <= seqs[2]),
                "the erasure in the table", pause=0.05)  # fmt: skip
            last = database.rows("SELECT data FROM messages WHERE seq = %s", seqs[3])
            assert last == [("four",)]


async def test_a_table_tells_of_gaps_and_begins_anew_with_another_feed(tmp_path):
    with Postgres() as database, Restarting(tmp_path / "state", history_messages=3) as server:
        session = server.project.session()
        with Backend("feed_to_postgres.py", server.url, tmp_path, DATABASE_URL=database.url) as backend:
            ada = await Client.join(server, session)
            (first,) = await say(ada, "first")
            await same_rows(server, database, [session])
            backend.kill()
            # The bound may be exceeded by 64 (HIS-2).
            seqs = await say(ada, *map(str, range(150)))
            await until(lambda: len(server.messages(session)) < 100, "the trimming", pause=0.1)
            backend.start()
            async with asyncio.timeout(DEADLINE):
                while not (rows := rows_of(database, session)) or rows[-1][0] < seqs[-1]:
                    await asyncio.sleep(0.05)
            gaps = database.rows("SELECT first, last FROM gaps WHERE session_id = %s", session)
            missing = {seq for low, high in gaps for seq in range(low, high + 1)}
            written = {seq for seq, *_ in rows}
            assert first in written and seqs[0] in missing, "the oldest went first"
            assert written | missing >= {first, *seqs}, "each message, or that it is missing"
            server.kill()
            server.start(tmp_path / "other state")
            other = server.project.session()
            ada = await Client.join(server, other)
            await say(ada, "another feed")
            await more_rows(database, other, 1)
            assert database.rows("SELECT first, last FROM gaps WHERE session_id = ''") == [(0, 0)]
            assert rows_of(database, session)[0][1] == "first", "what the table has stays"


async def test_of_two_copies_one_writes_and_the_other_takes_over(tmp_path):
    with Postgres() as database, Restarting(tmp_path / "state") as server:
        session = server.project.session()
        with contextlib.ExitStack() as stack:
            copies = [
                stack.enter_context(Backend("feed_to_postgres.py", server.url, tmp_path, DATABASE_URL=database.url))
                for _ in range(2)
            ]
            writer = Writer(server, session)
            await more_rows(database, session)
            copies[0].kill()
            await more_rows(database, session)
            copies[0].start()
            await more_rows(database, session)
            copies[1].kill()
            await more_rows(database, session)
            await writer.stop()
            await same_rows(server, database, [session])


def answers(server, session):
    """How often each message was answered."""
    found = {}
    for message in server.messages(session):
        if message["from"] is None:
            name = json.loads(message["data"])["localId"]
            found[name] = found.get(name, 0) + 1
    return found


async def test_the_bot_leaves_no_message_without_an_answer(tmp_path):
    with Restarting(tmp_path / "state") as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        await say(ada, "!before the bot was there", type="TextChat")
        await Reader(server).until(lambda event: event["event"] == "signal")
        offset = tmp_path / "offset"
        with Backend("answering_bot.py", server.url, tmp_path, offset) as bot:
            await until(offset.exists, "the offset")
            started = max(each["seq"] for each in server.messages(session))
            writer = Writer(server, session, "!time {}", "TextChat")

            async def more_answers():
                known = len(answers(server, session))
                await until(lambda: len(answers(server, session)) > known + 5, "answers", pause=0.05)

            await more_answers()
            bot.kill()
            await until(lambda: len(writer.acknowledged) > 40, "messages")
            bot.start()
            await more_answers()
            server.kill()
            server.start(server.folder)
            await more_answers()
            await writer.stop()
            ada = await Client.join(server, session)
            text = {"text": "!in the other format", "sender": {"id": ada.id}, "localId": "!"}
            (last,) = await say(ada, json.dumps(text), type="text-chat")
            await say(ada, "no question", "! of another type", type="chat")
            await until(lambda: f"answer-{last}" in answers(server, session), "the last answer")
            asked = {
                f"answer-{each['seq']}" for each in server.messages(session)
                if each["type"] == "TextChat" and each["seq"] > started
            }  # fmt: skip
            found = answers(server, session)
            assert set(found) == asked | {f"answer-{last}"}
            assert {f"answer-{seq}" for seq in writer.acknowledged if seq > started} <= asked
            assert max(found.values()) <= 3, "again only where the bot or the server was killed"


class MailReceiver(socketserver.ThreadingTCPServer):
    """Accepts mails, or refuses them as the test says: `answers` are the answers to RCPT; later ones are accepted."""

    daemon_threads = allow_reuse_address = True

    def __init__(self):
        self.mails, self.answers = [], []
        super().__init__(("127.0.0.1", 0), self.Session)

    class Session(socketserver.StreamRequestHandler):
        def say(self, text):
            self.wfile.write(text.encode() + b"\r\n")

        def handle(self):
            self.say("220 test")
            while line := self.rfile.readline():
                match line.split(b":")[0].split()[0].upper():
                    case b"RCPT":
                        answer = self.server.answers.pop(0) if self.server.answers else "250 ok"
                        self.recipient = line.decode().split("<")[1].split(">")[0]
                        self.say(answer)
                    case b"DATA":
                        self.say("354 go on")
                        text = b"".join(iter(self.rfile.readline, b".\r\n")).decode()
                        self.server.mails.append((self.recipient, text))
                        self.say("250 ok")
                    case b"QUIT":
                        self.say("221 bye")
                        return
                    case _:
                        self.say("250 ok")


class Feed(http.server.ThreadingHTTPServer):
    """A server that speaks FEED-3 and announces what the test wants. Offsets are numbers of events."""

    daemon_threads = True

    def __init__(self):
        self.events, self.offsets = [], []
        self.added = threading.Condition()
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, *events):
        with self.added:
            self.events += events
            self.added.notify_all()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            feed = self.server
            query = dict(pair.split("=") for pair in self.path.partition("?")[2].split("&"))
            with feed.added:
                feed.offsets.append(query["offset"])
                start = len(feed.events) if query["offset"] == "now" else max(0, int(query["offset"], 16))
                if query.get("live") == "long-poll":
                    feed.added.wait_for(lambda: len(feed.events) > start, timeout=1)
                found = feed.events[start:]
            self.send_response(200 if found or "live" not in query else 204)
            self.send_header("Stream-Next-Offset", f"{start + len(found):016x}")
            self.end_headers()
            if found or "live" not in query:
                self.wfile.write(json.dumps(found).encode())

        def log_message(self, *_):
            pass


@contextlib.contextmanager
def serving(server):
    """An HTTP or SMTP server on a thread of its own."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def unread(user, count, seq):
    return {"event": "user.unread", "sessionId": "1_abc", "user": user, "count": count, "seq": seq, "time": 1}


def mailing(url, folder, receiver, **variables):
    smtp = f"127.0.0.1:{receiver.server_address[1]}"
    arguments = ("--smtp", smtp, "--from", "chat@example.org", "--domain", "example.org", folder / "offset")
    return Backend("mail_on_unread.py", url, folder, *arguments, **variables)


async def test_a_mail_goes_to_each_user_who_is_away(tmp_path):
    with serving(Feed()) as feed, serving(MailReceiver()) as receiver, mailing(feed.url, tmp_path, receiver) as backend:
        feed.add(unread("u-before", 1, 1))
        # The first read is that of the present end.
        await until(lambda: (tmp_path / "offset").exists(), "the offset")
        feed.events.clear()
        backend.kill()
        (tmp_path / "offset").unlink()
        backend.start()
        await until(lambda: len(feed.offsets) > 2 and feed.offsets[-1] == "0" * 16, "the reader")
        # Not now; never; and an address that is none: the others get theirs.
        receiver.answers = ["451 later", "250 ok", "550 unknown"]
        feed.add({"event": "signal", "sessionId": "1_abc", "seq": 5, "type": "chat", "data": "secret", "time": 1})
        feed.add(unread("u-bob", 3, 5), unread("u-nobody", 1, 6), unread("Zoë", 1, 6), unread("a b", 100, 7))
        await until(lambda: len(receiver.mails) == 2, "mails")
        assert [recipient for recipient, _ in receiver.mails] == ["u-bob@example.org", '"a b"@example.org']
        (_, first), (_, second) = receiver.mails
        assert "Subject: 3 unread messages" in first and "Subject: 100 or more unread messages" in second
        assert "secret" not in first + second
        kept = tmp_path / "offset"
        await until(lambda: f"{len(feed.events):016x}" in kept.read_text(), "the offset of the last event")
        backend.kill()
        feed.add(unread("u-ada", 1, 9))
        backend.start()
        await until(lambda: len(receiver.mails) == 3, "the mail after a restart")
        assert receiver.mails[2][0] == "u-ada@example.org"


async def test_feed_6_a_mail_goes_to_a_user_who_has_left(tmp_path):
    if "--unread-seconds" not in run("serve", "--help").stdout:
        pytest.skip("this program has no --unread-seconds yet")
    settings = {"unread_seconds": 1, "read_markers": "shared"}
    with Restarting(tmp_path / "state", **settings) as server, serving(MailReceiver()) as receiver:
        session = server.project.session()
        with mailing(server.url, tmp_path, receiver):
            await until(lambda: pathlib.Path(tmp_path, "offset").exists(), "the offset")
            ada = await join(server, session, "u-ada")
            bob = await join(server, session, "u-bob")
            await bob.leave()
            await say(ada, "are you there?", "hello?")
            await until(lambda: receiver.mails, "the mail")
            assert receiver.mails[0][0] == "u-bob@example.org" and "are you there" not in receiver.mails[0][1]


# The walk of docs/backend.md


@pytest.fixture
def checkout(tmp_path):
    """A folder that looks like the checkout, with the programs of the walk. Nothing is installed again."""
    (tmp_path / "Examples").symlink_to(REPOSITORY / "Examples")
    (tmp_path / "bin").mkdir()
    for name, text in {
        "signalbox": f'exec "{pathlib.Path(BINARY).resolve()}" "$@"',
        "sudo": 'case "$1" in apt-get) echo "$*" ;; -u) shift 2; exec "$@" ;; esac',
        "python3": f'exec "{sys.executable}" "$@"',
    }.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def test_the_walk_to_a_table_works_as_pasted(checkout):
    """The server has another port, and the database that of the test; the blocks are pasted unchanged otherwise."""
    port = str(free_port())
    walk = [each for each in blocks((REPOSITORY / "docs/backend.md").read_text()) if each[1].startswith("# Terminal")]
    (_, _, serve), (_, _, fill), (_, _, look) = walk
    with Postgres() as database, contextlib.ExitStack() as stack:
        variables = {
            "SIGNALBOX_PORT": port, "SIGNALBOX_SERVER": f"http://127.0.0.1:{port}",
            "PGHOST": database.folder, "PGUSER": "postgres", "PAGER": "cat",
        }  # fmt: skip
        first, second, third = (stack.enter_context(Terminal(checkout, **variables)) for _ in range(3))
        first.paste(serve)
        first.until("signalbox is ready at")
        second.paste(fill.replace("127.0.0.1:8080", f"127.0.0.1:{port}"))
        second.until("apt-get install -y postgresql python3-psycopg2")
        assert " 2 | Ada  | hello, table\n(1 row)" in third.run(look)
        # The command of the section about pull, with the same server.
        (pull,) = (f"{first_line}\n{rest}" for section, first_line, rest in
                   blocks((REPOSITORY / "docs/backend.md").read_text()) if section == "Pull")  # fmt: skip
        answer = third.run(pull.replace("127.0.0.1:8080", f"127.0.0.1:{port}"))
        assert "HTTP/1.1 200 OK" in answer and '"event":"signal"' in answer, answer
