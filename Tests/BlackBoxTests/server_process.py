"""The program as a child process: `signalbox serve`, and its other commands."""

import atexit
import http.client
import json
import os
import pathlib
import queue
import re
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

import crashes
import planted_secrets
from credentials import Project

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("SIGNALBOX_BIN", str(REPOSITORY / ".build/debug/signalbox"))
# `signalbox-lab`, with which operators test a server.
LAB = str(pathlib.Path(BINARY).with_name("signalbox-lab"))
WEB_ROOT = REPOSITORY / "web-test-client"
TLS = REPOSITORY / "Tests/Vectors/tls"
READY = re.compile(r"https?://([0-9.]+):([0-9]+)")

# Servers in development mode leave their credentials and rooms there, not in the folder of the user who runs the tests.
USER_STATE = tempfile.mkdtemp(prefix="signalbox-tests-")
atexit.register(shutil.rmtree, USER_STATE, ignore_errors=True)

# A wait that takes longer has failed. It is long, so that it suits a busy machine; a test that passes does not wait.
DEADLINE = 60
# The same for the start of a server, which reads a program of many megabytes: other tests share some servers.
START = 3 * DEADLINE


def environment(**settings):
    """The environment of a child process: that of this process, with only these `SIGNALBOX_` settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")}
    kept["XDG_STATE_HOME"] = USER_STATE
    return kept | {"SIGNALBOX_" + name.upper(): str(value) for name, value in settings.items()}


def run(*arguments, input=None, timeout=DEADLINE, env=None, program=BINARY, **settings):
    """Runs one command of the program to its end. Settings become environment variables."""
    done = subprocess.run(
        [program, *map(str, arguments)],
        input=input,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=env or environment(**settings),
    )
    crashes.require_none(done.args, done.returncode)
    return done


class Lines:
    """The lines that a process writes to one of its pipes. Each wait has a deadline."""

    def __init__(self, pipe, note=None):
        self.seen = []
        self._note = note
        self._queue = queue.Queue()
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe):
        for line in pipe:
            if self._note:
                self._note(line.rstrip("\n"))
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def next(self, timeout=DEADLINE):
        """The next line, or None at the end."""
        line = self._queue.get(timeout=timeout)
        if line is not None:
            self.seen.append(line)
        return line

    def to_end(self):
        """All lines until the end of the output, which has to come."""
        while self.next() is not None:
            pass
        return self.seen

    def until(self, pattern, timeout=DEADLINE):
        """The next line that matches the pattern."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                line = self.next(max(0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            assert line is not None, f"no line matches {pattern!r}; the lines so far: {self.seen}"
            if re.search(pattern, line):
                return line


class Command:
    """A command of the program that runs until it is stopped.

    `launcher` is a command that becomes the program, and gets the descriptors `pass_fds`.
    """

    def __init__(
        self, *arguments, env=None, reads_output=True, launcher=(), pass_fds=(), program=BINARY, **settings
    ):
        self.process = subprocess.Popen(
            [*launcher, program, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=env or environment(**settings),
            pass_fds=pass_fds,
        )
        if reads_output:
            self.out = Lines(self.process.stdout)
        else:
            self.process.stdout.close()
        self.err = Lines(self.process.stderr, planted_secrets.log if "serve" in arguments else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        crashes.require_none(self.process.args, self.process.wait())

    def wait(self, timeout=DEADLINE):
        """Waits for the end, and returns the exit code."""
        return self.process.wait(timeout)


class Server(Command):
    """A server on a free port.

    It has a project of its own, or runs in development mode (`dev=True`), or reads a configuration file. With a
    configuration file, `project` names the project of the requests. With `tls=True` it serves https and wss with the
    certificates of Tests/Vectors/tls. With `log_level=None` the level comes from the settings.
    """

    def __init__(self, *arguments, dev=False, project=None, tls=False, web_root=WEB_ROOT, log_level="info", **settings):
        self.project = None if dev else project or Project("100", "a secret of the tests, 32 bytes long")
        if not dev and not project:
            settings |= {"api_key": self.project.key, "api_secret": self.project.secret}
        self.tls = ssl.create_default_context(cafile=TLS / "authority.pem") if tls else None
        if tls:
            arguments = ("--tls-cert", TLS / "server.pem", "--tls-key", TLS / "server.key.pem", *arguments)
        level = ("--log-level", log_level) if log_level else ()
        super().__init__("serve", "--port", "0", "--web-root", web_root, *level, *arguments, **settings)
        try:
            self.host, port = READY.search(self.out.until(READY, START)).groups()
        except AssertionError as error:
            self.__exit__()
            raise AssertionError(f"{error}; on standard error: {self.err.to_end()}") from None
        except BaseException:
            self.__exit__()
            raise
        self.port = int(port)
        self.url = f"http{'s' if tls else ''}://{self.host}:{self.port}"
        self.pid = self.process.pid

    def request(self, method, path, body=None, headers=None, timeout=DEADLINE):
        """Makes one HTTP request. The path is sent exactly as given."""
        connection = (
            http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=self.tls)
            if self.tls
            else http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        )
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def rest(self, method, path, json_body=None, token=None, project=None, timeout=DEADLINE):
        """Makes one REST request with the credentials of the project, or of another one."""
        headers = (project or self.project).headers(token)
        body = None
        if json_body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(json_body).encode()
        elif method == "POST":
            body = b""
        return self.request(method, path, body, headers, timeout)

    def session_path(self, session, rest="", project=None):
        return f"/v2/project/{(project or self.project).key}/session/{session}{rest}"

    def room(self, name, **query):
        """Development mode: the credentials for a room."""
        answer = self.request("GET", f"/room/{name}?" + urllib.parse.urlencode(query))
        assert answer.status == 200, answer
        return answer.json()

    def memory(self):
        """The resident memory of the server, in bytes."""
        return self._memory("VmRSS")

    def most_memory(self):
        """The most resident memory that the server has had, in bytes."""
        return self._memory("VmHWM")

    def _memory(self, field):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(field + r":\s*(\d+) kB", status)[1]) * 1024

    def processor_seconds(self):
        """The processor time that the server has used."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        """Sends SIGTERM, and returns the exit code."""
        self.process.terminate()
        return self.wait()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {dict(self.headers)} {self.body[:300]!r}"
