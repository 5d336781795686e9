"""`signalbox chat` on a terminal: what the user sees and types."""

import asyncio
import fcntl
import itertools
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unicodedata

import pytest

from server_process import BINARY, DEADLINE, REPOSITORY, Command, Server, environment
from signalbox_client import Client

sys.path.append(str(REPOSITORY / "Tests/BrowserTests"))
from relay import Relay  # noqa: E402

FILLER = "\0"
CONTROL = re.compile(r"\x1b\[(\??)(\d*)([A-Za-z])")


class Screen:
    """A terminal that knows the few control sequences the program may use. It records any other as a fault."""

    def __init__(self, columns):
        self.columns, self.rows, self.row, self.column = columns, [""], 0, 0
        self.unfinished, self.faults, self.styles = "", [], set()

    def feed(self, text):
        text = self.unfinished + text
        self.unfinished = ""
        index = 0
        while index < len(text):
            character = text[index]
            if character == "\x1b":
                match = CONTROL.match(text, index)
                if not match:
                    if len(text) - index < 8:
                        self.unfinished = text[index:]
                        return
                    self.faults.append(text[index : index + 8])
                    index += 1
                    continue
                index = match.end()
                self.control(*match.groups())
                continue
            index += 1
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self.row += 1
                if self.row == len(self.rows):
                    self.rows.append("")
            elif character == "\x07":
                pass
            elif ord(character) < 32 or 127 <= ord(character) < 160:
                self.faults.append(character)
            elif unicodedata.category(character) not in ("Mn", "Me", "Cf"):
                # A wide character occupies a second cell, which stays empty.
                piece = character + FILLER * (unicodedata.east_asian_width(character) in "WF")
                if self.column + len(piece) > self.columns:
                    self.feed("\r\n")
                line = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = line[: self.column] + piece + line[self.column + len(piece) :]
                self.column += len(piece)

    def resize(self, columns):
        """Wraps the lines for the new width, as terminals do."""
        rows, row = [], 0
        for index, line in enumerate(self.rows):
            line = line.rstrip()
            length = max(len(line), self.column + 1 if index == self.row else 1)
            if index == self.row:
                row = len(rows) + self.column // columns
            rows += [line[start : start + columns] for start in range(0, length, columns)]
        self.rows, self.row, self.column, self.columns = rows, row, self.column % columns, columns

    def control(self, private, number, letter):
        count = int(number or 1)
        if private:
            if (number, letter) not in {("2004", "h"), ("2004", "l")}:
                self.faults.append(f"?{number}{letter}")
        elif letter == "A":
            self.row = max(0, self.row - count)
        elif letter == "C":
            self.column = min(self.columns - 1, self.column + count)
        elif letter == "m":
            self.styles.add(number)
        elif letter == "J" and not number:
            self.rows[self.row] = self.rows[self.row][: self.column]
            del self.rows[self.row + 1 :]
        else:
            self.faults.append(f"{number}{letter}")

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.rows).replace(FILLER, "")


class Terminal:
    """The program on its own terminal."""

    def __init__(self, *arguments, columns=60, variables={}, **settings):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.screen = Screen(columns)
        self.lock = threading.Lock()
        self.size(columns)
        self.process = subprocess.Popen(
            [BINARY, "chat", *map(str, arguments)], stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env=environment(**settings) | {"TERM": "xterm-256color"} | variables, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        threading.Thread(target=self.read, daemon=True).start()

    def size(self, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def resize(self, columns):
        with self.lock:
            self.screen.resize(columns)
        self.size(columns)

    def read(self):
        pending = b""
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            pending += data
            text = pending.decode("utf-8", "ignore")
            pending = pending[len(text.encode()) :]
            with self.lock:
                self.screen.feed(text)

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    @property
    def text(self):
        with self.lock:
            return self.screen.text

    @property
    def lines(self):
        return self.text.split("\n")

    async def until(self, condition, seconds=DEADLINE):
        """Waits until the condition holds for the screen."""
        deadline = time.monotonic() + seconds
        while not condition(self):
            assert time.monotonic() < deadline, f"the condition is still false; the screen shows:\n{self.text}"
            # A condition may also depend on other tasks, so there is no single event to wait for.
            await asyncio.sleep(0.01)

    async def shows(self, pattern, seconds=DEADLINE):
        """Waits until a line of the screen matches the pattern."""
        await self.until(lambda it: re.search(pattern, it.text, re.MULTILINE), seconds)

    async def ends(self, code):
        """Waits for this exit code. The terminal mode is restored, and the screen shows no draft any more."""
        assert await asyncio.to_thread(self.process.wait, DEADLINE) == code, self.text
        assert termios.tcgetattr(self.slave) == self.before, "the terminal mode is restored"
        # The last output may still be in the terminal's buffer.
        await self.until(lambda it: not it.lines[-1].strip())
        assert not self.screen.faults, self.screen.faults

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)


@pytest.fixture
def settings(server, session):
    return {"api_key": server.project.key, "api_secret": server.project.secret, "server": server.url}


def chat_data(text, **more):
    return json.dumps({"text": text, "sender": {"id": "x", "alias": "Ada"}, "sentOn": 1, **more})


async def typing(client, action, n):
    await client.request("signal", type="typing", data=json.dumps({"action": action, "n": n}), onlineOnly=True)


async def next_signal(client, *types):
    """The next signal of another client that has one of these types."""
    while True:
        event = await client.next()
        if event["ev"] == "signal" and event["from"] != client.id and event.get("type") in types:
            return event


async def test_typing_users_are_listed_below_the_draft_and_a_message_does_not_disturb_it(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, "--name", "Bob", **settings) as bob:
            await bob.shows("^-- You are in. One other is here")
            bob.type("half a l")
            await bob.shows("^> half a l$")
            await typing(ada, "begin", 1)
            await bob.until(lambda it: it.lines[-2:] == ["> half a l", "Ada is typing…"])
            await ada.request("signal", type="text-chat", data=chat_data("first", typingN=1))
            await bob.until(lambda it: it.lines[-2:] == ["  first", "> half a l"])
            bob.type("ine")
            await bob.until(lambda it: it.lines[-1] == "> half a line")
            await typing(ada, "begin", 2)
            await bob.shows("^Ada is typing…$")
            await typing(ada, "finish", 3)
            await bob.until(lambda it: it.lines[-1] == "> half a line")
            bob.type("\r")
            event = await next_signal(ada, "text-chat")
            assert json.loads(event["data"])["text"] == "half a line"
            await bob.shows(r"^You \d\d:\d\d[AP]M\n  half a line\n> ?$")
            bob.type("\x04")
            await bob.ends(0)
            assert "is typing" not in bob.text


async def test_typing_is_announced_and_ends_with_the_message(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, "--name", "Bob", **settings) as bob:
            await bob.shows("You are in")
            bob.type("h")
            event = await next_signal(ada, "typing", "text-chat")
            assert json.loads(event["data"]) == {"action": "begin", "n": 1} and "seq" not in event
            bob.type("i\r")
            event = await next_signal(ada, "typing", "text-chat")
            assert (json.loads(event["data"])["text"], json.loads(event["data"])["typingN"]) == ("hi", 1)
            bob.type("\x03")
            await bob.ends(0)


async def test_no_typing_switches_typing_signals_off(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, "--no-typing", **settings) as bob:
            await bob.shows("You are in")
            bob.type("h")
            await bob.shows("^> h$")
            bob.type("i\r")
            assert (await next_signal(ada, "typing", "text-chat"))["type"] == "text-chat"
            bob.type("\x04")
            await bob.ends(0)


async def test_the_draft_is_edited_by_grapheme_clusters(server, session, settings):
    async with await Client.join(server, session) as ada:
        with Terminal(session, **settings) as bob:
            await bob.shows("You are in")
            # A character in two writes; a family is one character; a paste sends nothing; unknown keys insert nothing.
            bob.type("né".encode()[:2])
            bob.type("né".encode()[2:] + "👨‍👩‍👧x".encode())
            bob.type("\x7f\x7f\x1b[200~a\nb\x1b[201~\x1b[15~\x1bq\x1b[Dc\x1b[H>\x1b[F<")
            await bob.shows("<$")
            bob.type("\r")
            assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == ">néa cb<"
            bob.type("gone\x15kept gone\x17\r")
            assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == "kept "
            bob.type("\x04")
            await bob.ends(0)


async def test_the_draft_is_kept_when_the_window_is_resized(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, **settings) as bob:
            await bob.shows("You are in")
            bob.type("0123456789" * 2)
            await typing(ada, "begin", 1)
            await bob.until(lambda it: it.lines[-2:] == ["> 01234567890123456789", "Ada is typing…"])
            for columns, key in ((30, "a"), (5, "b"), (100, "!")):
                bob.resize(columns)
                # The next key draws the draft for the new size.
                bob.type(key)
                # Below the draft is the typing line, unless it has lapsed meanwhile (TYP-7).
                await bob.until(lambda it: any(line.endswith(key) for line in it.lines[-2:]))
            await typing(ada, "begin", 2)
            await bob.until(lambda it: it.lines[-2:] == ["> 01234567890123456789ab!", "Ada is typing…"])
            bob.type("x" * 200)
            await bob.until(lambda it: any(line.endswith("xxx") and len(line) <= 100 for line in it.lines[-2:]))
            assert bob.process.poll() is None
            bob.type("\x15\x04")
            await bob.ends(0)


@pytest.mark.parametrize("name, code", [("TERM", 0), ("INT", 0), ("HUP", -1), ("QUIT", -3), ("ABRT", -6)])
async def test_the_terminal_mode_is_restored_however_the_program_ends(server, session, settings, name, code):
    with Terminal(session, **settings) as bob:
        await bob.shows("You are in")
        bob.type("something")
        await bob.shows("^> something$")
        assert termios.tcgetattr(bob.slave) != bob.before
        bob.process.send_signal(getattr(signal, "SIG" + name))
        await bob.ends(code)


async def test_escape_sequences_of_others_do_not_reach_the_terminal(server, session, settings):
    nasty = "\x1b[2Jred\x1b]0;title\x07 \x9b2J\rover"
    async with await Client.join(server, session, data="N\x1b[31m\x9b5m") as ada:
        with Terminal(session, columns=200, **settings) as bob:
            await bob.shows("You are in")
            await typing(ada, "begin", 1)
            await bob.shows("typing…$")
            await ada.request("signal", type="text-chat", data=json.dumps({"text": nasty, "sender": {"alias": nasty}}))
            await bob.shows("^  .*over$")
            bob.type("\x04")
            await bob.ends(0)


EDITS = [
    ("abc\x1b[D\x1b[D\x1b[3~", "ac"),
    ("abc\x1b[3~", "abc"),
    ("abc\x1b[D\x1b[D\x1b[Cx", "abxc"),
    ("abc\x1b[D\x1b[C\x1b[Cx", "abcx"),
    ("bc\x01a\x05d", "abcd"),
    ("\x02abc\x02\x02\x06x", "abxc"),
    ("abc\x1b[1~x\x1b[4~y", "xabcy"),
    ("abc\x1b[D\x15", "c"),
    ("abc\x1b[D\x0b", "ab"),
    ("one two  \x17", "one "),
    ("one two\x1b[D\x17", "one o"),
    ("one\ttwo", "one two"),
    ("a\x08b", "b"),
    # A combining mark joins the character before it.
    ("xe\u0301\x7fy", "xy"),
    ("xe\x1b[D\x1b[C\u0301\x7fy", "xy"),
    # An 8-bit control, and characters that are cut off.
    ("a\u009bb", "ab"),
    (b"a\xc3b", "ab"),
    (b"a\xe4\xb8b", "ab"),
    # Sequences that are unknown, too long, or incomplete.
    ("a\x1b[1;5Zb\x1b[200b", "ab"),
    ("a\x1b[" + "1" * 40 + "\x1b[Db", None),
    ("\x1b[200~a\r\nb\tc\x1b[201~", "a  b c"),
    # Ctrl-D ends the program only on an empty line, and an empty line sends nothing.
    ("x\x04y", "xy"),
    ("  \rx", "  x"),
]  # fmt: skip


async def test_editing_keys(server, session, settings):
    async with await Client.join(server, session) as ada:
        with Terminal(session, "--no-typing", **settings) as bob:
            await bob.shows("You are in")
            for keys, sent in EDITS:
                # A combining mark arrives in a write of its own: the character before it is in the draft already.
                for piece in re.split("(\u0301)", keys) if isinstance(keys, str) else [keys]:
                    bob.type(piece)
                bob.type("\r")
                text = json.loads((await next_signal(ada, "text-chat"))["data"])["text"]
                assert text == sent if sent else "\x1b" not in text, (keys, text)
            assert "not sent" not in bob.text
            bob.type("\x04")
            await bob.ends(0)


async def test_a_line_that_is_too_long_stays_marked_until_it_is_shorter(server, session, settings):
    async with await Client.join(server, session) as ada:
        with Terminal(session, "--no-typing", **settings) as bob:
            await bob.shows("You are in")
            bob.type("kept ")
            await bob.shows("^> kept")
            bob.type("\x1b[200~" + "x" * 997 + "\x1b[201~")
            await bob.until(lambda it: it.lines[-1] == "too long by 2 characters: shorten the line to send it")
            bob.type("\r\x7f")
            await bob.until(lambda it: it.lines[-1] == "too long by 1 character: shorten the line to send it")
            bob.type("\r\x7f")
            await bob.until(lambda it: "too long" not in it.lines[-1])
            bob.type("\r")
            assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == "kept " + "x" * 995
            bob.type("\x04")
            await bob.ends(0)


async def test_the_arrival_and_who_name_the_users_and_help_the_commands(server, session, settings):
    async with await Client.join(server, session, data="Ada\x1b[31m") as ada:
        with Terminal(session, "--name", "Bob", columns=100, **settings) as bob:
            await bob.shows(r"^-- You are in. One other is here: Ada \[31m. /help shows the commands; Ctrl-D leaves.$")
            bob.type("/who\r")
            await bob.shows(r"^-- 2 here: Ada \[31m, Bob \(you\)$")
            bob.type("/help\r")
            await bob.shows("^-- /who lists who is here.$")
            bob.type("/whom is that\r")
            await bob.shows("^-- there is no command /whom. /help lists the commands; begin with // to send the line$")
            bob.type("\x15//who\r")
            assert json.loads((await next_signal(ada, "typing", "text-chat"))["data"])["action"] == "begin"
            assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == "/who"
            bob.type("\x04")
            await bob.ends(0)


async def test_the_arrow_keys_bring_back_what_was_sent(server, session, settings):
    async with await Client.join(server, session) as ada:
        with Terminal(session, "--no-typing", **settings) as bob:
            await bob.shows("You are in")
            for text in ("one", "two"):
                bob.type(text + "\r")
                assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == text
            bob.type("unsent")
            await bob.shows("^> unsent$")
            for key, line in (
                ("\x1b[A", "two"), ("\x1b[A", "one"), ("\x1bOA", "one"), ("\x1b[B", "two"), ("\x1b[B", "unsent"),
                ("\x1b[B", "unsent"), ("\x10", "two"), ("\x0e", "unsent"),
            ):  # fmt: skip
                bob.type(key)
                await bob.until(lambda it: it.lines[-1] == f"> {line}")
            bob.type("\x1b[A\x1b[A!\r")
            assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == "one!"
            bob.type("\x04")
            await bob.ends(0)


@pytest.mark.parametrize("variables, is_coloured", [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)])
async def test_names_and_notices_have_colours_unless_no_color_is_set(server, session, settings, variables, is_coloured):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, variables=variables, **settings) as bob:
            await bob.shows("You are in")
            await ada.request("signal", type="text-chat", data=chat_data("hello"))
            await bob.shows("^  hello$")
            assert bool(bob.screen.styles) == is_coloured, bob.screen.styles
            bob.type("\x04")
            await bob.ends(0)


async def test_the_cursor_column_counts_wide_characters_twice(server, session, settings):
    with Terminal(session, columns=20, **settings) as bob:
        await bob.shows("You are in")

        async def stands_at(column, line):
            await bob.until(lambda it: (it.lines[-1], it.screen.column) == (line, column))

        bob.type("中文e\u0301")
        await stands_at(7, "> 中文e")
        bob.type("\x1b[D\x1b[D")
        await stands_at(4, "> 中文e")
        bob.type("한😀")
        await stands_at(8, "> 中한😀文e")
        bob.type("\x15\x0b\u0301")
        await stands_at(2, ">")
        # One row shows the part of a long draft that fits: a column less if a wide character is at the edge.
        bob.type("\x15" + "中" * 30)
        await stands_at(18, "> " + "中" * 8)
        bob.type("x")
        await stands_at(19, "> " + "中" * 8 + "x")
        bob.type("\x01")
        await stands_at(2, "> " + "中" * 8)
        bob.type("\x05\x15\x04")
        await bob.ends(0)


async def test_a_narrower_window_shows_no_remains_of_the_old_draft(server, session, settings):
    with Terminal(session, columns=60, **settings) as bob:
        await bob.shows("You are in")
        bob.type("0123456789" * 4)
        await bob.shows("^> (0123456789){4}$")
        for columns in (30, 10, 60, 7):
            bob.resize(columns)
            shown = "> " + ("0123456789" * 4)[-(columns - 3) :]
            await bob.until(lambda it: it.lines[-1] == shown)
            assert not re.search(r"\d", "\n".join(bob.lines[:-1])), bob.text
        bob.type("\x15\x04")
        await bob.ends(0)


async def test_a_group_shows_name_and_time_once_each_day_has_a_heading_and_a_notice_starts_a_new_group(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada, await Client.join(server, session) as cy:
        with Terminal(session, **settings) as bob:
            await bob.shows("^-- You are in. 2 others are here")
            for number in (1, 2):
                await ada.request("signal", type="text-chat", data=chat_data(f"text {number}", localId=str(number)))
            await bob.shows(r"^-- \d{4}-\d\d-\d\d\nAda \d\d:\d\d[AP]M\n  text 1\n  text 2\n>")
            await cy.leave()
            await bob.shows("^-- Guest [0-9]{4} has left$")
            await ada.request("signal", type="text-chat", data=chat_data("text 3", localId="3"))
            await bob.shows(r"^-- Guest [0-9]{4} has left\nAda \d\d:\d\d[AP]M\n  text 3\n>")
            bob.type("\x04")
            await bob.ends(0)


async def test_a_forced_disconnect_is_reported_and_the_program_fails(server, session, settings):
    async with await Client.join(server, session, role="moderator") as ada:
        with Terminal(session, **settings) as bob:
            await bob.shows("You are in")
            created = await ada.expect("connectionCreated")
            await ada.request("forceDisconnect", connectionId=created["connection"]["connectionId"])
            await bob.shows("^signalbox: a moderator has ended the connection$")
            await bob.ends(1)


async def test_a_refused_message_is_reported_and_later_ones_are_sent(settings):
    with Server("--signal-rate", "1", "--signal-burst", "1") as server:
        session = server.project.session()
        async with await Client.join(server, session) as ada:
            with Terminal(session, "--no-typing", **(settings | {"server": server.url})) as bob:
                await bob.shows("You are in")
                bob.type("first\rsecond\r")
                assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == "first"
                await bob.shows("^-- not sent: ")
                # Wait until the rate allows another message.
                receiving = asyncio.create_task(next_signal(ada, "text-chat"))
                for number in itertools.count():
                    bob.type(f"try {number}\r")
                    await bob.until(lambda it: receiving.done() or it.text.count("-- not sent: ") >= number + 2)
                    if receiving.done():
                        break
                assert json.loads((await receiving)["data"])["text"] == f"try {number}"
                bob.type("\x04")
                # A message that was not sent makes the program fail, whatever was sent later.
                await bob.ends(1)


async def test_a_reconnection_shows_nothing_unless_messages_may_be_missing(settings):
    with Server() as server, Server() as another:
        relay = Relay(server.url)
        session = server.project.session()
        with Terminal(session, **(settings | {"server": relay.url})) as bob:
            await bob.shows("You are in")
            bob.type("kept")
            for successor, is_lost in ((server, False), (another, True)):
                relay.cut()
                await bob.until(lambda it: it.lines[-1].startswith("the connection is lost; trying"))
                relay.route_to(successor.url)
                relay.restore()
                await bob.until(lambda it: it.lines[-1] == "> kept")
                if is_lost:
                    await bob.shows("^-- something may be missing here$")
                else:
                    assert "missing" not in bob.text
            bob.type("\x15\x04")
            await bob.ends(0)
        relay.stop()


async def test_plain_output_reports_losses_and_does_not_repeat_own_messages(settings):
    with Server() as server, Server() as another:
        relay = Relay(server.url)
        session = server.project.session()
        async with await Client.join(server, session, data="Ada") as ada:
            with Command("chat", session, **(settings | {"server": relay.url})) as bob:
                await ada.expect("connectionCreated")
                bob.process.stdin.write("mine\n")
                assert json.loads((await next_signal(ada, "text-chat"))["data"])["text"] == "mine"
                await ada.request("signal", type="text-chat", data=chat_data("yours"))
                assert await asyncio.to_thread(bob.out.until, "yours") == "Ada: yours"
                for successor, notice in ((server, "-- back"), (another, "-- back; something may be missing")):
                    relay.cut()
                    line = await asyncio.to_thread(bob.out.until, "lost")
                    assert line == "-- the connection is lost; trying to come back"
                    relay.route_to(successor.url)
                    relay.restore()
                    assert await asyncio.to_thread(bob.out.until, "back") == notice
                async with await Client.join(another, session, role="moderator") as eve:
                    (other,) = [each for each in eve.connected["connections"] if each["connectionId"] != eve.id]
                    await eve.request("forceDisconnect", connectionId=other["connectionId"])
                    assert await asyncio.to_thread(bob.wait) == 1
                assert await asyncio.to_thread(bob.err.until, "moderator")
                assert not [line for line in bob.out.seen if line and "mine" in line]
        relay.stop()
