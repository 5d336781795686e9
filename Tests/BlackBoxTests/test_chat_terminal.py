"""`signalbox chat` on a terminal, as the person in front of it sees it."""

import asyncio
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest

from server_process import BINARY, environment
from signalbox_client import Client

CONTROL = re.compile(r"\x1b\[(\??)(\d*)([A-Za-z])")


class Screen:
    """A terminal with the few controls that the program may use; any other is a fault."""

    def __init__(self, columns):
        self.columns, self.rows, self.row, self.column = columns, [""], 0, 0
        self.waiting, self.faults = "", []

    def feed(self, text):
        text = self.waiting + text
        self.waiting = ""
        place = 0
        while place < len(text):
            character = text[place]
            if character == "\x1b":
                match = CONTROL.match(text, place)
                if not match:
                    if len(text) - place < 8:
                        self.waiting = text[place:]
                        return
                    self.faults.append(text[place : place + 8])
                    place += 1
                    continue
                place = match.end()
                self.control(*match.groups())
                continue
            place += 1
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
            else:
                if self.column == self.columns:
                    self.feed("\r\n")
                line = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = line[: self.column] + character + line[self.column + 1 :]
                self.column += 1

    def control(self, private, number, letter):
        count = int(number or 1)
        if private:
            if (number, letter) not in {("2004", "h"), ("2004", "l")}:
                self.faults.append(f"?{number}{letter}")
        elif letter == "A":
            self.row = max(0, self.row - count)
        elif letter == "C":
            self.column = min(self.columns - 1, self.column + count)
        elif letter == "J" and not number:
            self.rows[self.row] = self.rows[self.row][: self.column]
            del self.rows[self.row + 1 :]
        else:
            self.faults.append(f"{number}{letter}")

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.rows)


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, *arguments, columns=60, **settings):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.screen = Screen(columns)
        self.lock = threading.Lock()
        self.size(columns)
        self.process = subprocess.Popen(
            [BINARY, "chat", *map(str, arguments)], stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env=environment(**settings) | {"TERM": "xterm-256color"}, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        threading.Thread(target=self.read, daemon=True).start()

    def size(self, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def resize(self, columns):
        with self.lock:
            self.screen.columns = columns
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

    async def until(self, condition, seconds=10):
        """Waits until the screen is so."""
        deadline = time.monotonic() + seconds
        while not condition(self):
            assert time.monotonic() < deadline, f"the screen stays as it is:\n{self.text}"
            await asyncio.sleep(0.01)

    async def shows(self, pattern, seconds=10):
        await self.until(lambda it: re.search(pattern, it.text, re.MULTILINE), seconds)

    async def ends(self, code):
        assert await asyncio.to_thread(self.process.wait, 10) == code, self.text
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is as it was"
        # What it wrote last may still be on its way through the terminal. Nothing is left behind.
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


async def heard(client, *types):
    while True:
        event = await client.next()
        if event["ev"] == "signal" and event["from"] != client.id and event.get("type") in types:
            return event


async def test_who_types_stands_below_the_line_and_vanishes_and_a_message_leaves_the_line_as_it_is(server, session, settings):
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
            event = await heard(ada, "text-chat")
            assert json.loads(event["data"])["text"] == "half a line"
            await bob.shows(r"^You \d\d:\d\d[AP]M\n  half a line\n> ?$")
            bob.type("\x04")
            await bob.ends(0)
            assert "is typing" not in bob.text


async def test_keys_are_seen_by_others_and_end_with_the_message(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, "--name", "Bob", **settings) as bob:
            await bob.shows("You are in")
            bob.type("h")
            event = await heard(ada, "typing", "text-chat")
            assert json.loads(event["data"]) == {"action": "begin", "n": 1} and "seq" not in event
            bob.type("i\r")
            event = await heard(ada, "typing", "text-chat")
            assert (json.loads(event["data"])["text"], json.loads(event["data"])["typingN"]) == ("hi", 1)
            bob.type("\x03")
            await bob.ends(0)


async def test_no_typing_means_none(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, "--no-typing", **settings) as bob:
            await bob.shows("You are in")
            bob.type("h")
            await bob.shows("^> h$")
            bob.type("i\r")
            assert (await heard(ada, "typing", "text-chat"))["type"] == "text-chat"
            bob.type("\x04")
            await bob.ends(0)


async def test_a_group_has_name_and_time_once_and_a_day_stands_before_its_first(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, **settings) as bob:
            await bob.shows("You are in")
            for number in (1, 2, 3):
                await ada.request("signal", type="text-chat", data=chat_data(f"text {number}", localId=str(number)))
            await bob.shows("^  text 3$")
            pattern = r"^-- \d{4}-\d\d-\d\d\nAda \d\d:\d\d[AP]M\n  text 1\n  text 2\n  text 3\n>"
            await bob.shows(pattern)
            bob.type("\x04")
            await bob.ends(0)


async def test_a_line_is_edited_by_what_a_reader_takes_for_a_character(server, session, settings):
    async with await Client.join(server, session) as ada:
        with Terminal(session, **settings) as bob:
            await bob.shows("You are in")
            # Cut inside a character; a family is one; what is pasted sends nothing; unknown keys are no text.
            bob.type("né".encode()[:2])
            bob.type("né".encode()[2:] + "👨‍👩‍👧x".encode())
            bob.type("\x7f\x7f\x1b[200~a\nb\x1b[201~\x1b[15~\x1bq\x1b[Dc\x1b[H>\x1b[F<")
            await bob.shows("<$")
            bob.type("\r")
            assert json.loads((await heard(ada, "text-chat"))["data"])["text"] == ">néa cb<"
            bob.type("gone\x15kept gone\x17\r")
            assert json.loads((await heard(ada, "text-chat"))["data"])["text"] == "kept "
            bob.type("\x04")
            await bob.ends(0)


async def test_another_size_of_the_window_keeps_the_line(server, session, settings):
    async with await Client.join(server, session, data="Ada") as ada:
        with Terminal(session, **settings) as bob:
            await bob.shows("You are in")
            bob.type("0123456789" * 2)
            await typing(ada, "begin", 1)
            await bob.until(lambda it: it.lines[-2:] == ["> 01234567890123456789", "Ada is typing…"])
            for columns, key in ((30, "a"), (5, "b"), (100, "!")):
                bob.resize(columns)
                # What is typed is drawn for the new size.
                bob.type(key)
                await bob.until(lambda it: len(it.lines) > 1 and it.lines[-2].endswith(key))
            await bob.until(lambda it: it.lines[-2:] == ["> 01234567890123456789ab!", "Ada is typing…"])
            bob.type("x" * 200)
            await bob.until(lambda it: it.lines[-2].endswith("xxx") and len(it.lines[-2]) <= 100)
            assert bob.process.poll() is None
            bob.type("\x15\x04")
            await bob.ends(0)


@pytest.mark.parametrize("name, code", [("TERM", 0), ("INT", 0), ("HUP", -1), ("QUIT", -3), ("ABRT", -6)])
async def test_the_terminal_is_as_it_was_however_the_program_ends(server, session, settings, name, code):
    with Terminal(session, **settings) as bob:
        await bob.shows("You are in")
        bob.type("something")
        await bob.shows("^> something$")
        assert termios.tcgetattr(bob.slave) != bob.before
        bob.process.send_signal(getattr(signal, "SIG" + name))
        await bob.ends(code)


async def test_others_cannot_drive_the_terminal(server, session, settings):
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


async def test_a_lost_server_is_told_in_the_status_line(settings):
    from server_process import Server

    with Server(dev=True) as server:
        with Terminal("lobby", server=server.url) as bob:
            await bob.shows("You are in")
            bob.type("kept")
            await bob.shows("^> kept$")
            server.process.kill()
            await bob.until(lambda it: it.lines[-2] == "> kept" and it.lines[-1].startswith("the connection is lost; trying"))
            bob.type("\x15\x04")
            await bob.ends(0)
