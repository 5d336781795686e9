"""Tests/Vectors/limits against the running server. The Swift and the JavaScript tests read the same vectors."""

import json

import pytest

from server_process import REPOSITORY
from signalbox_client import Client

LIMITS = REPOSITORY / "Tests/Vectors/limits"


def text(written):
    return written if isinstance(written, str) else written["repeat"][0] * written["repeat"][1]


CASES = [
    pytest.param({name: text(value) for name, value in case["signal"].items()}, case.get("refused"), id=case["name"])
    for case in json.loads((LIMITS / "signal.json").read_text())["cases"]
]
# A REST request names its target in the path.
REST_CASES = [case for case in CASES if "to" not in case.values[0]]


def content(signal):
    """The type and data of a signal. An empty type means none (SIG-2)."""
    return {name: signal[name] for name in ("type", "data") if name in signal and (name, signal[name]) != ("type", "")}


def test_the_limit_vectors_cover_each_boundary():
    boundaries = [
        ("x", 8190), ("x", 8191), ("x", 8192), ("x", 8193), ('"', 4095), ('"', 4096), ("😀", 4095), ("😀", 4096),
        ("€", 8190),
        ("\x01", 1365), ("\x01", 1366),
    ]  # fmt: skip
    server = [case["signal"] for case in json.loads((LIMITS / "signal.json").read_text())["cases"]]
    assert [b for b in boundaries if {"data": {"repeat": list(b)}} not in server] == []
    assert [t for t in ("a.b", "a b", "a:b", "é", "", "a\n") if {"type": t} not in server] == []
    web = [case["options"] for case in json.loads((LIMITS / "web.json").read_text())["cases"]]
    boundaries = [
        ("x", 8190), ("x", 8191), ('"', 4095), ('"', 4096), ("😀", 4095), ("😀", 4096), ("€", 8190), ("€", 8191),
        ("\x01", 1365), ("\x01", 1366),
    ]  # fmt: skip
    assert [b for b in boundaries if {"data": {"repeat": list(b)}} not in web] == []
    assert [t for t in ("a.b", "a b", "a:b", "é", "", "a\n") if {"type": t} not in web] == []
    for signals in (server, web):
        assert [n for n in (128, 129) if {"type": {"repeat": ["t", n]}} not in signals] == []


@pytest.mark.parametrize("members, refused", CASES)
async def test_sig_2_sig_3_the_limit_vectors_hold_over_the_socket(server, session, members, refused):
    async with await Client.join(server, session) as ada:
        answer, events = await ada.signal(**members)
        if refused:
            assert (answer["ev"], answer.get("code"), answer.get("name")) == ("error", refused, "OT_INVALID_PARAMETER")
            assert events == []
        else:
            assert answer["ev"] == "ack", answer
            assert [content(event) for event in events] == [content(members)]
        assert (await ada.signal())[0]["ev"] == "ack", "the connection continues"


@pytest.mark.parametrize("members, refused", REST_CASES)
async def test_rest_2_the_limit_vectors_hold_by_rest(server, session, members, refused):
    async with await Client.join(server, session) as ada:
        for path in (
            server.session_path(session, "/signal"), server.session_path(session, f"/connection/{ada.id}/signal")
        ):
            answer = server.rest("POST", path, members)
            if refused:
                assert answer.status == answer.json()["code"] == refused
            else:
                assert (answer.status, answer.body) == (204, b"")
                assert content(await ada.expect("signal")) == content(members)
        assert len((await ada.signal())[1]) == 1, "the client received a refused signal"
