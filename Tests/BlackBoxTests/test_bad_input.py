"""Invalid input: the client gets an error or a close code, and other clients are unaffected."""

import json
import time

import pytest

from credentials import base64url
from raw_socket import CLOSE, CONTINUATION, TEXT, RawSocket, frame, handshake
from signalbox_client import Bystander, Client, connect_line, refuses

# One of each kind. The Swift tests read all lines of Tests/Vectors/json and Tests/Vectors/messages.
BAD_LINES = [
    "hello", '{"op":"signal",}', '{"op":"signal"} x', '{"op":"signal","data":"\0"}', '{"op":"signal","data":"\\ud800"}',
    '{"op":"signal","op":"signal"}', '{"op":"signal","x":' + "[" * 32 + "]" * 32 + "}", "[]", '{"op":"Signal"}',
    '{"op":"signal","type":1}', '{"op":"forceDisconnect"}',
]  # fmt: skip


async def test_wire_4_wire_9_each_bad_line_is_answered_and_other_clients_are_unaffected(server, session):
    async with await Bystander.join(server, session) as bystander:
        culprits = []
        for start in range(0, len(BAD_LINES), 8):
            async with await Client.join(server, session) as culprit:
                culprits.append(culprit.id)
                for line in BAD_LINES[start : start + 8]:
                    await culprit.send(line)
                    event = await culprit.next()
                    found = event["ev"], event.get("code"), event.get("name")
                    assert found == ("error", 400, "OT_INVALID_PARAMETER"), (line[:80], event)
                    assert "id" not in event and event["retryable"] is False
                await bystander.is_unaffected(*culprits)
                # The connection continues.
                answer, events = await culprit.answer(await culprit.request("signal", type="fine"))
                assert answer["ev"] == "ack"
                assert [e["from"] for e in events] == [bystander.id, culprit.id]
                await bystander.expect("signal", type="fine")


async def test_wire_9_ten_bad_lines_close_the_connection_with_4503(server, session):
    async with await Bystander.join(server, session) as bystander, await Client.join(server, session) as culprit:
        for _ in range(9):
            await culprit.send("oops")
            await culprit.refused(400, "OT_INVALID_PARAMETER")
        # Valid requests in between change nothing, and refused requests of the right shape do not count.
        assert (await culprit.signal(type="a b"))[0]["code"] == 400
        assert (await culprit.signal(to="nobody"))[0]["code"] == 404
        await bystander.is_unaffected(culprit.id)
        await culprit.send("oops")
        code, events = await culprit.closed()
        assert code == 4503
        assert [event["ev"] for event in events] == ["signal", "error", "disconnected"], events
        assert events[-1]["reconnect"] is False
        assert (await bystander.next()) | {"seq": 0} == {
            "ev": "connectionDestroyed", "seq": 0, "connectionId": culprit.id, "reason": "networkDisconnected"
        }  # fmt: skip
        await bystander.is_unaffected()


async def test_wire_2_a_binary_message_is_refused(server, session):
    async with await Bystander.join(server, session) as bystander, await Client.join(server, session) as culprit:
        await culprit.send(b'{"op":"signal"}')
        assert (await culprit.closed())[0] == 1003
        await bystander.expect("connectionCreated")
        await bystander.expect("connectionDestroyed", connectionId=culprit.id, reason="networkDisconnected")
        await bystander.is_unaffected()


def padded(length, **members):
    """A signal of exactly this many bytes."""
    line = json.dumps({"op": "signal", "id": 2, "x": ""} | members)
    return line[:-1] + " " * (length - len(line)) + "}"


async def test_wire_10_a_message_of_65536_bytes_is_accepted_and_one_more_byte_is_refused(server, session):
    async with await Bystander.join(server, session) as bystander, await Client.join(server, session) as culprit:
        await culprit.send(padded(65536, data="a"))
        await culprit.expect("signal", data="a")
        await culprit.expect("ack", id=2)
        await bystander.expect("connectionCreated")
        await bystander.expect("signal", data="a")
        await culprit.send(padded(65537))
        assert (await culprit.closed())[0] == 1009
        await bystander.expect("connectionDestroyed", connectionId=culprit.id)
        await bystander.is_unaffected()


async def connected(raw, server, session):
    await raw.send_text(connect_line(server, session))
    (event,) = await raw.objects()
    assert event["ev"] == "connected"
    return event["connection"]["connectionId"]


async def test_wire_10_text_that_is_not_utf_8_is_refused(server, session):
    async with await Bystander.join(server, session) as bystander:
        for split in (False, True):
            async with await RawSocket.websocket(server) as raw:
                culprit = await connected(raw, server, session)
                head, tail = b'{"op":"signal","data":"', b'\xed\xa0\x80"}'
                if split:
                    await raw.send(frame(TEXT, head + tail[:1], fin=False) + frame(CONTINUATION, tail[1:]))
                else:
                    await raw.send(frame(TEXT, head + tail))
                assert await raw.close_code() == 1007
            await bystander.expect("connectionCreated")
            await bystander.expect("connectionDestroyed", connectionId=culprit)
        await bystander.is_unaffected()


# Tests/Conformance/broken_frames.py and the Swift tests send one of each kind.
@pytest.mark.parametrize("sent", [frame(TEXT, b'{"op":"signal"}', reserved=4), frame(3, b"x")])
async def test_rfc_6455_a_broken_frame_ends_only_its_own_connection(server, session, sent):
    async with await Bystander.join(server, session) as bystander:
        async with await RawSocket.websocket(server) as raw:
            culprit = await connected(raw, server, session)
            await bystander.expect("connectionCreated")
            await raw.send(sent)
            # 1002 or no close frame at all. An object would mean that the server accepted the frame.
            answer = await raw.frame()
            while answer and answer[0] == TEXT and b'"disconnected"' in answer[1]:
                answer = await raw.frame()
            assert answer is None or answer[0] == CLOSE and answer[1][:2] == (1002).to_bytes(2, "big"), answer
        await bystander.expect("connectionDestroyed", connectionId=culprit, reason="networkDisconnected")
        await bystander.is_unaffected()


async def test_con_1_requests_before_connect_are_refused(server, session):
    async with await Bystander.join(server, session) as bystander, await Client.open(server) as culprit:
        for op, members, code in [
            ("signal", {"type": "a", "to": bystander.id}, 500),
            ("signal", {}, 500),
            ("disconnect", {}, 500),
            ("forceDisconnect", {"connectionId": bystander.id}, 1010),
        ]:
            await culprit.refused(code, "OT_NOT_CONNECTED", await culprit.request(op, **members), retryable=True)
        await culprit.send('{"op":"pong"}')
        await bystander.is_unaffected()
        request = await culprit.request("connect", apiKey="100", sessionId=session, token=server.project.token(session))
        await culprit.expect("connected", id=request)


def wrong_tokens(project, session):
    """The Swift tests read all tokens of Tests/Vectors/tokens."""
    now = int(time.time())
    return {
        "nonsense": "T1==!!!",
        "not ASCII": "T1==é",
        "forged": project.token(session, secret="another"),
        "forged jwt": project.jwt_token(session, secret="another"),
        "expired": project.token(session, create_time=now - 7200, expire_time=now - 3600),
        "expired jwt": project.jwt_token(session, iat=now - 7200, exp=now - 3600),
        "alg none, signed": project.jwt_token(session, header={"alg": "none", "typ": "JWT"}),
        "of another session": project.token(project.session()),
        "of another project": project.jwt_token(session, iss="101"),
        "credentials of a backend": project.credentials(),
    }


async def test_con_3_tok_2_tok_3_tok_5_wrong_tokens_are_refused_with_1004(server, session):
    tokens = wrong_tokens(server.project, session)
    async with await Bystander.join(server, session) as bystander:
        accepted = []
        for name, token in tokens.items():
            try:
                await refuses(server, session, 1004, "OT_AUTHENTICATION_ERROR", token=token)
            except AssertionError as error:
                accepted.append((name, str(error)[:200]))
        assert accepted == []
        await bystander.is_unaffected()


async def test_con_3_wrong_keys_and_sessions_are_refused(server, session):
    project = server.project
    async with await Bystander.join(server, session) as bystander:
        for key in ("101", "", "100 ", "0100", "１００"):
            await refuses(server, session, 1004, "OT_AUTHENTICATION_ERROR", apiKey=key)
        foreign = project.session(key="101")
        for wrong in (
            "",
            "nonsense",
            "1_",
            "1_!!!",
            session[:-1] + "\n",
            "3_" + session[2:],
            session[2:],
            foreign,
            "1_" + base64url(b"1~100"),
            "2_" + base64url(b"2~100~~1~x~P~~"),
            "1_" + "A" * 300,
        ):
            await refuses(server, wrong, 1005, "OT_INVALID_SESSION_ID")
        await bystander.is_unaffected()


# Upgrades and requests that are not the WebSocket of the protocol


async def test_wire_12_a_page_of_any_origin_may_open_the_socket_and_needs_a_token(server, session):
    async with await RawSocket.open(server) as raw:
        await raw.send(handshake(Origin="https://elsewhere.example", Cookie="session=1"))
        assert (await raw.head()).startswith("HTTP/1.1 101 ")
        # A cookie is no substitute for the token.
        await raw.send_text(connect_line(server, session, token=""))
        (event, *_) = await raw.objects()
        assert (event["ev"], event["code"]) == ("error", 1004)
    async with await RawSocket.open(server) as raw:
        await raw.send(handshake(Origin="https://elsewhere.example"))
        assert (await raw.head()).startswith("HTTP/1.1 101 ")
        await connected(raw, server, session)


@pytest.mark.parametrize(
    "request_",
    [
        handshake(Sec_WebSocket_Protocol=None),
        handshake(Sec_WebSocket_Protocol="signalbox.v2"),
        handshake("/v1/signaling/"),
        handshake("//v1/signaling"),
        handshake("/%761/signaling"),
        handshake(Sec_WebSocket_Version="12"),
    ],
    ids=lambda request: request.decode()[:24] + str(len(request)),
)
async def test_wire_1_an_upgrade_to_anything_else_is_refused(server, session, request_):
    async with await Bystander.join(server, session) as bystander, await RawSocket.open(server) as raw:
        await raw.send(request_)
        assert not (await raw.head()).startswith("HTTP/1.1 101")
        await bystander.is_unaffected()


async def test_rfc_6455_a_frame_right_behind_the_upgrade_is_accepted_or_refused_but_never_garbled(server, session):
    async with await RawSocket.open(server) as raw:
        await raw.send(handshake() + frame(TEXT, connect_line(server, session).encode()))
        assert (await raw.head()).startswith("HTTP/1.1 101 ")
        answer = await raw.frame()
        assert answer is None or answer[0] == CLOSE or b'"ev":"connected"' in answer[1], answer


async def test_wire_1_a_plain_get_of_the_socket_path_is_answered_and_a_query_behind_it_is_ignored(server):
    assert server.request("GET", "/v1/signaling").status == 426
    async with await RawSocket.open(server) as raw:
        await raw.send(handshake("/v1/signaling?x=1"))
        assert (await raw.head()).startswith("HTTP/1.1 101 ")


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100, b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        bytes(range(256)) * 8 + b"\r\n\r\n",
    ],
    ids=lambda garbage: repr(garbage[:16]),
)  # fmt: skip
async def test_g_5_garbage_instead_of_http_ends_only_its_own_connection(server, session, garbage):
    async with await Bystander.join(server, session) as bystander, await RawSocket.open(server) as raw:
        try:
            await raw.send(garbage)
            raw.writer.write_eof()
        except ConnectionError:
            pass
        response = await raw.ends()
        assert response == b"" or response.startswith(b"HTTP/1."), response[:200]
        assert b"200 OK" not in response[:15] or garbage.startswith((b"GET / HTTP", b"GET http"))
        await bystander.is_unaffected()
