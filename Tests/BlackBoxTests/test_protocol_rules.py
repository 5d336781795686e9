"""Rules of docs/PROTOCOL.md about every connection.

Write coalescing, origins, replay, refused requests, and foreign session ids.
"""

import json
import urllib.parse

import pytest

from credentials import base64url
from signalbox_client import Bystander, Client
from test_resume import reconnect


async def test_wire_11_all_pending_lines_go_out_in_one_text_message(server, session):
    """Twenty signals in one message: their echoes and acknowledgements come back in one message, too."""
    async with await Client.join(server, session) as ada:
        requests = [{"op": "signal", "id": next(ada.ids), "type": "chat", "data": str(number)} for number in range(20)]
        received = ada.message_count
        await ada.send("\n".join(map(json.dumps, requests)))
        lines = [await ada.next() for _ in range(2 * len(requests))]
        assert ada.message_count == received + 1
        assert [line["data"] for line in lines if line["ev"] == "signal"] == [str(number) for number in range(20)]
        assert [line["id"] for line in lines if line["ev"] == "ack"] == [request["id"] for request in requests]


@pytest.mark.parametrize(
    "op, members, code",
    [
        ("signal", {"type": "no spaces"}, 400),
        ("signal", {"data": "x" * 8193}, 413),
        ("signal", {"type": "chat", "to": "nobody"}, 404),
        ("signal", {"type": "chat", "data": 1}, 400),
        ("forceDisconnect", {"connectionId": "nobody"}, 1520),
        ("connect", {"apiKey": "100", "sessionId": "1_", "token": "T1=="}, 1015),
    ],
)
async def test_err_2_a_refused_request_changes_nothing_and_others_do_not_notice(server, session, op, members, code):
    async with await Bystander.join(server, session) as bob, await Client.join(server, session) as ada:
        before = (await ada.signal(type="chat"))[0]["seq"]
        answer, events = await ada.answer(await ada.request(op, **members))
        assert (answer["ev"], answer["code"], events) == ("error", code, [])
        assert (await ada.signal(type="chat"))[0]["seq"] == before + 1, "the refused request has no seq"
        _, received = await bob.signal(type="bystander")
        assert [event["seq"] for event in received if event.get("from") == ada.id] == [before, before + 1]
        assert {event["ev"] for event in received} == {"connectionCreated", "signal"}


async def test_tok_6_a_session_id_made_elsewhere_opens_with_a_token_for_exactly_this_id(server):
    """OpenTok's ids: with a location, another mode, and the creation time of another clock."""
    key = server.project.key
    foreign = ["2_" + base64url("~".join(fields).encode()) for fields in (
        ["1", key, "10.1.2.3", "1400000000000", "0.5", "R", "", ""],
        ["1", key, "", "4102444800000", "made elsewhere", "P", "", ""],
    )]  # fmt: skip
    for session in foreign:
        async with await Client.join(server, session) as client:
            assert (await client.signal(type="chat"))[0]["ev"] == "ack"
    error = await Client.denied(server, foreign[0], server.project.token(foreign[1]))
    assert error["code"] == 1004
    unsigned = await Client.denied(server, foreign[0], server.project.token(foreign[0], secret="another secret"))
    assert unsigned["code"] == 1004


async def test_wire_17_the_session_in_the_url_is_that_of_the_connect_or_the_connect_is_refused(server):
    """A client that names none goes on as ever."""
    session, other = server.project.session(), server.project.session()
    named = urllib.parse.quote(session, safe="")
    encoded = "".join(f"%{byte:02X}" for byte in session.encode())
    queries = ["", f"?sessionId={named}", f"?sessionId={encoded}", f"?a=b&sessionId={named}&sessionId={other}", "?x=1"]
    for query in queries:
        async with await Client.join(server, session, socket={"query": query}) as client:
            assert (await client.signal(type="chat"))[0]["ev"] == "ack", query
    for query in (f"?sessionId={other}", f"?sessionId={other}&sessionId={named}", f"?sessionId={named}x", "?sessionId=x"):
        async with await Client.open(server, query) as client:
            token = server.project.token(session)
            request = await client.request("connect", apiKey=server.project.key, sessionId=session, token=token)
            error = await client.expect("error", id=request)
            assert (error["code"], error["retryable"]) == (1005, False) and "another session" in error["message"], query
            assert (await client.closed())[0] == 4501


async def test_con_11_a_client_that_asks_for_pages_gets_the_list_of_connections_in_pages(server):
    session = server.project.session()
    options = {"connectionPages": True}
    async with await Client.join(server, session, options=options) as first:
        assert first.connected["connections"] == [first.me] and "connectionCount" not in first.connected
        data = "x" * 1_000
        members = [first]
        for _ in range(120):
            members.append(await Client.join(server, session, data=data, options={"connectionEventsSuppressed": True}))
        async with await Client.join(server, session, options=options) as last:
            assert last.connected["connections"] == [last.me] and last.connected["connectionCount"] == 122
            listed, rests = [], []
            while not rests or rests[-1] > 0:
                page = await last.expect("connections")
                listed += page["connections"]
                rests.append(page["rest"])
                assert len(page["connections"]) <= 1_000 and len(json.dumps(page["connections"])) <= 262_144
            assert listed == [member.me for member in members]
            assert len(rests) > 1 and rests == sorted(rests, reverse=True)
            answer, events = await last.signal(type="x")
            assert [event["ev"] for event in events] == ["signal"], "newer events follow the list"
            async with await reconnect(server, session, last, after=answer["seq"], options=options) as back:
                assert back.connected["outcome"] == "resumed" and "connectionCount" not in back.connected
                answer, events = await back.signal(type="y")
                assert [event["ev"] for event in events] == ["signal"], "no list after resumed"
        async with await Client.join(server, session) as plain:
            assert plain.connected["connections"][:121] == [member.me for member in members], "the form of all others"
        for member in members[1:]:
            await member.leave()


async def test_con_12_a_connected_client_refreshes_its_token_and_a_refused_one_changes_nothing(server):
    project, session = server.project, server.project.session()
    async with await Client.join(server, session, role="publisher", data="Ada") as ada:
        request = await ada.request("refreshToken", token=project.token(session, "publisher", "Ada"))
        assert await ada.expect("ack", id=request) == {"ev": "ack", "id": request}
        wrong = [
            "T1==nonsense", project.token(session, "moderator", "Ada"), project.token(session, "publisher", "Bob"),
            project.token(project.session(), "publisher", "Ada"),
        ]
        for token in wrong:
            request = await ada.request("refreshToken", token=token)
            await ada.refused(1004, "OT_AUTHENTICATION_ERROR", request, retryable=False)
        answer, _ = await ada.signal(type="x")
        assert answer["ev"] == "ack", "the connection continues"
