"""Requests that break the rules of HTTP: the server refuses them (REST-5), and none of them gets a token."""

import http.client
import itertools
import json
import os
import socket

import pytest

from raw_exchange import raw_exchange
from server_process import DEADLINE, REPOSITORY

HEADS = json.loads((REPOSITORY / "Tests/Vectors/http/heads.json").read_text())["cases"]


def exchange(server, head, half_closes=True):
    return raw_exchange((server.host, server.port), head, DEADLINE, half_closes)


@pytest.mark.parametrize("target", [
    "/room/lobby%0aHost:localhost:", "/room/lobby%0aHost:127.0.0.1:", "/room/lobby%0d%0aHost:localhost%0d%0aX:",
    "/room/lobby?x=%0aHost:localhost:", "/room/lobby%0AHost:%20localhost%0AX:%20", "/session%0aHost:localhost:",
    "/room/lobby%0dHost:localhost:",
])  # fmt: skip
def test_rest_5_a_target_cannot_inject_a_header(dev_server, target):
    """With DNS rebinding a page reaches the server under a name of its own, and must not get a token (REST-4)."""
    received = exchange(dev_server, f"GET {target} HTTP/1.1\r\nHost: attacker.example\r\n\r\n".encode())
    assert b"token" not in received and received.split(b" ")[1] == b"400", received


def test_rest_5_a_malformed_head_behind_other_requests_gets_its_status_too(dev_server):
    """Later requests of a connection: a proxy may send those of several clients on it (request smuggling)."""
    host = (dev_server.host, dev_server.port)
    for case in HEADS:
        if "status" not in case:
            continue
        head = bytes.fromhex(case["base16"]) if "base16" in case else case["text"].encode()
        with socket.create_connection(host, DEADLINE) as tcp:
            tcp.settimeout(DEADLINE)
            tcp.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            first = http.client.HTTPResponse(tcp)
            first.begin()
            assert first.status == 200 and first.read()
            tcp.sendall(head)
            second = http.client.HTTPResponse(tcp)
            second.begin()
            assert second.status == case["status"], case
            assert second.getheader("Connection") == "close"
        # In one piece with a valid request: the server answers that one, and no part of the other.
        received = exchange(dev_server, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" + head)
        assert received.startswith(b"HTTP/1.1 200 ") and b"token" not in received, case
        assert received.count(b"HTTP/1.1 ") == 1, (case, received)


def test_every_answer_has_the_headers_that_protect_a_page(server):
    paths = ("/", "/livez", "/nothing", "/v2/project/100/session/x/connection", "/v1/signaling")
    for method, path in itertools.product(("GET", "POST", "DELETE"), paths):
        answer = server.request(method, path, b"" if method == "POST" else None)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy, (method, path, answer)
        if answer.status == 200 and path == "/":
            assert "require-trusted-types-for 'script'" in policy and "trusted-types 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff", (method, path, answer)
        assert answer.headers["Referrer-Policy"] == "no-referrer", (method, path, answer)
        # On a loopback address it would bind the other programs of the machine to https.
        assert "Strict-Transport-Security" not in answer.headers


def test_refusals_of_the_transport_have_them_too(server):
    for head in (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\nHost: h\r\n\r\n",
                 b"GET /v1/signaling HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"):  # fmt: skip
        with socket.create_connection((server.host, server.port), DEADLINE) as tcp:
            tcp.settimeout(DEADLINE)
            tcp.sendall(head)
            answer = http.client.HTTPResponse(tcp)
            answer.begin()
            assert 400 <= answer.status < 600
            assert "default-src 'none'" in answer.getheader("Content-Security-Policy"), head
            assert answer.getheader("X-Content-Type-Options") == "nosniff", head


def absolute(path, host="some.example", method="GET", extra=""):
    return f"{method} http://{host}{path} HTTP/1.1\r\nHost: other.example\r\n{extra}\r\n".encode()


def read_answer(tcp):
    answer = http.client.HTTPResponse(tcp)
    answer.begin()
    return answer.status, answer.read()


def test_rest_3_a_request_whose_target_is_a_url_is_served_wherever_it_stands_on_a_connection(server):
    """RFC 9112, section 3.2.2. A body in pieces and the requests behind it are served, too."""
    plain = b"GET /livez HTTP/1.1\r\nHost: h\r\n\r\n"
    headers = "".join(f"{name}: {value}\r\n" for name, value in server.project.headers().items())
    creation = absolute("/session/create", method="POST", extra=f"{headers}Content-Length: 5\r\n")
    descriptors = len(os.listdir(f"/proc/{server.pid}/fd"))
    with socket.create_connection((server.host, server.port), DEADLINE) as tcp:
        tcp.settimeout(DEADLINE)
        for request in [absolute("/livez"), plain, absolute("/livez"), absolute("/readyz?a=b"), plain] * 20:
            tcp.sendall(request)
            assert read_answer(tcp) == (200, b'{"status":"ok"}')
        tcp.sendall(creation + b"he")
        tcp.sendall(b"llo")
        status, body = read_answer(tcp)
        assert status == 200 and json.loads(body)[0]["session_id"]
        assert len(os.listdir(f"/proc/{server.pid}/fd")) <= descriptors + 3, "the socket, and what waits for a head"
    # At once: the library could read the second head with the first.
    last = b"GET /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    assert exchange(server, absolute("/livez") + last, half_closes=False).count(b'{"status":"ok"}') == 2


def test_rest_4_the_host_of_a_url_counts_and_not_the_header_host(dev_server):
    """A page whose name was bound to this machine (DNS rebinding) must not get a token by a second host."""
    for host, status in [("attacker.example", b"403"), (f"127.0.0.1:{dev_server.port}", b"200")]:
        request = f"GET http://{host}/room/lobby HTTP/1.1\r\nHost: localhost\r\n\r\n"
        received = exchange(dev_server, request.encode())
        assert received.split(b" ")[1] == status and (b"token" in received) == (status == b"200"), received
