"""nginx and HAProxy in front of one server: docs/operations/proxies.md and its configurations, with the real programs."""

import asyncio
import atexit
import contextlib
import functools
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading

import pytest

from proxies import Proxy
from server_process import DEADLINE, REPOSITORY, TLS, Command, Server, run
from signalbox_client import Client
from waiting import until

CONFIGURATIONS = REPOSITORY / "docs/operations/proxies"
ALL = ["nginx.conf", "haproxy.cfg", "haproxy-tcp.cfg"]
WITHOUT_UPGRADES = "the proxy in front does not pass websocket upgrades"


def serve(source="nginx.conf", *arguments, **settings):
    """A server with the settings that the configuration asks for."""
    header = {"proxy_header": "proxy-protocol"} if source == "haproxy-tcp.cfg" else {}
    return Server(*arguments, tls=source == "haproxy-tcp.cfg", trusted_proxy="127.0.0.1", **header, **settings)


def proxy(source, server, **changes):
    """The proxy with a configuration of the documents. `changes` are texts in it, and what replaces them."""
    text = (CONFIGURATIONS / source).read_text()
    replaced = {
        "nginx.conf": {
            "listen 443": "listen 127.0.0.1:443", "/etc/nginx/signalbox.pem": f'"{TLS}/server.pem"',
            "/etc/nginx/signalbox.key.pem": f'"{TLS}/server.key.pem"',
        },
        "haproxy.cfg": {"bind :443": "bind 127.0.0.1:443", "/etc/haproxy/signalbox.pem": both_in_one_file()},
        "haproxy-tcp.cfg": {"bind :443": "bind 127.0.0.1:443"},
    }[source]
    for documented, actual in (replaced | changes).items():
        assert text.count(documented) == 1, f"{source} does not have {documented!r} once"
        text = text.replace(documented, actual)
    program = "nginx" if source == "nginx.conf" else "haproxy"
    context = ssl.create_default_context(cafile=TLS / "authority.pem")
    return Proxy(program, text, server.project, {"443": None, "8080": str(server.port)}, tls=context)


@functools.cache
def both_in_one_file():
    """The certificate and its key, as HAProxy reads them."""
    folder = tempfile.mkdtemp(prefix="signalbox-haproxy-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = pathlib.Path(folder) / "both.pem"
    path.write_bytes((TLS / "server.pem").read_bytes() + (TLS / "server.key.pem").read_bytes())
    return str(path)


@pytest.mark.parametrize("source", ALL)
async def test_proxies_sockets_and_rest_pass(source):
    with serve(source) as server, proxy(source, server) as front:
        session = front.project.session()
        async with await Client.join(front, session) as ada, await Client.join(front, session) as bob:
            await ada.expect("connectionCreated")
            answer, _ = await ada.signal(type="t", data="hello")
            await bob.expect("signal", data="hello", seq=answer["seq"])
            assert front.rest("POST", front.session_path(session, "/signal"), {"data": "by REST"}).status == 204
            await bob.expect("signal", data="by REST")
            listed = front.rest("GET", front.session_path(session, "/connection")).json()
            assert listed["count"] == 2
        assert front.request("GET", "/readyz").status == 200
        # The largest body that the server reads is not too large for the proxy.
        body = {"data": "x" * 8_000, "type": "t"}
        assert front.rest("POST", front.session_path(session, "/signal"), body).status == 404


@pytest.mark.parametrize("source", ["nginx.conf", "haproxy.cfg"])
async def test_proxies_a_path_prefix_is_removed(source):
    with serve(source) as server, proxy(source, server) as front:
        session = front.project.session()
        settings = {"server": f"{front.url}/signalbox", "api_key": server.project.key,
                    "api_secret": server.project.secret}  # fmt: skip
        with Command("listen", session, "--ca-file", TLS / "authority.pem", **settings) as listen:
            await asyncio.to_thread(listen.out.until, '"connected"')
            path = "/signalbox" + front.session_path(session, "/signal")
            assert front.rest("POST", path, {"data": "with a prefix"}).status == 204
            await asyncio.to_thread(listen.out.until, "with a prefix")
        assert front.request("GET", "/signalbox/opentok.js").status == 200
        assert front.request("GET", "/signalboxes/livez").status == 404


@pytest.mark.parametrize("source", ALL)
def test_proxies_the_server_knows_the_address_of_the_client(source):
    with serve(source, "--access-log") as server, proxy(source, server) as front:
        with socket.create_connection(("127.0.0.1", front.port), DEADLINE, ("127.0.0.9", 0)) as connection:
            with front.tls.wrap_socket(connection, server_hostname="127.0.0.1") as secure:
                # A client cannot choose its own address.
                secure.sendall(b"GET /nowhere HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
                assert secure.recv(12) == b"HTTP/1.1 404"
        line = server.err.until("status=404")
        assert "address=127.0.0.9" in line, line


@pytest.mark.waiting
async def test_proxies_an_idle_connection_outlives_their_time_outs(server):
    """The time-outs are 30 s, and a message from the server comes every 10 s, so four of them prove it."""
    with contextlib.ExitStack() as stack:
        one, two = stack.enter_context(serve()), stack.enter_context(serve("haproxy-tcp.cfg"))
        fronts = [
            stack.enter_context(proxy(source, two if source == "haproxy-tcp.cfg" else one)) for source in ALL
        ]
        clients = [await Client.join(front, front.project.session()) for front in fronts]
        for client in clients:
            client.answers_pings = False

        async def stay(client):
            for _ in range(4):
                await client.expect("ping")
                await client.send('{"op":"pong"}')
            assert (await client.signal(data="still here"))[0]["ev"] == "ack"

        await asyncio.gather(*(stay(client) for client in clients))
        for client in clients:
            await client.__aexit__()


class Sender(threading.Thread):
    """A backend that sends numbered signals through the proxy until it is stopped, each until it is accepted."""

    def __init__(self, front, session):
        super().__init__(daemon=True)
        self.front, self.path = front, front.session_path(session, "/signal")
        self.stopped = threading.Event()
        self.count = 0
        self.start()

    def run(self):
        while not self.stopped.is_set():
            # A reload may cut a request, and only a refused connection can be repeated without a duplicate.
            assert self.front.rest("POST", self.path, {"data": str(self.count + 1)}).status == 204
            self.count += 1

    def stop(self):
        self.stopped.set()
        self.join(DEADLINE)
        return self.count


# The old workers stay until their connections end, or have only a second for them.
@pytest.mark.parametrize("source, grace", [*zip(ALL, ["1h", "1s", "1h"]), ("nginx.conf", "1s")])
async def test_proxies_a_reload_loses_no_signal(source, grace):
    directive = "worker_shutdown_timeout" if source == "nginx.conf" else "hard-stop-after"
    with serve(source, request_rate=0) as server:
        with proxy(source, server, **{f"{directive} 1h": f"{directive} {grace}"}) as front:
            session = front.project.session()
            settings = {"server": front.url, "api_key": server.project.key, "api_secret": server.project.secret}
            with Command("listen", session, "--ca-file", TLS / "authority.pem", **settings) as listen:
                await asyncio.to_thread(listen.out.until, '"connected"')
                sender = Sender(front, session)
                for _ in range(2):
                    before = sender.count
                    old = await asyncio.to_thread(front.reload)
                    if grace == "1s":
                        await asyncio.to_thread(listen.out.until, '"reconnected"')
                    else:
                        # The old worker still has the client.
                        assert old & front.workers()
                    await until(lambda: sender.count >= before + 50 or not sender.is_alive(), "50 more signals")
                    assert sender.is_alive(), "a request failed"
                count = await asyncio.to_thread(sender.stop)
                await asyncio.to_thread(listen.out.until, f'"{count}"')
                received = [json.loads(line) for line in listen.out.seen]
                numbers = [each["data"] for each in received if "data" in each and each.get("seq")]
                assert numbers == [str(number) for number in range(1, count + 1)]
                assert any("reconnected" in line for line in listen.out.seen) == (grace == "1s")


# Proxies that do not pass the upgrade

NGINX = """
events {}
http {
    upstream signalbox { server 127.0.0.1:8080; }
    server { listen 127.0.0.1:443; location / { proxy_pass http://signalbox; %s } }
}
"""
HAPROXY = """
defaults
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 30s
listen signalbox
    bind 127.0.0.1:443
    http-request del-header Upgrade
    server one 127.0.0.1:8080
"""
UPGRADE = "proxy_set_header Upgrade $http_upgrade;"
WRONG = {
    "nginx as it is": NGINX % "",
    "nginx with HTTP/1.1 only": NGINX % "proxy_http_version 1.1;",
    "nginx without Connection": NGINX % ("proxy_http_version 1.1; " + UPGRADE),
    "nginx with HTTP/1.0": NGINX % (UPGRADE + " proxy_set_header Connection upgrade;"),
    "haproxy without Upgrade": HAPROXY,
}


def wrong_proxy(name, server):
    return Proxy(name.split()[0], WRONG[name], server.project, {"443": None, "8080": str(server.port)})


@pytest.mark.parametrize("name", ["nginx as it is", "nginx with HTTP/1.0", "haproxy without Upgrade"])
def test_proxies_one_that_does_not_pass_the_upgrade_is_named(name):
    """In the error of the Swift client, in that of the browser's library, and in the server's log."""
    with Server(trusted_proxy="127.0.0.1") as server, wrong_proxy(name, server) as front:
        assert front.request("GET", "/livez").status == 200
        settings = {"server": front.url, "api_key": server.project.key, "api_secret": server.project.secret}
        result = run("listen", front.project.session(), **settings)
        assert result.returncode == 69 and WITHOUT_UPGRADES in result.stderr.lower(), result
        assert len(result.stderr.splitlines()) == 1, result.stderr
        error = error_of_the_browser_library(front)
        assert error["code"] == 1006 and error["message"].lower().startswith(WITHOUT_UPGRADES), error
        server.err.until("refused a connection: the proxy in front does not pass WebSocket upgrades")


def test_proxies_without_a_wrong_proxy_the_error_does_not_blame_one():
    with Server() as server, Server(allowed_origins="https://elsewhere.example") as strict:
        assert error_of_the_browser_library(server)["code"] == 1004
        probe = server.request("GET", "/v1/signaling")
        assert probe.status == 426 and probe.json()["upgradeMissing"] is False
        # Pages of other origins may read it.
        assert probe.headers["Access-Control-Allow-Origin"] == "*" and probe.headers["Cache-Control"] == "no-store"
        error = error_of_the_browser_library(strict)
        assert error["code"] == 1006 and error["message"].startswith("The server answers HTTP requests"), error


def test_wire_1_a_handshake_without_its_upgrade_is_remembered_for_a_while():
    with Server() as server:
        # As a proxy forwards it that removes the hop-by-hop headers.
        handshake = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
        refusal = server.request("GET", "/v1/signaling", headers=handshake)
        assert refusal.status == 426 and WITHOUT_UPGRADES in refusal.json()["message"].lower(), refusal
        assert server.request("GET", "/v1/signaling").json()["upgradeMissing"] is True


# Node has a WebSocket behind a flag.
SCRIPT = """
import { createOT } from '%(library)s/opentok/api/ot.js';
import { browserEnvironment } from '%(library)s/client/browser.js';
class SocketOfAPage extends WebSocket {
  constructor(url, protocol) {
    super(url, { protocols: [protocol], headers: { origin: 'https://page.example' } });
  }
}
createOT({ ...browserEnvironment(), WebSocket: SocketOfAPage }, '%(url)s').initSession('%(key)s', '%(session)s').connect('T1==none', (error) => {
  console.log(JSON.stringify({ code: error?.code, message: error?.message }));
  process.exit(0);
});
"""


def error_of_the_browser_library(server):
    script = SCRIPT % {
        "library": REPOSITORY / "web-test-client", "url": server.url, "key": server.project.key,
        "session": server.project.session(),
    }
    result = subprocess.run(
        [shutil.which("node"), "--experimental-websocket", "--no-warnings", "--input-type=module", "-e", script],
        capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    assert result.returncode == 0 and result.stdout, result
    return json.loads(result.stdout)


# The configurations


def directives(text, opening):
    """The directives of a section, in their order, without comments."""
    section = text[text.index(opening) + len(opening) :]
    lines = [re.sub(r"\s*#.*", "", line).strip() for line in section.splitlines()]
    return [line for line in lines if line]


def seen_timeouts(path):
    """What HAProxy tells about clients, and how long it waits for them."""
    return {line for line in directives(path.read_text(), "defaults") if line.startswith(("timeout", "option f"))}


def test_proxies_the_configurations_for_one_and_for_several_servers_say_the_same():
    """The same headers and time-outs: a change in one place must not be forgotten in the other."""
    several = REPOSITORY / "docs/scaling"
    one = {line for line in directives((CONFIGURATIONS / "nginx.conf").read_text(), "server {") if "proxy_" in line}
    many = {line for line in directives((several / "nginx.conf").read_text(), "server {") if "proxy_" in line}
    assert {line for line in one if "location" not in line} == {
        line for line in many if not line.startswith(("proxy_pass", "proxy_next_upstream"))
    }

    assert seen_timeouts(CONFIGURATIONS / "haproxy.cfg") == seen_timeouts(several / "haproxy.cfg")
