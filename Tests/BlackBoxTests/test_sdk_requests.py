"""The REST requests of the server SDKs of OpenTok and Vonage, byte for byte, and the same requests in other forms of HTTP.

Most of these SDKs cannot be installed here. So a request is a vector: the head and the body that the SDK sends.
Tests/Vectors/README.md describes the form of the files in Tests/Vectors/rest. Each case runs with each kind of
credentials that the SDK sends, in a session of its own with two clients.
"""

import http.client
import json
import re
import socket
import time
import uuid
import xml.etree.ElementTree as xml

import pytest

from credentials import Application, Project, jwt
from sdk import call, two_clients
from server_process import DEADLINE, REPOSITORY, Server

OWNERS = {"project": Project("100", "a secret of the tests, 32 bytes long"), "application": Application()}
FILES = sorted((REPOSITORY / "Tests/Vectors/rest").glob("*.json"))
CASES = [
    pytest.param(vectors, credentials, case, id=f"{path.stem}-{number}-{credentials['of']}-{case['name']}")
    for path in FILES
    for vectors in [json.loads(path.read_text())]
    for number, credentials in enumerate(vectors["credentials"], 1)
    for case in vectors["cases"]
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with a project and an application."""
    folder = tmp_path_factory.mktemp("requests")
    project, application = OWNERS["project"], OWNERS["application"]
    (folder / "application.pem").write_text(application.public_pem)
    (folder / "settings.json").write_text(json.dumps({
        "projects": [{"apiKey": project.key, "secrets": [project.secret]}],
        "applications": [{"applicationId": application.key, "publicKeyFile": "application.pem"}],
    }))  # fmt: skip
    with Server("--config", folder / "settings.json", "--signal-rate", "0", project=project) as server:
        yield server


@pytest.mark.parametrize("vectors, credentials, case", CASES)
async def test_rest_1_rest_2_the_request_of_an_sdk_has_its_effect(server, vectors, credentials, case):
    owner = OWNERS[credentials["of"]]
    session = owner.session()
    ada, bob = await two_clients(server, session, owner)
    async with ada, bob:
        values = {
            "key": owner.key, "session": session, "connection": bob.id, "host": f"{server.host}:{server.port}",
            "encoded": session.replace("-", "%2D"), "now": int(time.time()), "uuid": str(uuid.uuid4()),
        }  # fmt: skip
        head, body = request(vectors, credentials, case, values, owner)
        answer = await call(exchange, server, head, body, case)
        assert answer.status == case["status"], answer
        check_form(answer, case)
        await check_effect(ada, bob, case)


def test_every_file_says_where_its_requests_come_from():
    for path in FILES:
        vectors = json.loads(path.read_text())
        assert vectors["source"] and vectors["cases"] and isinstance(vectors["run"], bool), path.name


def request(vectors, credentials, case, values, owner):
    """The head and the body as the SDK sends them."""
    claims = {name: filled(claim, values) for name, claim in credentials["claims"].items()}
    if credentials["of"] == "project":
        token = jwt(claims, owner.secret, credentials["jwtHeader"])
    else:
        # The claims that the tests' own credentials have besides are left out.
        own = dict.fromkeys(("application_id", "iat", "exp", "jti"))
        token = owner.jwt(credentials["jwtHeader"], **own | claims)
    lines = [*vectors["headers"], *case["headers"], credentials["line"].replace("$jwt", token)]
    if not any(line.lower().startswith("host:") for line in lines):
        lines.insert(0, "Host: $host")
    body = case.get("body")
    if body is not None:
        body = body.encode()
        lines.append("Transfer-Encoding: chunked" if "chunks" in case else f"Content-Length: {len(body)}")
    start = f"{case['method']} {case['path']} HTTP/{case.get('version', '1.1')}"
    head = "\r\n".join(filled(line, values) for line in [start, *lines])
    return f"{head}\r\n\r\n".encode(), in_chunks(body, case["chunks"]) if "chunks" in case else body or b""


def filled(value, values):
    """A value with the placeholders of a vector replaced. `$now+180` is a number."""
    if not isinstance(value, str):
        return value
    if time := re.fullmatch(r"\$now(?:\+(\d+))?", value):
        return values["now"] + int(time[1] or 0)
    return re.sub(r"\$(key|session|connection|host|encoded|uuid)", lambda found: values[found[1]], value)


def in_chunks(body, sizes):
    pieces, at = [], 0
    for size in sizes:
        pieces.append(b"%x\r\n%b\r\n" % (size, body[at : at + size]))
        at += size
    assert at == len(body), "the vector's chunks are the whole body"
    return b"".join(pieces) + b"0\r\n\r\n"


class Answer:
    def __init__(self, response):
        self.status, self.type, self.body = response.status, response.getheader("Content-Type"), response.read()

    def __repr__(self):
        return f"{self.status} {self.type} {self.body}"


def exchange(server, head, body, case):
    """Sends the bytes on a connection of their own, and reads the answer. Some requests end the connection."""
    with socket.create_connection((server.host, server.port), DEADLINE) as tcp:
        tcp.settimeout(DEADLINE)
        tcp.sendall(head)
        if "waits" in case:
            assert interim(tcp) == b"HTTP/1.1 100 Continue\r\n\r\n"
        tcp.sendall(body)
        response = http.client.HTTPResponse(tcp, method=case["method"])
        with response:
            response.begin()
            if case.get("version") == "1.0" or re.search(rb"\r\nconnection: close\r\n", head, re.IGNORECASE):
                assert response.will_close, "the request asks for the end of the connection"
            answer = Answer(response)
        if response.will_close:
            assert tcp.recv(1) == b"", "the server ends the connection, as it has announced"
        return answer


def interim(tcp):
    """The bytes of an answer before the answer, and none of what follows."""
    received = b""
    while not received.endswith(b"\r\n\r\n") and (byte := tcp.recv(1)):
        received += byte
    return received


def check_form(answer, case):
    """Requires the form of the answer that the SDK reads."""
    if answer.status == 204:
        assert answer.body == b""
    elif answer.status >= 400:
        assert answer.type == "application/json"
        error = json.loads(answer.body)
        assert error["code"] == answer.status and error["message"], error
    else:
        reads = case["reads"]
        assert answer.type == reads["type"], answer
        is_json = reads["type"] == "application/json"
        tree = json.loads(answer.body) if is_json else xml.fromstring(answer.body)
        for path in reads["members"]:
            assert (member if is_json else element)(tree, path) is not None, (path, answer)
        if "only" in reads:
            assert set(tree) <= set(reads["only"]), answer


def member(tree, path):
    for name in path.split("."):
        tree = tree[int(name)] if isinstance(tree, list) else tree.get(name)
    return tree


def element(tree, path):
    return tree.findtext(path)


async def check_effect(ada, bob, case):
    """Requires what the request is for at both clients, and nothing else."""
    to_one = case["path"].endswith("/connection/$connection/signal")
    if "signal" in case:
        for client in [bob] if to_one else [ada, bob]:
            event = await client.expect("signal")
            # A member that the SDK did not send, or sent as null, is absent.
            wanted = {"ev": "signal", "seq": event["seq"], "from": None} | case["signal"]
            assert event == (wanted | {"to": bob.id} if to_one else wanted)
    if "disconnects" in case:
        assert (await ada.expect("connectionDestroyed"))["reason"] == "forceDisconnected"
        assert (await bob.expect("disconnected"))["reason"] == "forceDisconnected"
    # Whatever the request had caused besides would come before this signal.
    await is_undisturbed(ada)
    if "disconnects" not in case:
        assert (await bob.expect("signal"))["from"] == ada.id
        await is_undisturbed(bob)


async def is_undisturbed(client):
    answer, events = await client.signal(type="end", data="")
    assert answer["ev"] == "ack", answer
    assert [(event["ev"], event["from"]) for event in events] == [("signal", client.id)], events
