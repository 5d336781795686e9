"""The REST interface for backends: docs/PROTOCOL.md, section 14, and OpenTok's REST calls."""

import asyncio
import re
import time
import xml.etree.ElementTree

import pytest

from credentials import Project
from raw_socket import RawSocket
from server_process import Server
from signalbox_client import Client

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def is_error(answer, status):
    assert answer.status == status, answer
    assert answer.headers["Content-Type"] == "application/json", answer
    body = answer.json()
    assert body["code"] == status and isinstance(body["message"], str) and body["message"], body
    return answer


def is_empty(answer):
    assert answer.status == 204, answer
    assert answer.body == b""
    assert answer.headers["Content-Type"] is None and answer.headers["Transfer-Encoding"] is None, answer
    assert answer.headers["Content-Length"] in (None, "0"), answer


@pytest.mark.parametrize("body", [None, b"p2p.preference=enabled&archiveMode=manual"])
async def test_rest_session_create_returns_a_usable_session(server, body):
    headers = {"X-OPENTOK-AUTH": server.project.credentials()}
    if body is None:
        headers["Content-Length"] = "0"
    answer = server.request("POST", "/session/create", body, headers)
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json", answer
    (made,) = answer.json()
    assert made["session_id"][:2] in ("1_", "2_") and len(made["session_id"]) <= 255
    async with await Client.join(server, made["session_id"]) as client:
        assert (await client.signal())[0]["ev"] == "ack"


async def test_rest_2_a_signal_by_rest_reaches_every_client_and_has_no_sender(server, session):
    async with await Client.join(server, session) as ada, await Client.join(
        server, session, options={"connectionEventsSuppressed": True}
    ) as bob:
        await ada.expect("connectionCreated")
        is_empty(server.rest("POST", server.session_path(session, "/signal"), {"type": "news", "data": "€😀"}))
        event = {"ev": "signal", "seq": 3, "from": None, "type": "news", "data": "€😀"}
        assert await ada.next() == event
        assert await bob.next() == event
        is_empty(server.rest("POST", server.session_path(session, "/signal"), {}))
        assert await ada.next() == {"ev": "signal", "seq": 4, "from": None}
        # To one connection.
        is_empty(server.rest("POST", server.session_path(session, f"/connection/{bob.id}/signal"), {"data": "psst"}))
        await bob.expect("signal", seq=4)
        assert await bob.next() == {"ev": "signal", "seq": 5, "from": None, "data": "psst", "to": bob.id}
        answer, events = await ada.signal()
        assert answer["seq"] == 6 and len(events) == 1


async def test_rest_2_null_in_the_body_of_a_signal_means_absent(server, session):
    """OpenTok's SDKs for Java and .NET write a member that the signal lacks as null."""
    async with await Client.join(server, session) as ada:
        for path in (
            server.session_path(session, "/signal"), server.session_path(session, f"/connection/{ada.id}/signal")
        ):  # fmt: skip
            for body, content in [
                ({"type": None, "data": "hello"}, {"data": "hello"}),
                ({"type": "chat", "data": None}, {"type": "chat"}),
                ({"type": None, "data": None}, {}),
            ]:
                is_empty(server.rest("POST", path, body))
                event = await ada.next()
                assert {name: event[name] for name in ("type", "data") if name in event} == content


async def test_rest_2_the_limits_of_a_signal_are_those_of_the_socket(server, session):
    async with await Client.join(server, session) as ada:
        for path in (
            server.session_path(session, "/signal"), server.session_path(session, f"/connection/{ada.id}/signal")
        ):
            for good in (
                {"type": "x" * 128, "data": "😀" * 4096}, {"data": "\x01" * 8192}, {"type": ""}, {"data": "x", "unknown": 1}
            ):
                is_empty(server.rest("POST", path, good))
                assert (await ada.next()).get("data") == good.get("data")
            for bad, status in [
                ({"type": "x" * 129}, 413), ({"data": "a" * 8193}, 413), ({"data": "😀" * 4096 + "a"}, 413),
                ({"type": "a b"}, 400),
                ({"type": "é"}, 400), ({"type": 1}, 400), ({"data": {}}, 400), ({"data": False}, 400), ([], 400),
                ("x", 400), (None, 400), ({"Data": "hello"}, 400),
            ]:  # fmt: skip
                is_error(server.rest("POST", path, bad), status)
            what_is_needed = is_error(server.rest("POST", path, {"text": "hello"}), 400).json()["message"]
            assert '"type"' in what_is_needed and '"data"' in what_is_needed
            for raw in (
                b"",
                b"nonsense",
                b'{"data":"\xff"}',
                b'{"data":"a","data":"b"}',
                b'{"data":NaN}',
                b'{"data":"\\ud800"}',
                b"{} {}",
            ):
                is_error(server.request("POST", path, raw, {"X-OPENTOK-AUTH": server.project.credentials()}), 400)
        assert len((await ada.signal())[1]) == 1


async def test_rest_an_empty_session_or_an_unknown_connection_is_404(server, session):
    async with await Client.join(server, server.project.session()) as far:
        is_error(server.rest("POST", server.session_path(session, "/signal"), {"type": "a"}), 404)
        for unknown in (UNKNOWN, "nobody", far.id):
            is_error(server.rest("POST", server.session_path(session, f"/connection/{unknown}/signal"), {"data": "x"}), 404)
            is_error(server.rest("DELETE", server.session_path(session, f"/connection/{unknown}")), 404)
        assert len((await far.signal())[1]) == 1


async def test_rest_leave_3_delete_forces_a_client_to_disconnect(server, session):
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        await ada.expect("connectionCreated")
        path = server.session_path(session, f"/connection/{bob.id}")
        is_empty(server.rest("DELETE", path))
        assert await bob.closed() == (4502, [{"ev": "disconnected", "reason": "forceDisconnected", "reconnect": False}])
        await ada.expect("connectionDestroyed", connectionId=bob.id, reason="forceDisconnected")
        is_error(server.rest("DELETE", path), 404)


def wrong_credentials(project, session):
    now = int(time.time())
    return {
        "empty": "",
        "nonsense": "x",
        "forged": project.credentials(secret="another"),
        "expired": project.credentials(iat=now - 1000, exp=now - 500),
        "of another project": project.credentials(iss="101"),
        "ist account": project.credentials(ist="account"),
        "without ist": project.credentials(ist=None),
        "without iss": project.credentials(iss=None),
        "without exp": project.credentials(exp=None),
        "alg none": project.credentials(header={"alg": "none"}),
        "RS256 with HMAC": project.credentials(header={"alg": "RS256", "typ": "JWT"}),
        "a client's token": project.jwt_token(session, role="moderator"),
        "a client's T1 token": project.token(session, role="moderator"),
        "key:secret": f"{project.key}:{project.secret}",
    }


async def test_rest_1_wrong_credentials_are_403_on_each_route_and_have_no_effect(server, session):
    async with await Client.join(server, session) as ada:
        requests = [
            ("POST", "/session/create", b""),
            ("POST", server.session_path(session, "/signal"), b"{}"),
            ("POST", server.session_path(session, f"/connection/{ada.id}/signal"), b"{}"),
            ("DELETE", server.session_path(session, f"/connection/{ada.id}"), None),
        ]
        accepted = []
        for method, path, body in requests:
            is_error(server.request(method, path, body), 403)
            for name, credentials in wrong_credentials(server.project, session).items():
                answer = server.request(method, path, body, {"X-OPENTOK-AUTH": credentials})
                if answer.status != 403:
                    accepted.append((method, path, name, answer.status))
        assert accepted == []
        # Credentials are checked before the body.
        is_error(server.request("POST", server.session_path(session, "/signal"), b"nonsense"), 403)
        # The project of the path has to be that of the credentials.
        is_error(server.rest("POST", f"/v2/project/101/session/{session}/signal", {}), 403)
        assert len((await ada.signal())[1]) == 1


@pytest.mark.parametrize(
    "path",
    [
        "/nothing", "/v2/project/100/session", "/room/a/b",
    ],
)
async def test_rest_3_an_unknown_path_is_404(server, path):
    is_error(server.rest("GET", path), 404)
    is_error(server.rest("POST", path), 404)


async def test_rest_3_a_wrong_method_is_405_with_allow(server, session):
    for method, path, allowed in [
        ("GET", "/session/create", {"POST"}),
        ("DELETE", "/session/create", {"POST"}),
        ("GET", server.session_path(session, "/signal"), {"POST"}),
        ("PUT", server.session_path(session, "/signal"), {"POST"}),
        ("POST", server.session_path(session, f"/connection/{UNKNOWN}"), {"DELETE"}),
        ("GET", server.session_path(session, f"/connection/{UNKNOWN}/signal"), {"POST"}),
        ("POST", "/livez", {"GET", "HEAD"}),
        ("DELETE", "/readyz", {"GET", "HEAD"}),
        ("POST", "/opentok.js", {"GET", "HEAD"}),
    ]:
        answer = is_error(server.request(method, path, b"" if method in ("POST", "PUT") else None), 405)
        methods = {each.strip() for each in answer.headers["Allow"].split(",")} - {"OPTIONS"}
        assert methods in (allowed, allowed - {"HEAD"}), (method, path, methods)


async def test_rest_3_a_body_of_65536_bytes_is_accepted_and_one_more_byte_is_413(server, session):
    path = server.session_path(session, "/signal")
    headers = {"X-OPENTOK-AUTH": server.project.credentials(), "Content-Type": "application/json"}
    async with await Client.join(server, session) as ada:
        exact = b'{"data":"a"' + b" " * (65536 - 12) + b"}"
        is_empty(server.request("POST", path, exact, headers))
        await ada.expect("signal", data="a")
        is_error(server.request("POST", path, exact + b" ", headers), 413)
        assert len((await ada.signal())[1]) == 1


async def raw_answer(server, request, eof=False):
    """The response to these bytes. The server closes the connection."""
    async with await RawSocket.open(server) as raw:
        await raw.send(request)
        if eof:
            raw.writer.write_eof()
        head = await raw.head()
        return int(head.split()[1]) if head else None, head


@pytest.mark.parametrize(
    "headers, statuses",
    [
        ("Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", (411,)),
        ("\r\n", (400,)),
        ("Content-Length: 18446744073709551618\r\n\r\n{}", (400, 413, None)),
        ("Content-Length: 65537\r\n\r\n", (413,)),
        ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", (400, 411, None)),
    ],
)
async def test_rest_3_a_body_without_a_valid_length_is_refused_at_once(server, session, headers, statuses):
    async with await Client.join(server, session) as ada:
        request = (
            f"POST {server.session_path(session, '/signal')} HTTP/1.1\r\nHost: x\r\n"
            f"X-OPENTOK-AUTH: {server.project.credentials()}\r\n{headers}"
        )
        status, head = await raw_answer(server, request.encode())
        assert status in statuses, head
        assert len((await ada.signal())[1]) == 1, "the request was accepted"


async def test_rest_the_health_endpoints_answer_200_and_livez_tells_a_page_that_the_server_has_rooms(server, dev_server):
    for path in ("/livez", "/readyz"):
        answer = server.request("GET", path)
        assert (
            answer.status, answer.headers["Content-Type"], answer.json()
        ) == (200, "application/json", {"status": "ok"})
    assert dev_server.request("GET", "/livez").json() == {"status": "ok", "rooms": True}
    assert dev_server.request("GET", "/readyz").json() == {"status": "ok"}


async def test_rest_rooms_exist_only_in_development_mode(server):
    for path in ("/session", "/room/lobby"):
        is_error(server.request("GET", path), 404)


async def test_rest_4_a_room_name_always_gives_the_same_session(dev_server):
    first, again, other = dev_server.room("lobby"), dev_server.room("lobby"), dev_server.room("other")
    assert first["sessionId"] == again["sessionId"] != other["sessionId"]
    assert first["apiKey"] == other["apiKey"]
    assert dev_server.request("GET", "/session").json()["sessionId"] == dev_server.room("default")["sessionId"]
    for name in ("a" * 64, "a.b-c_d~E9"):
        dev_server.room(name)
    for name, status in (("a" * 65, 400), ("a%20b", 400), ("%C3%A9", 400), ("", 404)):
        assert dev_server.request("GET", f"/room/{name}").status == status, name


async def test_rest_4_role_and_data_set_the_token(dev_server):
    room = dev_server.room("shape", role="moderator", data="name=Zoë & co +~1%")
    async with await Client.join(dev_server, room["sessionId"], token=room["token"], key=room["apiKey"]) as client:
        assert client.connected["role"] == "moderator"
        assert client.me["data"] == "name=Zoë & co +~1%"
    for query in ("role=admin", "data=" + "a" * 1001):
        is_error(dev_server.request("GET", f"/room/shape?{query}"), 400)
    twice = dev_server.request("GET", "/room/shape?role=moderator&role=subscriber").json()
    async with await Client.join(dev_server, twice["sessionId"], token=twice["token"], key=twice["apiKey"]) as client:
        assert client.connected["role"] == "moderator", "the first value counts"


# OpenTok's REST interface beyond docs/PROTOCOL.md, section 14


@pytest.mark.parametrize("accept, kind", [
    (None, "application/json"), ("application/xml", "text/xml"), ("text/xml, application/json", "application/json"),
])
def test_create_answers_in_xml_only_when_json_is_not_accepted(server, accept, kind):
    headers = {"X-OPENTOK-AUTH": server.project.credentials()} | ({"Accept": accept} if accept else {})
    answer = server.request("POST", "/session/create", b"", headers)
    assert answer.status == 200 and answer.headers["Content-Type"] == kind
    if kind == "text/xml":
        session = xml.etree.ElementTree.fromstring(answer.body).find("Session/session_id").text
    else:
        session = answer.json()[0]["session_id"]
    assert session.startswith(("1_", "2_"))
    refused = server.request("POST", "/session/create", b"", headers | {"X-OPENTOK-AUTH": "no"})
    assert refused.status == 403 and refused.headers["Content-Type"] == kind
    if kind == "text/xml":
        error = xml.etree.ElementTree.fromstring(refused.body)
        assert error.tag == "error" and error.attrib["code"] == "403" and error[0].attrib["message"]


# The requests of other SDKs for POST /session/create. The body is a form, and an SDK that does not accept JSON reads
# XML.
SDK_REQUESTS = [
    ("OpenTok-Ruby-SDK/4.0.0-Ruby-Version-2.6.3-p62", "*/*", "text/xml"),
    ("OpenTok-PHP-SDK/4.2.1 GuzzleHttp/6.3.3 curl/7.64.1 PHP/7.3.9", None, "text/xml"),
    ("Opentok-DotNet-SDK/3.0.0.0", None, "text/xml"),
    ("Opentok-Java-SDK/2.3.0", "*/*", "text/xml"),
    ("OpenTok-Node-SDK/2.2.4", None, "text/xml"),
    ("OpenTok-Node-SDK/2.23.1", "application/json", "application/json"),
    ("Opentok-Java-SDK/4.15.1 JRE/17", "application/json", "application/json"),
    ("curl/8.0", "*/*", "application/json"),
]


@pytest.mark.parametrize("agent, accept, kind", SDK_REQUESTS)
def test_an_sdk_that_does_not_ask_for_json_reads_xml(server, agent, accept, kind):
    headers = {
        "X-OPENTOK-AUTH": server.project.credentials(),
        "User-Agent": agent,
        "Content-Type": "application/x-www-form-urlencoded",
    } | ({"Accept": accept} if accept else {})
    answer = server.request("POST", "/session/create", b"p2p.preference=enabled", headers)
    assert answer.status == 200 and answer.headers["Content-Type"] == kind
    if kind == "text/xml":
        assert xml.etree.ElementTree.fromstring(answer.body).find("Session/session_id").text.startswith(("1_", "2_"))


async def test_connections_are_listed_in_the_order_of_their_creation(server, session):
    path = server.session_path(session, "/connection")
    # All SDKs read the first two members.
    head = {"projectId": server.project.key, "sessionId": session}
    assert server.rest("GET", path).json() == head | {"count": 0, "items": []}
    async with await Client.join(
        server, session, data="Ada"
    ) as ada, await Client.join(server, session, data="Bob") as bob:
        answer = await asyncio.to_thread(server.rest, "GET", path)
        assert answer.status == 200 and answer.headers["Content-Type"] == "application/json"
        assert answer.json() == head | {
            "count": 2,
            "items": [
                {
                    "connectionId": client.id, "createdAt": client.me["creationTime"], "connectionState": "Connected",
                    "data": client.me["data"],
                }
                for client in (ada, bob)
            ],
        }
    assert server.request("GET", path).status == 403


def test_there_are_no_streams_and_no_media(server, session):
    assert server.rest("GET", server.session_path(session, "/stream")).json() == {"count": 0, "items": []}
    assert server.rest("GET", server.session_path(session, "/stream/abc")).status == 404
    project = f"/v2/project/{server.project.key}"
    for method, path in [
        ("POST", f"{project}/archive"), ("GET", f"{project}/archive/x"), ("POST", f"{project}/broadcast"),
        ("POST", f"{project}/dial"), ("POST", f"{project}/call"),
        ("POST", server.session_path(session, "/mute")), ("POST", server.session_path(session, "/stream/x/mute")),
        ("POST", server.session_path(session, "/play-dtmf")), ("PUT", server.session_path(session, "/layout")),
        ("PUT", server.session_path(session, "/stream")), ("POST", f"{project}/render"), ("POST", f"{project}/connect"),
        ("POST", f"{project}/captions"), ("PATCH", f"{project}/archive/x/streams"),
    ]:
        answer = server.request(method, path, b"{}", {"X-OPENTOK-AUTH": server.project.credentials()})
        assert answer.status == 501, (path, answer)
        assert answer.json()["code"] == 501 and answer.json()["message"]
        assert server.request(method, path, b"{}").status == 403


@pytest.mark.parametrize("host, origin, status, allowed", [
    ("127.0.0.1:1", None, 200, None), ("localhost", "http://localhost:3000", 200, "http://localhost:3000"),
    ("localhost", "https://evil.example", 200, None), ("evil.example", None, 403, None),
])
def test_rest_4_development_mode_gives_tokens_only_to_this_machine(dev_server, host, origin, status, allowed):
    """A page of another site gets no token: not by a request across origins, and not by a host name of its own (DNS
    rebinding)."""
    for path in ("/session", "/room/lobby"):
        answer = dev_server.request("GET", path, headers={"Host": host} | ({"Origin": origin} if origin else {}))
        assert answer.status == status
        assert answer.headers["Access-Control-Allow-Origin"] == allowed


def test_rest_4_a_room_refuses_wrong_credentials_and_needs_none():
    with Server(dev=True) as server:
        line = server.out.until("export SIGNALBOX_API_KEY=")
        key, secret = (re.search(rf"SIGNALBOX_API_{name}=(\S+)", line)[1] for name in ("KEY", "SECRET"))
        for path in ("/session", "/room/lobby"):
            right = Project(key, secret).credentials()
            assert server.request("GET", path, headers={"X-OPENTOK-AUTH": right}).status == 200
            for headers in (
                {"X-OPENTOK-AUTH": Project(key, "another secret").credentials()},
                {"X-OPENTOK-AUTH": Project("101", secret).credentials()},
                {"X-OPENTOK-AUTH": "nonsense"}, {"Authorization": "Bearer nonsense"},
                {"X-TB-PARTNER-AUTH": "100:wrong"},
            ):  # fmt: skip
                is_error(server.request("GET", path, headers=headers), 403)


def test_rest_4_development_mode_gives_no_token_through_a_proxy():
    """A proxy on this machine has a loopback address, and by default its own target as `Host`."""
    with Server(dev=True) as server:
        for name, value in [
            ("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9"), ("Via", "1.1 front"),
            ("X-Real-IP", "203.0.113.9"), ("X-Forwarded-Host", "chat.example"), ("X-Forwarded-Proto", "https"),
            # The client behind a proxy may have written this.
            ("X-Forwarded-For", "127.0.0.1"),
        ]:  # fmt: skip
            for path in ("/session", "/room/lobby?role=moderator"):
                is_error(server.request("GET", path, headers={"Host": "127.0.0.1:8080", name: value}), 403)
        assert server.request("GET", "/session").status == 200


@pytest.mark.parametrize("path", [
    "//metrics", "/%6detrics", "/x/../metrics", "/session/create/",
])  # fmt: skip
def test_rest_3_a_route_has_one_spelling(server, path):
    """A proxy that keeps `/metrics` from strangers compares the path. Each other spelling would get past it."""
    for method in ("GET", "POST"):
        is_error(server.rest(method, path), 404)
