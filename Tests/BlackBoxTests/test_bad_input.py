"""Invalid input: the client gets an error or a close code, and other clients are unaffected."""

import asyncio
import json
import time

import pytest

from credentials import base64url
from raw_socket import CLOSE, CONTINUATION, PING, PONG, TEXT, RawSocket, frame, handshake
from signalbox_client import Bystander, Client, connect_line, refuses

NOT_JSON = [
    "hello", "{", "}", '{"op":"signal"', "{'op':'signal'}", '{"op":"signal",}', '{op:"signal"}', '{"op":"signal"} x',
    '{"op":"signal"}{"op":"signal"}', '{"op":"signal","data":"a\tb"}', '{"op":"signal","data":"\0"}',
    '{"op":"signal","data":"\\x41"}',
    '{"op":"signal","data":"\\u12"}', '{"op":"signal","x":01}', '{"op":"signal","x":+1}', '{"op":"signal","x":.5}',
    '{"op":"signal","x":1.}',
    '{"op":"signal","x":1e}', '{"op":"signal","x":0x10}', '{"op":"signal","x":-}', '{"op":"signal","x":True}',
    '{"op":"signal","x":nul}',
    '\ufeff{"op":"signal"}', "\u00a0{}", "{}\0", "\0", "/* */{}", '{"op":"signal"} // x',
    '{"op":"signal","x":NaN}', '{"op":"signal","x":Infinity}', '{"op":"signal","x":-Infinity}', '{/* */"op":"signal"}',
    '{"op":"signal","data":"\\ud800"}', '{"op":"signal","data":"\\udc00"}', '{"op":"signal","data":"\\udc00\\ud800"}',
    '{"op":"signal","data":"\\ud800\\u0041"}', '{"op":"signal","x":{"\\ud800":1}}',
    '{"op":"signal","op":"signal"}', '{"op":"signal","data":"a","\\u0064ata":"b"}', '{"op":"signal","x":{"a":1,"a":1}}',
    '{"op":"signal","a\\u0000b":1}', '{"op":"signal","\\u0000":1}', '{"op":"signal","x":[{"a\\u0000":1}]}',
    '{"op":"signal","x":' + "[" * 32 + "]" * 32 + "}", '{"op":"signal","x":' + '{"x":' * 32 + "1" + "}" * 33,
    "[" * 60000,
]  # fmt: skip

WRONG_SHAPE = [
    "1", '"signal"', "null", "true", "[]", "[{}]", "{}", '{"op":null}', '{"op":1}', '{"op":""}', '{"op":"Signal"}',
    '{"op":["signal"]}',
    '{"ev":"signal"}', '{"op":"signal ","data":"x"}', '{"OP":"signal"}', '{"op":"resume"}',
    '{"op":"signal","type":1}', '{"op":"signal","type":null}', '{"op":"signal","type":["a"]}',
    '{"op":"signal","data":{}}',
    '{"op":"signal","data":null}', '{"op":"signal","data":1.5}', '{"op":"signal","data":true}',
    '{"op":"signal","to":null}',
    '{"op":"signal","to":5}', '{"op":"signal","to":["x"]}', '{"op":"signal","onlineOnly":1}',
    '{"op":"signal","onlineOnly":"true"}',
    '{"op":"signal","onlineOnly":null}', '{"op":"forceDisconnect"}', '{"op":"forceDisconnect","connectionId":null}',
]  # fmt: skip


@pytest.mark.parametrize("lines", [NOT_JSON, WRONG_SHAPE], ids=["not-json", "wrong-shape"])
async def test_wire_4_wire_9_each_bad_line_is_answered_and_other_clients_are_unaffected(server, session, lines):
    async with await Bystander.join(server, session) as bystander:
        culprits = []
        for start in range(0, len(lines), 8):
            async with await Client.join(server, session) as culprit:
                culprits.append(culprit.id)
                for line in lines[start : start + 8]:
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


async def test_wire_4_valid_json_in_unusual_form_is_accepted(server, session):
    async with await Client.join(server, session) as client:
        depth31 = "[" * 31 + "]" * 31
        for line, data in [
            (' \t{ "op" : "signal" , "id" : 5 , "data" : "a" } \r', "a"),
            ('{"id":5,"op":"sign\\u0061l","data":"\\ud83d\\ude00\\/\\b"}', "😀/\b"),
            ('{"op":"signal","id":5,"data":"\\u0000\u2028\\n"}', "\0\u2028\n"),
            ('{"op":"signal","id":5,"data":"a","x":%s}' % depth31, "a"),
            ('{"op":"signal","id":5,"data":"\\uffff\uffff\\ufffe\x7f"}', "\uffff\uffff\ufffe\x7f"),
            ('{"op":"signal","id":5,"data":"a","x":-0.0e+10,"":1,"X":1,"x ":1}', "a"),
        ]:
            await client.send(line)
            assert (await client.next())["data"] == data, line
            await client.expect("ack", id=5)


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


async def test_wire_9_bad_lines_of_one_message_are_counted_one_by_one_and_before_connecting(server):
    async with await Client.open(server) as culprit:
        await culprit.send("\n".join(["oops"] * 200))
        code, events = await culprit.closed()
        assert code == 4503
        assert [event["ev"] for event in events if event["ev"] == "error"] == ["error"] * 10


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


def fragments(text, count):
    """The frames of one text message in this many fragments."""
    text = text.encode()
    size = -(-len(text) // count)
    parts = [text[index * size : (index + 1) * size] for index in range(count)]
    assert b"".join(parts) == text
    return b"".join(
        frame(CONTINUATION if index else TEXT, part, fin=index == count - 1) for index, part in enumerate(parts)
    )


@pytest.mark.parametrize("length, count", [(65536, 64), (100, 64), (65536, 2)])
async def test_wire_10_a_message_in_64_fragments_is_accepted(server, session, length, count):
    async with await RawSocket.websocket(server) as raw:
        await connected(raw, server, session)
        await raw.send(fragments(padded(length, data="é€😀"), count))
        event, ack = await raw.objects()
        assert event["data"] == "é€😀" and ack["ev"] == "ack"


@pytest.mark.parametrize("length, count", [(65537, 64), (65537, 2), (1000, 65), (66000, 65)])
async def test_wire_10_more_than_64_fragments_or_65536_bytes_are_refused(server, session, length, count):
    async with await Bystander.join(server, session) as bystander, await RawSocket.websocket(server) as raw:
        culprit = await connected(raw, server, session)
        await raw.send(fragments(padded(length), count))
        assert await raw.close_code() == 1009
        await bystander.is_unaffected(culprit)


async def test_wire_10_a_frame_that_announces_too_many_bytes_is_refused_early(server, session):
    async with await Bystander.join(server, session) as bystander:
        before = server.memory()
        for head in (
            bytes([0x81, 0xFF]) + (1 << 62).to_bytes(8, "big"), bytes([0x81, 0xFF]) + (1 << 30).to_bytes(8, "big")
        ):
            async with await RawSocket.websocket(server) as raw:
                await connected(raw, server, session)
                await raw.send(head + bytes(4) + b" " * 70000)
                assert await raw.close_code() == 1009
        async with await RawSocket.websocket(server) as raw:
            culprit = await connected(raw, server, session)
            # RFC 6455, 5.2: the highest bit of the length must be 0.
            await raw.send(bytes([0x81, 0xFF]) + (1 << 63).to_bytes(8, "big") + bytes(4) + b"x" * 100)
            assert await raw.close_code() in (1002, 1009, None)
        assert server.memory() - before < 64 << 20
        events = []
        while len(events) < 6:
            events.append((await bystander.next())["ev"])
        assert events == ["connectionCreated", "connectionDestroyed"] * 3
        await bystander.is_unaffected(culprit)


BAD_UTF8 = [
    b"\xff", b"\xc0\xaf", b"\xe2\x82", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\xf0\x80\x80\x80",
    b"\x80", b"\xc1\x81", b"\xf8\x88\x80\x80\x80",
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_UTF8, ids=lambda bad: bad.hex())
async def test_wire_10_text_that_is_not_utf_8_is_refused(server, session, bad):
    async with await Bystander.join(server, session) as bystander:
        for split in (False, True):
            async with await RawSocket.websocket(server) as raw:
                culprit = await connected(raw, server, session)
                head, tail = b'{"op":"signal","data":"', bad + b'"}'
                if split:
                    await raw.send(frame(TEXT, head + tail[:1], fin=False) + frame(CONTINUATION, tail[1:]))
                else:
                    await raw.send(frame(TEXT, head + tail))
                assert await raw.close_code() == 1007
            await bystander.expect("connectionCreated")
            await bystander.expect("connectionDestroyed", connectionId=culprit)
        await bystander.is_unaffected()


async def test_wire_10_a_character_may_be_split_between_fragments(server, session):
    async with await RawSocket.websocket(server) as raw:
        await connected(raw, server, session)
        text = '{"op":"signal","id":2,"data":"😀"}'.encode()
        middle = text.index("😀".encode()) + 2
        await raw.send(
            frame(TEXT, text[:middle], fin=False) + frame(PING, b"in between") + frame(CONTINUATION, text[middle:])
        )
        # The server may send the two answers in either order.
        frames = dict([await raw.frame(), await raw.frame()])
        assert frames[PONG] == b"in between"
        assert json.loads(frames[TEXT].split(b"\n")[0])["data"] == "😀"


async def test_wire_3_messages_do_not_depend_on_how_tcp_splits_them(server, session):
    """One byte at a time, and everything at once."""
    lines = "".join('{"op":"signal","id":%d,"data":"%d"}\n' % (n, n) for n in range(2, 6))
    stream = frame(TEXT, connect_line(server, session).encode())
    for pieces in (1, 7, 10**6):
        async with await RawSocket.websocket(server) as raw:
            await raw.send(stream)
            assert (await raw.objects())[0]["ev"] == "connected"
            rest = frame(TEXT, lines.encode()) + frame(TEXT, b'{"op":"disconnect","id":9}')
            for start in range(0, len(rest), pieces):
                await raw.send(rest[start : start + pieces])
                await asyncio.sleep(0)
            events = []
            while not events or events[-1]["ev"] != "disconnected":
                events += await raw.objects()
            assert [e["data"] for e in events if e["ev"] == "signal"] == ["2", "3", "4", "5"]
            assert [e["id"] for e in events if e["ev"] == "ack"] == [2, 3, 4, 5, 9]
            assert await raw.close_code() == 1000


# No case for a frame without a mask: libwebsockets 4.1.6 accepts it, and does not report the missing mask.
BROKEN_FRAMES = {
    "reserved bit 1": frame(TEXT, b'{"op":"signal"}', reserved=4),
    "reserved bit 3": frame(TEXT, b'{"op":"signal"}', reserved=1),
    "reserved opcode": frame(3, b"x"),
    "reserved control opcode": frame(11, b"x"),
    "ping of 126 bytes": frame(PING, b"x" * 126),
    "fragmented ping": frame(PING, b"x", fin=False),
    "continuation of nothing": frame(CONTINUATION, b"x"),
    "a message inside a message": frame(TEXT, b"{", fin=False) + frame(TEXT, b"}"),
}


@pytest.mark.parametrize("what", BROKEN_FRAMES)
async def test_rfc_6455_a_broken_frame_ends_only_its_own_connection(server, session, what):
    async with await Bystander.join(server, session) as bystander:
        async with await RawSocket.websocket(server) as raw:
            culprit = await connected(raw, server, session)
            await bystander.expect("connectionCreated")
            await raw.send(BROKEN_FRAMES[what])
            # 1002 or no close frame at all. An object would mean that the server accepted the frame.
            answer = await raw.frame()
            while answer and answer[0] == TEXT and b'"disconnected"' in answer[1]:
                answer = await raw.frame()
            assert answer is None or answer[0] == CLOSE and answer[1][:2] == (1002).to_bytes(2, "big"), answer
        await bystander.expect("connectionDestroyed", connectionId=culprit, reason="networkDisconnected")
        await bystander.is_unaffected()


@pytest.mark.parametrize(
    "payload",
    [
        b"\x03", (999).to_bytes(2, "big"), (1005).to_bytes(2, "big"), (65535).to_bytes(2, "big"),
        (1000).to_bytes(2, "big") + b"\xff",
    ],
    ids=repr,
)
async def test_rfc_6455_a_broken_close_frame_ends_only_its_own_connection(server, session, payload):
    async with await Bystander.join(server, session) as bystander, await RawSocket.websocket(server) as raw:
        culprit = await connected(raw, server, session)
        await raw.send(frame(CLOSE, payload))
        await raw.ends()
        await bystander.expect("connectionCreated")
        await bystander.expect("connectionDestroyed", connectionId=culprit)
        await bystander.is_unaffected()


async def test_con_8_a_second_connect_is_refused_and_the_first_connection_continues(server, session):
    async with await Bystander.join(server, session) as bystander, await Client.join(server, session) as culprit:
        for key, other in (("100", server.project.session()), ("100", session), ("wrong", "wrong")):
            request = await culprit.request("connect", apiKey=key, sessionId=other, token=server.project.token(session))
            await culprit.refused(1015, "OT_ILLEGAL_STATE", request, retryable=False)
        await bystander.is_unaffected(culprit.id)
        assert (await culprit.signal())[0]["ev"] == "ack"


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


@pytest.mark.parametrize("members", [
    {"apiKey": 100}, {"apiKey": None}, {"sessionId": 5}, {"sessionId": None}, {"token": {}}, {"token": None},
    {"options": []}, {"options": "x"}, {"options": {"connectionEventsSuppressed": 1}}, {"options": None}, {"resume": 1},
    {"resume": {}}, {"resume": {"connectionId": 1, "secret": "s", "epoch": "e", "after": 1}},
    {"resume": {"connectionId": "c", "secret": "s", "epoch": "e", "after": "1"}},
], ids=str)  # fmt: skip
async def test_con_3_a_connect_of_the_wrong_shape_is_answered_as_a_bad_line(server, session, members):
    async with await Client.open(server) as client:
        await client.send(connect_line(server, session, **members))
        await client.refused(400, "OT_INVALID_PARAMETER", 1)
        await client.send(connect_line(server, session))
        await client.expect("connected")


def wrong_tokens(project, session):
    now = int(time.time())
    good, jwt = project.token(session), project.jwt_token(session)
    none = {"alg": "none", "typ": "JWT"}
    claims = base64url(json.dumps(project.jwt_claims(session)).encode())
    other = project.session()
    return {
        "empty": "",
        "nonsense": "T1==!!!",
        "T1 without content": "T1==",
        "not ASCII": "T1==é",
        "forged": project.token(session, secret="another"),
        "forged jwt": project.jwt_token(session, secret="another"),
        "expired": project.token(session, create_time=now - 7200, expire_time=now - 3600),
        "expired jwt": project.jwt_token(session, iat=now - 7200, exp=now - 3600),
        "from the future": project.token(session, create_time=now + 3600, expire_time=now + 7200),
        "truncated": good[:-8],
        "truncated to a prefix": good[:40],
        "truncated jwt": jwt[:-4],
        "jwt without signature": jwt.rpartition(".")[0] + ".",
        "jwt of two parts": jwt.rpartition(".")[0],
        "alg none": base64url(json.dumps(none).encode()) + "." + claims + ".",
        "alg none, signed": project.jwt_token(session, header=none),
        "alg NoNe": project.jwt_token(session, header={"alg": "NoNe"}),
        "RS256 signed with HMAC": project.jwt_token(session, header={"alg": "RS256", "typ": "JWT"}),
        "HS512 by name": project.jwt_token(session, header={"alg": "HS512", "typ": "JWT"}),
        "no alg": project.jwt_token(session, header={"typ": "JWT"}),
        "of another session": project.token(other),
        "jwt of another session": project.jwt_token(other),
        "unknown role": project.token(session, role="admin"),
        "unknown jwt role": project.jwt_token(session, role="admin"),
        "of another project": project.jwt_token(session, iss="101"),
        "for accounts": project.jwt_token(session, ist="account"),
        "of another scope": project.jwt_token(session, scope="session.other"),
        "without exp and iat": project.jwt_token(session, exp=None, iat=None),
        "without exp, of yesterday": project.jwt_token(session, exp=None, iat=now - 86_400 - 60),
        "without session": project.jwt_token(session, session_id=None),
        "exp as text": project.jwt_token(session, exp=str(now + 100)),
        "expire_time as text": project.token(session, expire_time="tomorrow"),
        "expire_time too great": project.token(session, expire_time=10**30),
        "credentials of a backend": project.credentials(),
    }


async def test_con_3_tok_2_tok_3_tok_5_every_wrong_token_is_refused_with_1004(server, session):
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


async def test_tok_4_clocks_may_differ_by_thirty_seconds(server, session):
    now = int(time.time())
    for token in (
        server.project.token(session, create_time=now - 100, expire_time=now - 10),
        server.project.jwt_token(session, iat=now - 100, exp=now - 10),
        server.project.token(session, create_time=now + 10, expire_time=now + 100),
        server.project.jwt_token(session, iat=now + 10, exp=now + 100),
        server.project.token(session, expire_time=None, role=None),
        server.project.jwt_token(session, role=None),
    ):
        async with await Client.join(server, session, token=token) as client:
            assert client.connected["role"] == "publisher"


async def test_tok_2_without_expire_time_a_token_lives_a_day(server, session):
    now = int(time.time())
    day = 24 * 3600
    async with await Client.join(
        server, session, token=server.project.token(session, create_time=now - day + 60, expire_time=None)
    ):
        pass
    late = server.project.token(session, create_time=now - day - 60, expire_time=None)
    await refuses(server, session, 1004, "OT_AUTHENTICATION_ERROR", token=late)


async def test_tok_1_tok_6_a_session_id_with_either_prefix_is_accepted_whoever_created_it(server):
    """The test creates the ids itself, as another backend would."""
    for prefix in ("1_", "2_"):
        session = server.project.session(prefix)
        async with await Client.join(server, session) as client:
            assert (await client.signal())[0]["ev"] == "ack"


# Upgrades and requests that are not the WebSocket of the protocol


async def test_wire_1_the_subprotocol_is_required_and_confirmed(server):
    async with await RawSocket.open(server) as raw:
        await raw.send(handshake(Sec_WebSocket_Protocol="other, signalbox.v1, more"))
        head = await raw.head()
        assert head.startswith("HTTP/1.1 101 ")
        assert "\r\nsec-websocket-protocol: signalbox.v1\r\n" in head.lower()
        assert "sec-websocket-extensions" not in head.lower()


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
        handshake(Sec_WebSocket_Protocol="other"),
        handshake(Sec_WebSocket_Protocol="signalbox.v2"),
        handshake(Sec_WebSocket_Protocol=""),
        handshake(Sec_WebSocket_Protocol="SIGNALBOX.V1x, signalbox"),
        handshake("/v1/other"),
        handshake("/"),
        handshake("/v1/signaling/"),
        handshake("/v1/signalingx"),
        handshake(Sec_WebSocket_Key=None),
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


async def test_wire_1_a_plain_get_of_the_socket_path_is_answered(server):
    assert server.request("GET", "/v1/signaling").status == 426


async def test_wire_1_a_query_after_the_path_is_ignored(server):
    async with await RawSocket.open(server) as raw:
        await raw.send(handshake("/v1/signaling?x=1"))
        assert (await raw.head()).startswith("HTTP/1.1 101 ")


@pytest.mark.parametrize(
    "garbage",
    [
        b"\0" * 64, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100, b"hello\r\n\r\n",
        b"\r\n" * 50 + b"x\r\n\r\n",
        b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 4000 + b"\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://elsewhere/ HTTP/1.1\r\nHost: elsewhere\r\n\r\n", b"CONNECT localhost:1 HTTP/1.1\r\n\r\n",
        bytes(range(256)) * 8 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: \0\xff\xfe\r\n\r\n",
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
