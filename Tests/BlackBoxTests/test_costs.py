"""What a client may cost before and after its token: docs/PROTOCOL.md CON-13, WIRE-4, WIRE-15, REST-6 and RES-12."""

import asyncio
import json

import pytest

from credentials import Project
from raw_socket import TEXT, RawSocket, frame
from server_process import Server
from signalbox_client import Bystander, Client, connect_line


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


@pytest.mark.waiting
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


@pytest.mark.waiting
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
