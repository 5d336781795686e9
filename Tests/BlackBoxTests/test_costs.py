"""What a client may cost before and after its token: docs/PROTOCOL.md CON-13, WIRE-4, WIRE-15, REST-6 and RES-12."""

import asyncio
import json
import time

import pytest

from credentials import Project
from raw_socket import CONTINUATION, TEXT, RawSocket, frame
from server_process import Server
from signalbox_client import Bystander, Client, connect_line, join_all, reconnect
from webhook_receiver import Receiver, closed_port


def values(count):
    """A line that is costly only to parse: a `pong` of this many values."""
    return '{"op":"pong","x":[' + ",".join(["[]"] * (count - 3)) + "]}"


async def test_wire_4_g_5_a_line_of_1000_values_is_accepted_and_one_more_is_refused(server, session):
    async with await Bystander.join(server, session) as bystander, await Client.join(server, session) as culprit:
        await culprit.send(values(1000))
        await culprit.send(values(1001))
        assert "too many values" in (await culprit.refused(400, "OT_INVALID_PARAMETER"))["message"]
        await bystander.is_unaffected(culprit.id)


def test_rest_6_g_5_a_body_of_100_values_is_accepted_and_one_more_is_refused(server, session):
    for count, status in ((100, 404), (101, 400)):
        body = {"type": "a", "x": [[]] * (count - 3)}
        assert server.rest("POST", server.session_path(session, "/signal"), body).status == status


async def test_con_13_a_message_of_20480_bytes_is_accepted_before_connect_and_one_more_byte_is_refused(server, session):
    async with await Client.open(server) as client:
        line = connect_line(server, session)
        await client.send(line[:-1] + " " * (20_480 - len(line)) + "}")
        next(client.ids)
        client.connected = await client.expect("connected")
        # A connected client may send more.
        await client.send('{"op":"pong","x":"' + "x" * 60_000 + '"}')
        assert (await client.signal(to=client.id))[0]["ev"] == "ack"
    for message in [frame(TEXT, b"x" * 20_481), frame(TEXT, b"x" * 65_536)[:15]]:
        async with await RawSocket.websocket(server) as raw:
            await raw.send(message)
            assert await raw.close_code() == 1009


@pytest.mark.parametrize("line", ['{"op":"pong"}', "", "\n\n", '{"op":"signal","id":1}', "oops"], ids=repr)
async def test_con_13_the_tenth_line_before_connect_closes_with_4503(server, session, line):
    async with await Client.open(server) as client:
        for _ in range(9):
            await client.send(line)
        await client.send(connect_line(server, session))
        while (await client.next())["ev"] != "connected":
            pass
    async with await Client.open(server) as client:
        for _ in range(10):
            await client.send(line)
        assert (await client.closed())[0] == 4503


async def test_wire_15_lines_over_the_rate_wait_and_none_is_lost():
    """The rate is 200 lines a second, 200 at once. The time limit is a lower one: a slow machine only makes it longer."""
    with Server(log_level="debug") as server:
        session = server.project.session()
        async with await Bystander.join(server, session) as bystander, await Client.join(server, session) as ada:
            loop = asyncio.get_running_loop()
            begin = loop.time()
            for _ in range(8):
                await ada.send("\n".join(['{"op":"signal","id":1,"to":"nobody"}'] * 100))
            await bystander.is_unaffected(ada.id)
            codes = []
            while len(codes) < 800:
                event = await ada.next()
                if event["ev"] == "error":
                    codes.append(event["code"])
            # 200 at once, then 600 at 200 a second. These signals are within their own rate.
            assert loop.time() - begin > 2.9
            assert set(codes) == {404}
            assert (await ada.signal(type="alive"))[0]["ev"] in ("ack", "error")


async def test_wire_15_a_client_that_connects_again_does_not_get_a_new_rate():
    """The rate is 200 lines a second, 200 at once. Each connection uses its allowance and leaves."""
    with Server() as server:
        session = server.project.session()
        token = server.project.token(session)
        flood = "\n".join(['{"op":"signal","id":1,"to":"nobody"}'] * 100)
        loop = asyncio.get_running_loop()
        begin, answers = loop.time(), 0
        while answers < 800:
            client = await Client.join(server, session, token=token)
            await client.send(flood)
            # Others wait behind them when the client leaves, and are dropped.
            await client.send(flood)
            await client.send(flood)
            for _ in range(100):
                while (await client.next())["ev"] != "error":
                    pass
                answers += 1
            client.socket.transport.abort()
        # 200 at once, then 600 at 200 a second. A slow machine only makes it longer.
        assert loop.time() - begin > 2.5
        # Another token is not affected.
        async with await Client.join(server, session, data="other") as other:
            assert (await other.signal(to=other.id))[0]["ev"] == "ack"


def test_rest_6_a_project_over_its_rate_gets_429_and_no_other_project_does(tmp_path):
    file = tmp_path / "projects.json"
    projects = [{"apiKey": key, "secrets": [f"a secret of project {key}, 32 bytes"]} for key in ("100", "101")]
    file.write_text(json.dumps({"projects": projects, "requestRate": 1}))
    first, second = (Project(each["apiKey"], each["secrets"][0]) for each in projects)
    with Server("--config", file, project=first) as server:
        session = first.session()
        path = server.session_path(session, "/connection")
        # Requests without valid credentials do not count.
        for _ in range(10):
            assert server.rest("GET", path, token=second.credentials()).status == 403
        answers = [server.rest("GET", path) for _ in range(30)]
        assert {answer.status for answer in answers[:5]} == {200}
        refused = [answer for answer in answers if answer.status == 429]
        assert refused and int(refused[0].headers["Retry-After"]) == 1
        assert refused[0].json()["code"] == 429
        assert server.rest("POST", "/session/create", project=second).status in (200, 403)
        path = server.session_path(second.session(), "/connection", project=second)
        assert server.rest("GET", path, project=second).status == 200
        assert server.request("GET", "/livez").status == 200


@pytest.mark.parametrize("path", ["/admin/v1/connections?limit=1000", "/v2/project/100/session/{}/connection"])
async def test_rest_6_each_100_items_of_a_list_count_as_a_request(path):
    """The rate is one request a second, five at once. Without the items, five lists would be answered at once."""
    with Server("--request-rate", "1") as server:
        session = server.project.session()
        clients = await join_all(server, [session] * 100)
        began = time.monotonic()
        answers = [await asyncio.to_thread(server.rest, "GET", path.format(session)) for _ in range(5)]
        took = time.monotonic() - began
        assert answers[0].json()["count"] == 100
        answered = [answer.status for answer in answers].count(200)
        assert answered < 5 or took > 2, "five requests and five for their items, less what a slow machine gets back"
        await asyncio.gather(*(client.leave() for client in clients))


async def test_res_12_a_full_session_lets_lost_connections_give_way_before_it_refuses():
    with Server("--session-connections", "3") as server:
        session = server.project.session()
        shared, own = server.project.token(session), server.project.token(session, data="own")
        async with await Client.join(server, session, token=own) as ada:
            lost = []
            for token in (own, shared):
                lost.append(await Client.join(server, session, token=token))
                lost[-1].socket.transport.abort()
            # The session is full: ada, and two connections without a socket.
            first = await Client.join(server, session, token=shared)
            events = [await ada.next() for _ in range(4)]
            assert [(event["ev"], event.get("reason")) for event in events][-2:] == [
                ("connectionDestroyed", "networkDisconnected"), ("connectionCreated", None)
            ]
            assert events[-2]["connectionId"] == lost[1].id, "the connection of the same token gives way"
            second = await Client.join(server, session, token=shared)
            assert (await ada.next())["connectionId"] == lost[0].id
            await ada.expect("connectionCreated")
            assert (await Client.denied(server, session, shared))["code"] == 1027, "all connections have a socket"
            # The client that gave way recovers when there is room.
            await first.leave()
            await ada.expect("connectionDestroyed", connectionId=first.id)
            back = await reconnect(server, session, lost[1], lost[1].connected["seq"], token=shared)
            assert back.connected["outcome"] == "recovered"
            assert {each["connectionId"] for each in back.connected["connections"]} == {ada.id, second.id, back.id}


async def test_g_5_a_session_that_floods_the_webhooks_loses_no_event_of_another():
    """One session joins and leaves without an end, while the receiver is down."""
    bound, port = closed_port()
    settings = {"webhook_url": f"http://127.0.0.1:{port}/hooks", "webhook_retry_milliseconds": 1}
    with Server(webhook_queue_count=100, **settings) as server:
        flooded, quiet = server.project.session(), server.project.session()
        token = server.project.token(flooded)
        for number in range(100):
            await (await Client.join(server, flooded, token=token)).leave()
            if number % 20 == 0:
                await (await Client.join(server, quiet, data=str(number))).leave()
        bound.close()
        told = []
        with Receiver(port=port) as receiver:
            while len(told) < 5:
                post = receiver.next()
                if post.event["sessionId"] == quiet and post.name == "connectionDestroyed":
                    told.append(post.event["connection"]["data"])
        assert told == ["0", "20", "40", "60", "80"]


async def test_wire_15_each_further_frame_of_a_message_counts_as_a_line():
    """The rate is 200 lines a second, 200 at once: ten messages of 60 frames take 2 s. A slow machine takes longer."""
    text = b'{"op":"pong"}' + b" " * 47
    last = len(text) - 1
    pieces = [frame(CONTINUATION if at else TEXT, text[at : at + 1], fin=at == last) for at in range(len(text))]
    with Server() as server:
        session = server.project.session()
        async with await RawSocket.websocket(server) as raw:
            await raw.send_text(connect_line(server, session))
            await raw.objects()
            loop = asyncio.get_running_loop()
            begin = loop.time()
            await raw.send(b"".join(pieces) * 10)
            await raw.send_text('{"op":"signal","id":2}')
            while not any(event["ev"] == "ack" for event in await raw.objects()):
                pass
            assert loop.time() - begin > 1.9
