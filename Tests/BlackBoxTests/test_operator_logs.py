"""Log lines for operators: life-cycle steps, refusals, requests, and the JSON format."""

import json
import re

import planted_secrets
from administration import Admin
from server_process import Server
from signalbox_client import Client


def log_of(server):
    """All lines of a server that was told to stop."""
    assert server.stop() == 0
    while server.err.next() is not None:
        pass
    return server.err.seen


async def test_json_lines_have_the_life_of_the_server_and_each_kind_of_refusal():
    with Server("--log-format", "json", "--admin-port", "0", "--access-log") as server:
        session = server.project.session()
        for _ in range(3):
            await Client.denied(server, session, "T1==forged", key=server.project.key)
            server.rest("POST", server.session_path(session, "/signal"), {"data": "x"}, token="a.b.c")
        server.rest("POST", server.session_path(session, "/signal"), {"data": "nobody is there"})
        lines = [json.loads(line) for line in log_of(server)]
    for line in lines:
        assert {"time", "level", "label", "source", "message"} <= line.keys(), line
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", line["time"])
    messages = [line["message"] for line in lines]
    assert [each for each in messages if each in ("listening", "stopping", "stopped")] == [
        "listening", "stopping", "stopped",
    ]  # fmt: skip
    refusals = [(line["route"], line["reason"], line["address"], line["apiKey"])
                for line in lines if line["message"] == "refused a request"]  # fmt: skip
    assert refusals == [
        ("connect", "authentication_error", "127.0.0.1", server.project.key),
        ("signal", "permission_denied", "127.0.0.1", server.project.key),
    ], "one line of each kind in ten seconds"
    requests = [line for line in lines if line["message"] == "answered a request"]
    assert [(line["method"], line["route"], line["status"]) for line in requests] == (
        [("POST", "signal", 403)] * 3 + [("POST", "signal", 404)]
    )
    assert len({line["request"] for line in requests}) == 4
    assert {line["path"] for line in requests} == {server.session_path(session, "/signal")}
    assert all(type(line["milliseconds"]) is int for line in requests)
    (listening,) = (line for line in lines if line["message"] == "listening")
    assert listening["projects"] == 1


def test_every_request_has_its_path_without_query_and_pasted_tokens():
    token = "T1==cGFydG5lcl9pZD0xMDA"
    with Server("--access-log", "--log-format", "json") as server:
        for path in ("/", f"/livez?token={token}", "/no/such/page", f"/{token}", f"/room/{token}"):
            server.request("GET", path)
        lines = log_of(server)
    paths = [json.loads(line)["path"] for line in lines if "answered a request" in line]
    assert paths == ["/", "/livez", "/no/such/page", "/(23-bytes)", "/room/(23-bytes)"]
    assert not any(token in line for line in lines)


def test_request_ids_come_from_a_trusted_proxy_only():
    name = "trace-0123456789.abc_DEF"
    with Server() as server, Server("--trusted-proxy", "127.0.0.1", "--access-log") as behind:
        for each, given, expected in [
            (server, name, None), (behind, name, name), (behind, "two words", None), (behind, "x" * 65, None),
            (behind, None, None),
        ]:  # fmt: skip
            headers = each.project.headers() | ({"X-Request-ID": given} if given else {})
            answer = each.request("GET", each.session_path(each.project.session(), "/connection"), headers=headers)
            got = answer.headers["X-Request-ID"]
            assert got == expected if expected else re.fullmatch("[0-9a-f]{16}", got), (given, got)
        assert any(f"request={name}" in line for line in log_of(behind))


def test_without_the_access_log_a_request_has_no_line():
    with Server("--admin-port", "0") as server:
        assert Admin(server).request("GET", "/livez").status == 200
        server.rest("POST", "/session/create")
        assert not any("answered a request" in line for line in log_of(server))


async def test_the_search_for_secrets_finds_one():
    """The search at the end of the run (conftest.py) would be of no use if it could not find anything."""
    secret = planted_secrets.plant("a text that only this test has, and no server logs")
    assert [found for line, found in search_in(f"key=value {secret[3:]} [source]")] == [secret] * 2
    with Server() as server:
        session = server.project.session()
        async with await Client.join(server, session) as client:
            await client.signal(data="more than twenty characters")
    secrets, lines = planted_secrets.counts()
    assert secrets > 4 and lines > 0


def search_in(line):
    """What the search finds in one line."""
    original, planted_secrets._lines = planted_secrets._lines, [line]
    try:
        return planted_secrets.found()
    finally:
        planted_secrets._lines = original
