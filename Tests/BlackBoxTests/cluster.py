"""Redis, several nodes over it, and a load balancer in front of them."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile

from proxies import Proxy
from server_process import DEADLINE, REPOSITORY, Server
from waiting import free_port, wait_for

CONFIGURATIONS = REPOSITORY / "docs/scaling"
SOURCES = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}


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
        # Redis may ask for a password first.
        wait_for(lambda: self.call("PING").split(b" ")[0] in (b"+PONG", b"-NOAUTH"), "Redis")

    def call(self, *words):
        """The first line of the answer to a command; nothing if Redis is away."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as connection:
                connection.sendall((" ".join(words) + "\r\n").encode())
                return connection.makefile("rb").readline().rstrip()
        except OSError:
            return b""

    def text(self, *words):
        """A whole answer that is one text."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as connection:
            connection.sendall((" ".join(words) + "\r\n").encode())
            answer = connection.makefile("rb")
            return answer.read(int(answer.readline()[1:])).decode()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Sentinel(Redis):
    """A Sentinel of a Redis, as the only one that has to agree."""

    def __init__(self, primary, *lines, name="room"):
        self.lines = (f"sentinel monitor {name} 127.0.0.1 {primary} 1", *lines)
        super().__init__()
        self.url = f"redis+sentinel://127.0.0.1:{self.port}/{name}"

    def start(self):
        file = pathlib.Path(self.folder, "sentinel.conf")
        file.write_text("\n".join((f"port {self.port}", "bind 127.0.0.1", f"dir {self.folder}", *self.lines, "")))
        self.process = subprocess.Popen(["redis-server", file, "--sentinel"], stdout=subprocess.DEVNULL)
        wait_for(lambda: self.call("PING").split(b" ")[0] in (b"+PONG", b"-NOAUTH"), "the Sentinel")

    def fields(self, name="room"):
        """What it knows of the primary."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE) as connection:
            connection.sendall(f"SENTINEL MASTER {name}\r\n".encode())
            answer = connection.makefile("rb")
            count = int(answer.readline()[1:])
            words = [answer.read(int(answer.readline()[1:]) + 2).decode().rstrip() for _ in range(count)]
            return dict(zip(words[::2], words[1::2]))


@contextlib.contextmanager
def nodes(count, *arguments, **settings):
    """So many nodes over a Redis of their own: `(redis, nodes)`."""
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis())
        settings.setdefault("redis", redis.url)
        yield redis, [stack.enter_context(Server(*arguments, **settings)) for _ in range(count)]


class Balancer(Proxy):
    """HAProxy or nginx with its configuration from docs/scaling, on free ports. Clients use it like a server."""

    def __init__(self, name, servers):
        ports = {"8080": None} | dict(zip(("8081", "8082"), (str(each.port) for each in servers)))
        super().__init__(name, (CONFIGURATIONS / SOURCES[name]).read_text(), servers[0].project, ports)
