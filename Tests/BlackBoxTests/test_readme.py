"""README.md: every command works as pasted in the terminal that its first line names.

Each terminal is an interactive bash on a pseudo-terminal of its own, in a folder that looks like the checkout. The
blocks are pasted unchanged. Three things around them differ from a reader's machine:

- `scripts/serve` and `.build/release/signalbox` are the program that is already built. There is no second build.
- `swift run -c release hello-signalbox …` starts the example that is already built.
- The ports 8080 and 8000 may be taken, so the test chooses others and writes them into the blocks. The port of the
  server is also in `SIGNALBOX_SERVER`, which replaces the default of the tools.
- The addresses of the two machines, `0.0.0.0` and `192.168.1.20`, are the loopback address.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import termios
import textwrap
import time
import urllib.request

import pytest

from server_process import BINARY, DEADLINE, REPOSITORY, environment
from waiting import free_port

README = (REPOSITORY / "README.md").read_text()
PAGE = re.search(r"^```html\n(<!doctype html>.*?)^```$", README, re.MULTILINE | re.DOTALL)[1]
SECONDS = DEADLINE
PROMPT = "<ready>\n"


def blocks(text):
    """The shell blocks in their order: section, terminal, commands."""
    section = None
    for match in re.finditer(
        r"^#+ (?P<section>[^\n]*)$|^```(?P<language>\w*)\n(?P<code>.*?)^```$", text, re.MULTILINE | re.DOTALL
    ):
        if match["section"]:
            section = match["section"]
        elif match["language"] == "sh":
            first, commands = match["code"].split("\n", 1)
            yield section, first, commands


class Terminal:
    """An interactive bash on a pseudo-terminal, with its input and output."""

    def __init__(self, folder, **variables):
        self.output = ""
        self._read = 0
        self._master, slave = pty.openpty()
        settings = environment() | {
            "HOME": str(folder), "XDG_STATE_HOME": "", "PATH": f"{folder}/bin:{os.environ['PATH']}", "PS1": "<ready>\\n", "PS2": "",
            "TERM": "xterm",
        }
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "--noediting", "-i"],
            cwd=folder, env=settings | variables, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.until(re.escape(PROMPT))
        self.paste("stty -echo; bind 'set enable-bracketed-paste off' 2>/dev/null\n")
        self.until(re.escape(PROMPT))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Hanging up ends the shell and what it runs.
        os.close(self._master)
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def paste(self, text):
        data = text.encode()
        while data:
            data = data[os.write(self._master, data):]

    def until(self, pattern):
        """Waits until the output since the last wait matches this pattern, and returns the match."""
        deadline = time.monotonic() + SECONDS
        while not (match := re.compile(pattern, re.MULTILINE).search(self.output, self._read)):
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self._master], [], [], left)[0]
            assert ready, f"nothing like {pattern!r} in {self.output[self._read:]!r}"
            try:
                data = os.read(self._master, 65536)
            except OSError:
                data = b""
            assert data, f"the terminal was closed; it shows {self.output!r}"
            self.output += data.decode(errors="replace").replace("\r\n", "\n")
        self._read = match.end()
        return match

    def run(self, commands):
        """Pastes commands that end, and returns their output."""
        start = self._read
        self.paste(commands)
        for _ in command_lines(commands):
            self.until(re.escape(PROMPT))
        return self.output[start:self._read].replace(PROMPT, "")


def command_lines(commands):
    """The commands of a block, with a continued line as one."""
    return [line for line in commands.replace("\\\n", " ").split("\n") if line.strip()]


class Reader:
    """Follows README.md block by block, with one terminal for each that it names."""

    def __init__(self, folder):
        self.folder = folder
        self.terminals = {}
        self.port = str(free_port())
        self.page_port = str(free_port())
        self.left = list(blocks(README))

    def terminal(self, name):
        if name not in self.terminals:
            port = {"SIGNALBOX_PORT": self.port, "SIGNALBOX_SERVER": f"http://127.0.0.1:{self.port}"}
            self.terminals[name] = Terminal(self.folder, **port)
        return self.terminals[name]

    def next(self, section, name):
        """The next block, which has to be in this section and for this terminal: the terminal, and the commands."""
        found, first, commands = self.left.pop(0)
        assert (found, first) == (section, f"# Terminal {name}"), commands
        for there, here in (
            ("0.0.0.0", "127.0.0.1"), ("192.168.1.20:8080", "127.0.0.1:8080"), ("127.0.0.1:8080", f"127.0.0.1:{self.port}"),
            ("127.0.0.1 8000", f"127.0.0.1 {self.page_port}"),
        ):  # fmt: skip
            commands = commands.replace(there, here)
        return self.terminal(name), commands

    def serve(self, section):
        """A block that starts the server, to its ready line."""
        terminal, commands = self.next(section, "1")
        *before, serve = command_lines(commands)
        terminal.run("".join(line + "\n" for line in before))
        terminal.paste(serve + "\n")
        terminal.until(rf"^signalbox is ready at http://127\.0\.0\.1:{self.port}/$")
        return terminal


@pytest.fixture
def reader(tmp_path):
    built = pathlib.Path(BINARY).resolve()
    for path, text in {
        "scripts/serve": f'exec "{built}" serve "$@"',
        "bin/swift": f'''\
            [ "$1 $2 $3" = "run -c release" ] || exit 64
            shift 3
            program=$1
            shift
            exec "{built.parent}/$program" "$@" "$SIGNALBOX_SERVER"''',
    }.items():
        script = tmp_path / path
        script.parent.mkdir()
        script.write_text("#!/usr/bin/env bash\n" + textwrap.dedent(text) + "\n")
        script.chmod(0o755)
    (tmp_path / ".build/release").mkdir(parents=True)
    (tmp_path / ".build/release/signalbox").symlink_to(built)
    reader = Reader(tmp_path)
    yield reader
    for terminal in reversed(reader.terminals.values()):
        terminal.__exit__()


def get(url):
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        return answer.read().decode()


def test_readme_every_command_works_in_the_terminal_that_it_names(reader):
    # Start, and the page
    one = reader.serve("Start")
    one.until(rf"^rooms are kept for the next server in .*/\.local/state/signalbox/{reader.port}$")
    assert "<title>" in get(f"http://127.0.0.1:{reader.port}/")
    assert "<title>" in get(f"http://127.0.0.1:{reader.port}/?demo")

    # A chat in your page. Tests/BrowserTests/test_chat_element.py opens it.
    (reader.folder / "chat.html").write_text(PAGE)
    two, web_server = reader.next("A chat in your page", "2")
    two.paste(web_server)
    two.until("^Serving HTTP on 127.0.0.1")
    assert get(f"http://127.0.0.1:{reader.page_port}/chat.html?Ada") == PAGE
    two.paste("\x03")
    two.until(re.escape(PROMPT))

    # A backend. The user has left a page open in the room.
    page = reader.terminal("page")
    page.paste(".build/release/signalbox listen lobby\n")
    page.until(r'^\{.*"event": ?"connected".*\}$')
    two, curl = reader.next("A backend", "2")
    assert "204 No Content" in two.run(curl)
    page.until(r'^\{.*hello from curl.*\}$')

    # The command line
    two, commands = reader.next("The command line", "2")
    assert re.match(r"\d+\n", two.run(commands)), "the sequence number"

    three, listen = reader.next("The command line", "3")
    three.paste(listen)
    three.until(r'^\{.*"event": ?"connected".*\}$')

    def expect_signal(data):
        """The listener's line about a signal with this data."""
        return json.loads(three.until(rf'^\{{.*{re.escape(data)}.*\}}$')[0])

    assert "204 No Content" in two.run(curl)
    expect_signal("hello from curl")
    two.run(commands)
    expect_signal('"hello"')
    expect_signal("hello from a pipe")

    two, chat = reader.next("The command line", "2")
    two.paste(chat)
    two.until("> ")
    two.paste("typed by Ada\r")
    expect_signal("typed by Ada")
    two.paste("\x04")
    two.until(re.escape(PROMPT))

    # Swift
    two, hello = reader.next("Swift", "2")
    assert two.run(hello).strip() == "Swift says hello from Swift"
    expect_signal("hello from Swift")

    # A restart keeps the room: the listener of terminal 3 continues, and the tools still find the secret.
    one.paste("\x03")
    one.until(re.escape(PROMPT))
    one.paste("scripts/serve\n")
    one.until("^signalbox is ready")
    assert "204 No Content" in two.run(curl)
    expect_signal("hello from curl")

    # The room keeps the message when everybody has left, and nobody has joined another one.
    for terminal in (three, page):
        terminal.paste("\x03")
        terminal.until(re.escape(PROMPT))
    assert "204 No Content" in two.run(curl)
    assert "404 Not Found" in two.run(curl.replace("room lobby", "room nobody"))

    # Production: the reader stops the server with Ctrl-C.
    one.paste("\x03")
    one.until(re.escape(PROMPT))
    reader.serve("Production")
    two, commands = reader.next("Production", "2")
    *before, chat = command_lines(commands)
    token = two.run("".join(line + "\n" for line in before)).strip()
    assert token.startswith("T1==")
    two.paste(chat + "\n")
    two.until("> ")
    two.paste("in production\r")
    two.until(r"^  in production\r?$")
    two.paste("\x04")
    two.until(re.escape(PROMPT))
    assert ": in production\n" in two.run('signalbox history "$SESSION"\n'), "who comes later reads it"
    two, commands = reader.next("Production", "2")
    assert '"event":"signal"' in two.run(commands), "a backend reads it, too"

    # Chat between two machines
    one.paste("\x03")
    one.until(re.escape(PROMPT))
    reader.serve("Chat between two machines")
    two, commands = reader.next("Chat between two machines", "2")
    links = re.findall(r"^http://\S+$", two.run(commands), re.MULTILINE)
    assert len(set(links)) == 2
    for link in links:
        assert re.fullmatch(rf"http://127\.0\.0\.1:{reader.port}/#code=[0-9a-f]{{32}}", link)

    assert reader.left == [], "the test does not know these blocks"


def test_readme_every_shell_block_names_its_terminal():
    named = list(blocks(README))
    assert len(named) >= 8
    assert [first for _, first, _ in named if not re.fullmatch(r"# Terminal \d", first)] == []


def test_readme_a_block_ends_with_the_command_that_keeps_its_terminal():
    """Lines pasted behind a server or a chat would go to that program."""
    for _, first, commands in blocks(README):
        for command in command_lines(commands)[:-1]:
            keeps = re.search(r"scripts/serve|http\.server|signalbox listen|(?<!\| )signalbox chat", command)
            assert not keeps, f"{first}: {command}"
