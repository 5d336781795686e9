"""Redis, several nodes over it, and a load balancer in front of them."""

import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

from server_process import DEADLINE, REPOSITORY, Server

CONFIGURATIONS = REPOSITORY / "docs/scaling"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(condition, what):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Redis:
    """`redis-server` on a free port, with an append-only file."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="signalbox-redis-")
        self.port = free_port()
        self.options = options
        self.url = f"redis://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder]
            + ["--save", "", "--appendonly", "yes", *self.options],
            stdout=subprocess.DEVNULL,
        )
        wait_for(lambda: self.call("PING") == b"+PONG", "Redis")

    def call(self, *words):
        """The first line of the answer to a command; nothing if Redis is away."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as connection:
                connection.sendall((" ".join(words) + "\r\n").encode())
                return connection.makefile("rb").readline().rstrip()
        except OSError:
            return b""

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def nodes(count, *arguments, **settings):
    """So many nodes over a Redis of their own: `(redis, nodes)`."""
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis())
        settings.setdefault("redis", redis.url)
        yield redis, [stack.enter_context(Server(*arguments, **settings)) for _ in range(count)]


class Balancer:
    """HAProxy or nginx with its configuration from docs/scaling, on free ports. Clients use it like a server."""

    def __init__(self, name, servers):
        self.project = servers[0].project
        self.tls = None
        self.host = "127.0.0.1"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="signalbox-balancer-"))
        source = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}[name]
        text = (CONFIGURATIONS / source).read_text()
        for documented, actual in [("8080", self.port), *zip(("8081", "8082"), (each.port for each in servers))]:
            text, count = re.subn(rf"127\.0\.0\.1:{documented}\b", f"127.0.0.1:{actual}", text)
            assert count == 1, f"{source} does not name port {documented} once"
        path = self.folder / source
        path.write_text(text)
        command = {
            "haproxy": ["haproxy", "-db", "-f", path],
            "nginx": ["nginx", "-p", self.folder, "-c", path, "-e", "stderr"]
            + ["-g", f"daemon off; pid {self.folder}/pid;"],
        }[name]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: accepts(self.port), name)

    request = Server.request
    rest = Server.rest
    session_path = Server.session_path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
