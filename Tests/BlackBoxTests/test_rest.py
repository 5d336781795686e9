"""Section 13: what a backend sees."""

import asyncio
import http.client
import json
import time
import xml.etree.ElementTree

import pytest

from credentials import jwt
from raw_socket import RawSocket
from server_process import Answer
from signalbox_client import Client

SOMEBODY = "00000000-0000-4000-8000-000000000000"


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


@pytest.mark.parametrize("body", [None, b"", b"p2p.preference=enabled&archiveMode=manual", b'{"x":1}', b"\xff%zz=&&=", b"location=1.2.3.4"])
async def test_rest_session_create_gives_a_session_that_can_be_used(server, body):
    headers = {"X-OPENTOK-AUTH": server.project.credentials()}
    if body is None:
        headers["Content-Length"] = "0"
    answer = server.request("POST", "/session/create", body, headers)
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json", answer
    (made,) = answer.json()
    assert made["session_id"][:2] in ("1_", "2_") and len(made["session_id"]) <= 255
    async with await Client.join(server, made["session_id"]) as client:
        assert (await client.signal())[0]["ev"] == "ack"


async def test_rest_session_create_never_gives_the_same_twice(server):
    ids = {server.rest("POST", "/session/create").json()[0]["session_id"] for _ in range(20)}
    assert len(ids) == 20


async def test_rest_2_a_signal_by_rest_reaches_everybody_from_null(server, session):
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


async def test_rest_2_limits_are_those_of_the_socket(server, session):
    async with await Client.join(server, session) as ada:
        for path in (server.session_path(session, "/signal"), server.session_path(session, f"/connection/{ada.id}/signal")):
            for good in ({"type": "x" * 128, "data": "😀" * 4096}, {"data": "\x01" * 8192}, {"type": ""}, {"unknown": 1}):
                is_empty(server.rest("POST", path, good))
                assert (await ada.next()).get("data") == good.get("data")
            for bad, status in [
                ({"type": "x" * 129}, 413), ({"data": "a" * 8193}, 413), ({"data": "😀" * 4096 + "a"}, 413), ({"type": "a b"}, 400),
                ({"type": "é"}, 400), ({"type": 1}, 400), ({"data": None}, 400), ({"data": {}}, 400), ([], 400), ("x", 400), (None, 400),
            ]:  # fmt: skip
                is_error(server.rest("POST", path, bad), status)
            for raw in (b"", b"nonsense", b'{"data":"\xff"}', b'{"data":"a","data":"b"}', b'{"data":NaN}', b'{"data":"\\ud800"}', b"{} {}"):
                is_error(server.request("POST", path, raw, {"X-OPENTOK-AUTH": server.project.credentials()}), 400)
        assert len((await ada.signal())[1]) == 1


async def test_rest_nobody_there_is_404(server, session):
    async with await Client.join(server, server.project.session()) as far:
        is_error(server.rest("POST", server.session_path(session, "/signal"), {"type": "a"}), 404)
        for somebody in (SOMEBODY, "nobody", far.id):
            is_error(server.rest("POST", server.session_path(session, f"/connection/{somebody}/signal"), {}), 404)
            is_error(server.rest("DELETE", server.session_path(session, f"/connection/{somebody}")), 404)
        assert len((await far.signal())[1]) == 1


async def test_rest_delete_forces_a_connection_out(server, session):
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


async def test_rest_1_wrong_credentials_are_403_everywhere_and_do_nothing(server, session):
    async with await Client.join(server, session) as ada:
        requests = [
            ("POST", "/session/create", b""),
            ("POST", server.session_path(session, "/signal"), b"{}"),
            ("POST", server.session_path(session, f"/connection/{ada.id}/signal"), b"{}"),
            ("DELETE", server.session_path(session, f"/connection/{ada.id}"), None),
        ]
        taken = []
        for method, path, body in requests:
            is_error(server.request(method, path, body), 403)
            for name, credentials in wrong_credentials(server.project, session).items():
                answer = server.request(method, path, body, {"X-OPENTOK-AUTH": credentials})
                if answer.status != 403:
                    taken.append((method, path, name, answer.status))
        assert taken == []
        # Credentials are looked at before the body is.
        is_error(server.request("POST", server.session_path(session, "/signal"), b"nonsense"), 403)
        # The path's project has to be the credentials'.
        is_error(server.rest("POST", f"/v2/project/101/session/{session}/signal", {}), 403)
        assert len((await ada.signal())[1]) == 1


async def test_rest_sessions_of_others_are_not_found_or_refused(server):
    for wrong in ("nonsense", server.project.session(key="101"), "1_"):
        answer = server.rest("POST", f"/v2/project/{server.project.key}/session/{wrong}/signal", {})
        is_error(answer, answer.status)
        assert answer.status in (400, 403, 404), answer


@pytest.mark.parametrize("path", ["/nothing", "/v2", "/v2/project/100", "/v2/project/100/session", "/session/create/x", "/v1", "/v2/js/other.js", "/metrics2", "/room", "/room/a/b", "/v2/project/100/session/x/signal/y"])
async def test_rest_3_an_unknown_path_is_404(server, path):
    is_error(server.rest("GET", path), 404)
    is_error(server.rest("POST", path), 404)


async def test_rest_3_another_method_is_405_with_allow(server, session):
    for method, path, allowed in [
        ("GET", "/session/create", {"POST"}),
        ("DELETE", "/session/create", {"POST"}),
        ("GET", server.session_path(session, "/signal"), {"POST"}),
        ("PUT", server.session_path(session, "/signal"), {"POST"}),
        ("POST", server.session_path(session, f"/connection/{SOMEBODY}"), {"DELETE"}),
        ("GET", server.session_path(session, f"/connection/{SOMEBODY}/signal"), {"POST"}),
        ("POST", "/livez", {"GET", "HEAD"}),
        ("DELETE", "/readyz", {"GET", "HEAD"}),
        ("POST", "/opentok.js", {"GET", "HEAD"}),
    ]:
        answer = is_error(server.request(method, path, b"" if method in ("POST", "PUT") else None), 405)
        said = {each.strip() for each in answer.headers["Allow"].split(",")} - {"OPTIONS"}
        assert said in (allowed, allowed - {"HEAD"}), (method, path, said)


async def test_rest_3_body_sizes(server, session):
    path = server.session_path(session, "/signal")
    headers = {"X-OPENTOK-AUTH": server.project.credentials(), "Content-Type": "application/json"}
    async with await Client.join(server, session) as ada:
        exact = b'{"data":"a"' + b" " * (65536 - 12) + b"}"
        is_empty(server.request("POST", path, exact, headers))
        await ada.expect("signal", data="a")
        is_error(server.request("POST", path, exact + b" ", headers), 413)
        assert len((await ada.signal())[1]) == 1


async def raw_answer(server, request, eof=False):
    """The answer to bytes, as they are; the connection is the server's to close."""
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
        ("Transfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n", (400,)),
        ("\r\n", (400,)),
        ("Content-Length: -1\r\n\r\n", (400, None)),
        ("Content-Length: x\r\n\r\n", (400, None)),
        ("Content-Length: 0x2\r\n\r\n{}", (400, None)),
        ("Content-Length: +2\r\n\r\n{}", (400, None)),
        ("Content-Length: 2 2\r\n\r\n{}", (400, None)),
        ("Content-Length: 99999999999999999999\r\n\r\n", (400, 413, None)),
        ("Content-Length: 18446744073709551618\r\n\r\n{}", (400, 413, None)),
        ("Content-Length: 4294967298\r\n\r\n{}", (413,)),
        ("Content-Length: 65537\r\n\r\n", (413,)),
        ("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", (400, None)),
        ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", (400, 411, None)),
    ],
)
async def test_rest_3_bodies_without_a_good_length_are_refused_at_once(server, session, headers, statuses):
    async with await Client.join(server, session) as ada:
        request = f"POST {server.session_path(session, '/signal')} HTTP/1.1\r\nHost: x\r\nX-OPENTOK-AUTH: {server.project.credentials()}\r\n{headers}"
        status, head = await raw_answer(server, request.encode())
        assert status in statuses, head
        assert len((await ada.signal())[1]) == 1, "it was taken"


async def test_rest_keep_alive_and_one_answer_after_the_other(server, session):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    async with await Client.join(server, session) as ada:
        connection.connect()
        first = connection.sock
        for number in range(20):
            headers = {"X-OPENTOK-AUTH": server.project.credentials()}
            connection.request("POST", server.session_path(session, "/signal"), json.dumps({"data": str(number)}), headers)
            answer = connection.getresponse()
            is_empty(Answer(answer.status, answer.headers, answer.read()))
            await ada.expect("signal", data=str(number))
            connection.request("GET", "/livez")
            assert connection.getresponse().read() == b'{"status":"ok"}'
            connection.request("GET", "/nothing")
            assert connection.getresponse().read()
        assert connection.sock is first, "the connection was not kept"
    connection.close()


async def test_rest_pipelined_requests_are_answered_in_order(server):
    async with await RawSocket.open(server) as raw:
        await raw.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        said = await raw.ends()
        statuses = [line.split()[1] for line in said.split(b"\n") if line.startswith(b"HTTP/1.1 ") or b"}HTTP/1.1 " in line]
        assert said.count(b"HTTP/1.1 200") == 2 and said.count(b"HTTP/1.1 404") == 1, said
        assert said.index(b" 404") > said.index(b" 200"), statuses
        assert said.rstrip().endswith(b'{"status":"ok"}')


async def test_rest_head_is_get_without_a_body(server):
    for path in ("/livez", "/", "/opentok.js"):
        get, head = server.request("GET", path), server.request("HEAD", path)
        assert get.status == head.status == 200
        assert head.body == b""
        for name in ("Content-Type", "Content-Length", "ETag"):
            assert get.headers[name] == head.headers[name], (path, name)
        async with await RawSocket.open(server) as raw:
            await raw.send(f"HEAD {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            assert (await raw.ends()).endswith(b"\r\n\r\n"), "a body"


async def test_rest_health(server):
    for path in ("/livez", "/readyz"):
        answer = server.request("GET", path)
        assert (answer.status, answer.headers["Content-Type"], answer.json()) == (200, "application/json", {"status": "ok"})


async def test_rest_a_page_can_tell_that_there_are_rooms(dev_server):
    assert dev_server.request("GET", "/livez").json() == {"status": "ok", "rooms": True}
    assert dev_server.request("GET", "/readyz").json() == {"status": "ok"}


async def test_rest_rooms_are_for_development_only(server):
    for path in ("/session", "/room/lobby"):
        is_error(server.request("GET", path), 404)


async def test_rest_4_a_room_is_the_same_session_for_the_same_name(dev_server):
    first, again, other = dev_server.room("lobby"), dev_server.room("lobby"), dev_server.room("other")
    assert first["sessionId"] == again["sessionId"] != other["sessionId"]
    assert first["apiKey"] == other["apiKey"]
    assert dev_server.request("GET", "/session").json()["sessionId"] == dev_server.room("default")["sessionId"]
    for name in ("a" * 64, "a.b-c_d~E9"):
        dev_server.room(name)
    for wrong in ("a" * 65, "a%20b", "%C3%A9", ""):
        assert dev_server.request("GET", f"/room/{wrong}").status in (400, 404), wrong


async def test_rest_4_role_and_data_shape_the_token(dev_server):
    room = dev_server.room("shape", role="moderator", data="name=Zoë & co +~1%")
    async with await Client.join(dev_server, room["sessionId"], token=room["token"], key=room["apiKey"]) as client:
        assert client.connected["role"] == "moderator"
        assert client.me["data"] == "name=Zoë & co +~1%"
    for query in ("role=admin", "data=" + "a" * 1001, "role=moderator&role=subscriber"):
        answer = dev_server.request("GET", f"/room/shape?{query}")
        assert answer.status in (400, 413) or query.count("role") == 2, (query, answer)


# OpenTok's REST interface beyond docs/PROTOCOL.md 13


@pytest.mark.parametrize("accept, kind", [
    (None, "application/json"), ("application/json", "application/json"), ("*/*", "application/json"),
    ("application/xml", "text/xml"), ("text/xml;q=0.9", "text/xml"), ("text/xml, application/json", "application/json"),
])
def test_opentok_4_2_create_answers_in_xml_only_who_asks_for_no_json(server, accept, kind):
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


async def test_opentok_4_2_create_without_body_and_length_as_curl_sends_it(server):
    request = f"POST /session/create HTTP/1.1\r\nHost: x\r\nX-OPENTOK-AUTH: {server.project.credentials()}\r\n\r\n"
    status, head = await raw_answer(server, request.encode())
    assert status == 200, head


async def test_opentok_4_3_a_signal_in_chunks_as_programs_write_it_piece_by_piece(server, session):
    async with await Client.join(server, session) as ada:
        request = (
            f"POST {server.session_path(session, '/signal')} HTTP/1.1\r\nHost: x\r\n"
            f"X-OPENTOK-AUTH: {server.project.credentials()}\r\nContent-Type: application/json\r\n"
            'Transfer-Encoding: chunked\r\n\r\n12\r\n{"type":"t","data"\r\n5\r\n:"d"}\r\n0\r\n\r\n'
        )
        status, head = await raw_answer(server, request.encode())
        assert status == 204, head
        heard = await ada.expect("signal", type="t", data="d")
        assert heard["from"] is None


# What the SDKs of other languages send with POST /session/create: the body is a form, and those that name no JSON read XML.
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
def test_opentok_4_2_an_sdk_that_does_not_ask_for_json_reads_xml(server, agent, accept, kind):
    headers = {
        "X-OPENTOK-AUTH": server.project.credentials(),
        "User-Agent": agent,
        "Content-Type": "application/x-www-form-urlencoded",
    } | ({"Accept": accept} if accept else {})
    answer = server.request("POST", "/session/create", b"p2p.preference=enabled", headers)
    assert answer.status == 200 and answer.headers["Content-Type"] == kind
    if kind == "text/xml":
        assert xml.etree.ElementTree.fromstring(answer.body).find("Session/session_id").text.startswith(("1_", "2_"))


def test_opentok_4_1_the_ruby_sdk_says_the_issuer_type_in_the_header(server):
    now = int(time.time())
    claims = {"iss": server.project.key, "iat": now, "exp": now + 300}
    credentials = jwt(claims, server.project.secret, {"ist": "project", "alg": "HS256"})
    answer = server.request("POST", "/session/create", b"", {"X-OPENTOK-AUTH": credentials})
    assert answer.status == 200


def test_opentok_4_5_the_php_sdk_ends_the_list_of_streams_with_a_slash(server):
    session = server.project.session()
    path = f"/v2/project/{server.project.key}/session/{session}/stream/"
    answer = server.request("GET", path, None, server.project.headers())
    assert answer.status == 200 and answer.json() == {"count": 0, "items": []}


@pytest.mark.parametrize("body", [
    b"", b"p2p.preference=disabled&archiveMode=always&location=12.34.56.78", b'{"archiveMode":"manual"}', b"\xff\x00 anything", b"[1,2",
])
@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", None])
def test_opentok_4_2_create_takes_any_body_whatever_the_header_claims(server, body, kind):
    headers = {"X-OPENTOK-AUTH": server.project.credentials()} | ({"Content-Type": kind} if kind else {})
    answer = server.request("POST", "/session/create", body, headers)
    assert answer.status == 200 and len(answer.json()) == 1


async def test_opentok_4_5_connections_are_listed_in_the_order_of_their_creation(server, session):
    path = server.session_path(session, "/connection")
    assert server.rest("GET", path).json() == {"count": 0, "items": []}
    async with await Client.join(server, session, data="Ada") as ada, await Client.join(server, session, data="Bob") as bob:
        answer = await asyncio.to_thread(server.rest, "GET", path)
        assert answer.status == 200 and answer.headers["Content-Type"] == "application/json"
        assert answer.json() == {
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


def test_opentok_4_5_there_are_no_streams_and_no_media(server, session):
    assert server.rest("GET", server.session_path(session, "/stream")).json() == {"count": 0, "items": []}
    assert server.rest("GET", server.session_path(session, "/stream/abc")).status == 404
    project = f"/v2/project/{server.project.key}"
    for method, path in [
        ("POST", f"{project}/archive"), ("GET", f"{project}/archive/x"), ("POST", f"{project}/broadcast"), ("POST", f"{project}/dial"),
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
    ("[::1]:8080", "http://[::1]:5173", 200, "http://[::1]:5173"), ("localhost", "https://evil.example", 200, None),
    ("localhost", "null", 200, None), ("evil.example", None, 403, None), ("127.0.0.1.evil.example", None, 403, None),
])
def test_rest_4_tokens_of_development_mode_are_for_this_machine(dev_server, host, origin, status, allowed):
    """A page elsewhere must not get in by asking across origins, nor by a name that leads here (DNS rebinding)."""
    for path in ("/session", "/room/lobby"):
        answer = dev_server.request("GET", path, headers={"Host": host} | ({"Origin": origin} if origin else {}))
        assert answer.status == status
        assert answer.headers["Access-Control-Allow-Origin"] == allowed
