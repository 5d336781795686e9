"""The REST requests of OpenTok's and Vonage's server SDKs, byte for byte (Tests/Vectors/rest), and what becomes of them.

Each file names the SDK, the sources from which its requests were derived, and whether the SDK itself was run."""

import http.client
import json
import re
import socket
import time
import urllib.parse
import uuid
import xml.etree.ElementTree

import pytest

from credentials import Application, Project, jwt
from server_process import DEADLINE, REPOSITORY, Server
from signalbox_client import Client

FILES = {path.stem: json.loads(path.read_text()) for path in sorted((REPOSITORY / "Tests/Vectors/rest").glob("*.json"))}
OWNERS = {"project": Project("100", "sdk-requests-secret"), "application": Application()}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdks")
    project, application = OWNERS["project"], OWNERS["application"]
    (folder / "public.pem").write_text(application.public_pem)
    (folder / "settings.json").write_text(json.dumps({
        "projects": [{"apiKey": project.key, "secrets": [project.secret]}],
        "applications": [{"applicationId": application.key, "publicKeyFile": "public.pem"}],
    }))  # fmt: skip
    with Server("--config", folder / "settings.json", project=project) as server:
        yield server


def credentials_line(credentials, owner):
    """The header with a JWT, whose claims and header are those of the SDK alone."""
    now = int(time.time())
    claims = {}
    for name, value in credentials["claims"].items():
        moment = re.fullmatch(r"\$now(?:\+(\d+))?", str(value))
        claims[name] = now + int(moment[1] or 0) if moment else {"$key": owner.key, "$uuid": str(uuid.uuid4())}.get(value, value)
    if credentials["of"] == "project":
        token = jwt(claims, owner.secret, credentials["jwtHeader"])
    else:
        token = owner.jwt(credentials["jwtHeader"], **dict.fromkeys(("iat", "exp", "jti")) | claims)
    return credentials["line"].replace("$jwt", token)


def request_of(case, file, credentials, owner, server, session, connection):
    """The head and the body of the request. The body is None if there is none."""
    filled = {
        "$host": f"{server.host}:{server.port}", "$key": owner.key, "$session": session, "$connection": connection,
        "$encoded": urllib.parse.quote("_".join(f"%{ord(each):02X}" for each in session[:1]), safe="%") + session[1:],
    }  # fmt: skip

    def fill(text):
        for name, value in filled.items():
            text = text.replace(name, value)
        return text

    lines = [*file["headers"], *case["headers"], credentials_line(credentials, owner)]
    if not any(line.lower().startswith("host:") for line in lines):
        lines.insert(0, "Host: $host")
    body = None if case.get("body") is None else fill(case["body"]).encode()
    if "chunks" in case:
        lines.append("Transfer-Encoding: chunked")
        pieces, rest = [], body
        for size in case["chunks"]:
            pieces.append(b"%x\r\n%s\r\n" % (len(rest[:size]), rest[:size]))
            rest = rest[size:]
        assert rest == b"", "the chunks cover the body"
        body = b"".join(pieces) + b"0\r\n\r\n"
    elif body is not None:
        lines.append(f"Content-Length: {len(body)}")
    head = f"{case['method']} {case['path']} HTTP/{case.get('version', '1.1')}\r\n" + "\r\n".join(lines) + "\r\n\r\n"
    return fill(head).encode(), body


def send(server, head, body, waits):
    with socket.create_connection((server.host, server.port), DEADLINE) as tcp:
        tcp.settimeout(DEADLINE)
        tcp.sendall(head)
        if waits:
            interim = tcp.recv(4096)
            assert interim == b"HTTP/1.1 100 Continue\r\n\r\n", interim
        if body:
            tcp.sendall(body)
        answer = http.client.HTTPResponse(tcp, method=head.split(b" ")[0].decode())
        answer.begin()
        return answer, answer.read()


def member(content, type, path):
    """What an SDK reads of an answer."""
    if type == "text/xml":
        return xml.etree.ElementTree.fromstring(content).findtext(path)
    value = json.loads(content)
    for part in path.split("."):
        value = value[int(part) if isinstance(value, list) else part]
    return value


@pytest.mark.parametrize(
    "file, case", [(name, index) for name, file in FILES.items() for index in range(len(file["cases"]))],
    ids=lambda value: str(value),
)  # fmt: skip
async def test_rest_1_rest_2_the_request_of_an_sdk_has_its_effect(server, file, case):
    file = FILES[file]
    case = file["cases"][case]
    for credentials in file["credentials"]:
        owner = OWNERS[credentials["of"]]
        session = owner.session()
        async with await Client.join(server, session, project=owner) as ada:
            head, body = request_of(case, file, credentials, owner, server, session, ada.id)
            answer, content = send(server, head, body, case.get("waits", False))
            assert answer.status == case["status"], (case["name"], credentials["line"], answer.status, content)
            if answer.status == 204:
                assert content == b"", case["name"]
            if "reads" in case:
                # Python's SDK reads JSON only if the content type has no parameter.
                assert answer.headers["Content-Type"] == case["reads"]["type"], case["name"]
                for path in case["reads"]["members"]:
                    assert member(content, case["reads"]["type"], path) is not None, (case["name"], path, content)
            if case.get("disconnects"):
                code, [event] = await ada.closed()
                assert (code, event["reason"]) == (4502, "forceDisconnected")
            elif "signal" in case:
                event = await ada.next()
                assert event["ev"] == "signal" and event["from"] is None, event
                assert {name: event[name] for name in ("type", "data") if name in event} == case["signal"], case["name"]


def test_every_file_says_where_its_requests_come_from():
    assert len(FILES) >= 13
    for name, file in FILES.items():
        assert file["source"] and file["cases"] and isinstance(file["run"], bool), name
