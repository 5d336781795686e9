"""The protocol, rule by rule, with clients that follow it."""

import asyncio
import re
import time

import pytest

from raw_socket import CLOSE, RawSocket, frame
from server_process import Server
from signalbox_client import Client, connect_line, join_all, refuses

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)


async def test_con_5_con_7_connected_has_every_member_of_the_specification(server, session):
    async with await Client.join(server, session, data="name=Ada") as ada:
        connected = ada.connected
        assert connected["id"] == 1
        assert UUID4.fullmatch(ada.id)
        assert ada.me["data"] == "name=Ada"
        assert abs(ada.me["creationTime"] - time.time() * 1000) < 60_000
        assert connected["connections"] == [ada.me]
        assert connected["role"] == "publisher"
        assert isinstance(connected["epoch"], str) and connected["epoch"]
        assert connected["seq"] == 1
        assert connected["outcome"] == "new"
        assert connected["resume"]["resumeSeconds"] == 1 and connected["resume"]["recoverySeconds"] == 300
        assert len(connected["resume"]["secret"]) >= 16
        assert connected["heartbeatSeconds"] == 10
        assert connected["limits"] == {"typeLength": 128, "dataLength": 8192}


async def test_con_3_a_full_session_refuses_clients_with_1027_until_one_leaves():
    with Server("--session-connections", "2") as server:
        project = server.project
        session = project.session()
        async with await Client.join(server, session) as ada:
            async with await Client.join(server, session):
                async with await Client.open(server) as third:
                    token = project.token(session)
                    request = await third.request("connect", apiKey=project.key, sessionId=session, token=token)
                    await third.refused(1027, "OT_CONNECTION_LIMIT_EXCEEDED", request, retryable=True)
                    assert await third.closed() == (4005, [])
                async with await Client.join(server, project.session()):
                    pass
                await ada.expect("connectionCreated")
            await ada.expect("connectionDestroyed")
            async with await Client.join(server, session) as cy:
                assert len(cy.connected["connections"]) == 2


@pytest.mark.parametrize("make", ["token", "jwt_token"])
@pytest.mark.parametrize(
    "role, publish, subscribe, moderate",
    [("subscriber", 0, 1, 0), ("publisher", 1, 1, 0), ("moderator", 1, 1, 1), ("publisheronly", 1, 0, 0)],
)
async def test_con_10_capabilities_follow_the_role(server, session, make, role, publish, subscribe, moderate):
    token = getattr(server.project, make)(session, role, "who=é")
    async with await Client.join(server, session, token=token) as client:
        assert client.connected["role"] == role
        assert client.connected["capabilities"] == {
            "publish": publish,
            "subscribe": subscribe,
            "forceDisconnect": moderate,
            "forceUnpublish": moderate,
            "forceMute": moderate,
        }
        assert client.me["data"] == "who=é"
        answer, events = await client.signal(type="a")
        if role == "publisheronly":
            assert (answer["code"], answer["name"], answer["retryable"]) == (403, "OT_PERMISSION_DENIED", False)
            assert events == []
        else:
            assert answer["ev"] == "ack"


async def test_con_5_creation_times_are_strictly_increasing(server, session):
    clients = await join_all(server, [session] * 40)
    last = max(clients, key=lambda client: client.connected["seq"])
    times = [connection["creationTime"] for connection in last.connected["connections"]]
    assert len(times) == 40
    assert times == sorted(set(times))
    by_seq = sorted(clients, key=lambda client: client.connected["seq"])
    assert [client.id for client in by_seq] == [each["connectionId"] for each in last.connected["connections"]]
    assert len({client.connected["epoch"] for client in clients}) == 1
    assert len({client.connected["resume"]["secret"] for client in clients}) == 40
    await asyncio.gather(*(client.socket.close() for client in clients))


async def test_sig_4_sig_6_a_broadcast_reaches_every_client_and_then_its_sender_gets_the_ack(server, session):
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        await ada.expect("connectionCreated", seq=2, connection=bob.me)
        request = await bob.request("signal", type="chat", data="hello")
        event = {"ev": "signal", "seq": 3, "from": bob.id, "type": "chat", "data": "hello"}
        assert await ada.next() == event
        assert await bob.next() == event
        assert await bob.next() == {"ev": "ack", "id": request, "seq": 3}


async def test_sig_4_sig_7_sig_8_a_directed_signal_reaches_only_its_target(server, session):
    async with (
        await Client.join(server, session) as ada,
        await Client.join(server, session) as bob,
        await Client.join(server, session) as eve,
    ):
        await ada.expect("connectionCreated", seq=2)
        await ada.expect("connectionCreated", seq=3)
        await bob.expect("connectionCreated", seq=3)
        # SIG-8: the other clients see a gap in the numbers, and the sender sees its ack alone.
        request = await ada.request("signal", type="psst", data="x", to=bob.id)
        assert await ada.next() == {"ev": "ack", "id": request, "seq": 4}
        assert await bob.next() == {"ev": "signal", "seq": 4, "from": ada.id, "type": "psst", "data": "x", "to": bob.id}
        request = await eve.request("signal", type="all")
        for client in (ada, bob, eve):
            assert await client.next() == {"ev": "signal", "seq": 5, "from": eve.id, "type": "all"}
        assert await eve.next() == {"ev": "ack", "id": request, "seq": 5}
        # A sender that names itself receives the signal.
        request = await eve.request("signal", data="note", to=eve.id)
        assert await eve.next() == {"ev": "signal", "seq": 6, "from": eve.id, "data": "note", "to": eve.id}
        assert await eve.next() == {"ev": "ack", "id": request, "seq": 6}


async def test_wire_6_wire_7_sig_1_absent_members_stay_absent_and_unknown_ones_are_ignored(server, session):
    async with await Client.join(server, session) as ada:
        for sent, seen in [
            ({}, {}),
            ({"type": ""}, {}),
            ({"data": "d"}, {"data": "d"}),
            ({"type": "t"}, {"type": "t"}),
            ({"onlineOnly": False}, {}),
            ({"type": "t", "unknown": {"x": [1]}}, {"type": "t"}),  # WIRE-6
        ]:
            answer, events = await ada.signal(**sent)
            assert events == [{"ev": "signal", "seq": answer["seq"], "from": ada.id} | seen], sent


async def test_wire_7_empty_data_is_delivered(server, session):
    async with await Client.join(server, session) as ada:
        answer, events = await ada.signal(type="t", data="")
        assert events == [{"ev": "signal", "seq": answer["seq"], "from": ada.id, "type": "t", "data": ""}]


async def test_wire_3_wire_5_several_objects_in_one_message_are_handled_in_order(server, session):
    async with await Client.join(server, session) as ada:
        await ada.send(
            '\n{"op":"signal","id":7,"data":"1"}\n\n{"op":"signal","id":8,"to":""}\n{"op":"nonsense","id":9}\n'
            '\r\n{"id":10,"data":"2","op":"signal"}\n{"op":"pong"}\n{"op":"disconnect","id":11}'
        )
        await ada.expect("signal", seq=2, data="1")
        await ada.expect("ack", id=7, seq=2)
        await ada.refused(400, "OT_INVALID_PARAMETER", 8)
        await ada.refused(400, "OT_INVALID_PARAMETER", 9)
        # A line of "\r" alone is not an object.
        await ada.refused(400, "OT_INVALID_PARAMETER")
        await ada.expect("signal", seq=3, data="2")
        await ada.expect("ack", id=10, seq=3)
        assert await ada.next() == {"ev": "ack", "id": 11}
        assert await ada.next() == {"ev": "disconnected", "reason": "clientDisconnected", "reconnect": False}
        assert await ada.closed() == (1000, [])


async def test_wire_8_each_answer_carries_the_id_of_its_request(server, session):
    async with await Client.join(server, session) as ada:
        for number in (0, -1, 2**53, 2**63 - 1, -(2**63)):
            await ada.send('{"op":"signal","id":%d,"to":""}' % number)
            await ada.refused(400, "OT_INVALID_PARAMETER", number)
        for no_integer in ('"1"', "1.5", "null", "[]", str(2**63), "1e400"):
            await ada.send('{"op":"signal","id":%s,"to":""}' % no_integer)
            await ada.refused(400, "OT_INVALID_PARAMETER", None)


async def test_g_1_g_2_every_client_receives_the_same_order_and_acks_follow_their_events(server, session):
    senders = await asyncio.gather(*(Client.join(server, session) for _ in range(8)))
    each = 50

    async def talk(client, number):
        for index in range(each):
            await client.request("signal", type="n", data=f"{number}.{index}")

    async def receive(client):
        seen, acks = [], []
        while len(seen) < each * len(senders) or len(acks) < each:
            event = await client.next()
            if event["ev"] == "signal":
                seen.append((event["seq"], event["from"], event["data"]))
            elif event["ev"] == "ack":
                assert seen and seen[-1][0] >= event["seq"] and event["seq"] in [s[0] for s in seen], "SIG-6"
                acks.append(event["seq"])
            else:
                assert event["ev"] == "connectionCreated"
        assert acks == [seq for seq, sender, _ in seen if sender == client.id]
        return seen

    received = await asyncio.gather(
        *(receive(client) for client in senders), *(talk(c, n) for n, c in enumerate(senders))
    )
    first = received[0]
    assert all(seen == first for seen in received[: len(senders)])
    assert [seq for seq, _, _ in first] == list(range(first[0][0], first[0][0] + each * len(senders)))
    for number, client in enumerate(senders):
        assert [data for _, sender, data in first if sender == client.id] == [f"{number}.{i}" for i in range(each)]
    await asyncio.gather(*(client.socket.close() for client in senders))


async def test_sig_2_sig_3_a_signal_at_its_limits_is_delivered_unchanged_and_one_over_them_is_refused(server, session):
    """The Swift tests read all of Tests/Vectors/limits."""
    async with await Client.join(server, session) as ada:
        for members in ({"type": "a.b-_~9" + "x" * 121}, {"data": "a" * 8192}, {"data": "😀" * 4096}):
            answer, events = await ada.signal(**members)
            assert answer["ev"] == "ack" and events[0] | members == events[0]
        for members, code in (
            ({"type": "a b"}, 400), ({"type": "x" * 129}, 413), ({"data": "a" * 8193}, 413), ({"data": "😀" * 4096 + "a"}, 413)
        ):
            answer, events = await ada.signal(**members)
            assert (answer["code"], answer["name"], answer["retryable"], events) == (code, "OT_INVALID_PARAMETER", False, [])


@pytest.mark.parametrize(
    "members, code, because",
    [
        ({"data": 1, "type": "x" * 129}, 400, "shape before everything else"),
        ({"data": "a" * 8193, "to": "", "type": "a b"}, 413, "data before target"),
        ({"to": "", "type": "x" * 129}, 400, "target before type"),
        ({"to": "nobody", "type": "x" * 129}, 413, "type before presence"),
        ({"to": "nobody", "type": "a b"}, 400, "type before presence"),
        ({"to": "00000000-0000-4000-8000-000000000000"}, 404, "no such connection"),
    ],
)
async def test_sig_5_err_1_the_first_check_that_fails_is_reported(server, session, members, code, because):
    async with await Client.join(server, session) as ada:
        answer, events = await ada.signal(**members)
        name = "OT_NOT_FOUND" if code == 404 else "OT_INVALID_PARAMETER"
        assert (answer.get("code"), answer.get("name"), events) == (code, name, []), because


async def test_sig_5_role_comes_before_data_and_shape_before_role(server, session):
    async with await Client.join(server, session, role="publisheronly") as quiet:
        assert (await quiet.signal(data="a" * 8193))[0]["code"] == 403
        assert (await quiet.signal(type="a b", to=""))[0]["code"] == 403
        assert (await quiet.signal(data=5))[0]["code"] == 400


async def test_sig_4_a_connection_of_another_session_is_not_found(server, session):
    async with await Client.join(server, session) as ada, await Client.join(server, server.project.session()) as far:
        answer, _ = await ada.signal(to=far.id)
        assert (answer["code"], answer["name"], answer["retryable"]) == (404, "OT_NOT_FOUND", False)
        _, events = await far.signal(type="mine")
        assert [event["type"] for event in events] == ["mine"]


async def test_sig_10_an_online_only_signal_has_no_seq_and_uses_none(server, session):
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        await ada.expect("connectionCreated", seq=2)
        request = await ada.request("signal", type="typing", data="1", onlineOnly=True)
        expected = {"ev": "signal", "from": ada.id, "type": "typing", "data": "1"}
        seen = [await ada.next(), await ada.next()]
        assert {"ev": "ack", "id": request} in seen
        assert [
            event | {"onlineOnly": None} for event in seen if event["ev"] == "signal"
        ] == [expected | {"onlineOnly": None}]
        received = await bob.next()
        assert "seq" not in received and {name: received[name] for name in expected} == expected
        request = await ada.request("signal", type="typing", to=bob.id, onlineOnly=True)
        assert await ada.next() == {"ev": "ack", "id": request}
        received = await bob.next()
        assert "seq" not in received and received["to"] == bob.id
        # It is not part of the order: the next signal has the next seq.
        answer, events = await ada.signal(type="kept")
        assert answer["seq"] == 3
        answer, _ = await ada.signal(to="nobody", onlineOnly=True)
        assert answer["code"] == 404
        assert (await ada.signal(type="a b", onlineOnly=True))[0]["code"] == 400


async def test_sig_10_g_6_of_several_waiting_online_only_signals_the_newest_is_delivered(server, session):
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        await ada.expect("connectionCreated", seq=2)
        lines = ['{"op":"signal","id":%d,"type":"typing","data":"%d","onlineOnly":true}' % (n, n) for n in range(2, 6)]
        lines.append('{"op":"signal","id":99,"type":"other","onlineOnly":true}')
        await ada.send("\n".join(lines))
        events = []
        while len([event for event in events if event["ev"] == "ack"]) < 5:
            events.append(await ada.next())
        assert [event["id"] for event in events if event["ev"] == "ack"] == [*range(2, 6), 99]
        await ada.signal(type="end")
        received = []
        while not received or received[-1].get("type") != "end":
            received.append(await bob.next())
        typing = [event["data"] for event in received if event.get("type") == "typing"]
        # Each at most once, never out of order, and the newest one in any case.
        assert typing[-1] == "5" and typing == sorted(set(typing), key=int)
        assert [event.get("type") for event in received].count("other") == 1


async def test_sig_13_json_is_passed_on_and_the_data_is_not_parsed(server, session):
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        await ada.expect("connectionCreated")
        for data in ('{"a":1}', "not JSON", ""):
            await ada.signal(data=data, json=True)
            assert (await bob.expect("signal", data=data))["json"] is True
        await ada.signal(data="{}", json=False)
        assert "json" not in await bob.expect("signal", data="{}")
        await ada.signal(data="{}", json=True, onlineOnly=True, to=bob.id)
        assert (await bob.expect("signal", data="{}"))["json"] is True
        await ada.refused(400, "OT_INVALID_PARAMETER", await ada.request("signal", json="yes"))


async def test_sig_9_con_4_with_suppressed_events_each_signal_carries_its_sender(server, session):
    async with await Client.join(server, session, data="Ada") as ada:
        quiet = {"connectionEventsSuppressed": True}
        async with await Client.join(server, session, data="Bob", options=quiet) as bob:
            assert bob.connected["connections"] == [bob.me]
            await ada.expect("connectionCreated", connection=bob.me)
            eve = await Client.join(server, session)
            await ada.expect("connectionCreated", connection=eve.me)
            await eve.leave()
            await ada.expect("connectionDestroyed", connectionId=eve.id)
            answer, events = await ada.signal(type="chat", data="hi")
            assert events == [{"ev": "signal", "seq": answer["seq"], "from": ada.id, "type": "chat", "data": "hi"}]
            assert await bob.next() == events[0] | {"connection": ada.me}
            await ada.request("signal", to=bob.id)
            await bob.expect("signal", to=bob.id, connection=ada.me, **{"from": ada.id})
            await ada.request("signal", type="typing", onlineOnly=True)
            await bob.expect("signal", type="typing", connection=ada.me)
            answer, events = await bob.signal(type="own")
            assert events == [
                {"ev": "signal", "seq": answer["seq"], "from": bob.id, "type": "own", "connection": bob.me}
            ]


async def test_pres_1_pres_2_each_arrival_and_departure_is_reported_once_with_its_reason(server, session):
    async with await Client.join(server, session) as ada:
        ways = {
            "clientDisconnected": [
                Client.leave, lambda c: c.socket.close(1000), lambda c: c.socket.close(1001), lambda c: c.socket.close()
            ],
            "networkDisconnected": [lambda c: c.socket.close(3000), lambda c: c.socket.close(1011), abort],
        }
        seq = ada.connected["seq"]
        for reason, leavings in ways.items():
            for leave in leavings:
                bob = await Client.join(server, session, data="Bob")
                assert bob.connected["connections"] == [ada.me, bob.me]
                assert bob.connected["seq"] == seq + 1
                await leave(bob)
                assert await ada.next() == {"ev": "connectionCreated", "seq": seq + 1, "connection": bob.me}
                assert await ada.next() == {
                    "ev": "connectionDestroyed", "seq": seq + 2, "connectionId": bob.id, "reason": reason
                }
                seq += 2
        answer, events = await ada.signal()
        assert answer["seq"] == seq + 1 and len(events) == 1


async def abort(client):
    client.socket.transport.abort()


async def test_g_7_pres_1_each_short_connection_is_reported_once_and_leaves_nothing_behind(server, session):
    async with await Client.join(server, session) as ada:
        for _ in range(5):
            await asyncio.gather(*(join_and_leave(server, session) for _ in range(20)))
        created, destroyed = [], []
        while len(destroyed) < 100:
            event = await ada.next()
            if event["ev"] == "connectionCreated":
                created.append(event["connection"]["connectionId"])
            else:
                assert event["ev"] == "connectionDestroyed" and event["connectionId"] in created
                destroyed.append(event["connectionId"])
        assert sorted(created) == sorted(destroyed) == sorted(set(created))
        async with await Client.join(server, session) as late:
            assert late.connected["connections"] == [ada.me, late.me]
            assert late.connected["seq"] == 202


async def join_and_leave(server, session):
    await (await Client.join(server, session)).leave()


async def test_pres_2_a_close_frame_without_a_code_means_clientDisconnected(server, session):
    async with await Client.join(server, session) as ada, await RawSocket.websocket(server) as raw:
        await raw.send_text(connect_line(server, session))
        await raw.objects()
        await ada.expect("connectionCreated")
        await raw.send(frame(CLOSE))
        await ada.expect("connectionDestroyed", reason="clientDisconnected")


async def test_pres_3_no_event_of_a_connection_follows_its_connectionDestroyed(server, session):
    async with await Client.join(server, session) as ada:
        bob = await Client.join(server, session)
        await ada.expect("connectionCreated")
        await bob.send(
            '{"op":"signal","id":2,"type":"typing","onlineOnly":true}\n{"op":"signal","id":3,"type":"last"}\n'
            '{"op":"disconnect","id":4}\n{"op":"signal","id":5,"type":"too-late"}'
        )
        assert (await bob.closed())[0] == 1000
        received = [await ada.next()]
        while received[-1]["ev"] != "connectionDestroyed":
            received.append(await ada.next())
        assert [event.get("type") for event in received if "seq" in event] == ["last", None]
        _, events = await ada.signal(type="end")
        assert [event.get("type") for event in events] == ["end"]


async def test_leave_2_leave_3_only_a_moderator_may_force_another_client_to_disconnect(server, session):
    async with await Client.join(server, session, role="moderator") as mod, await Client.join(server, session) as bob:
        await mod.expect("connectionCreated")
        await bob.refused(
            1520, "OT_PERMISSION_DENIED", await bob.request("forceDisconnect", connectionId=mod.id), retryable=False
        )
        for unknown in ("nobody", "", "00000000-0000-4000-8000-000000000000"):
            request = await mod.request("forceDisconnect", connectionId=unknown)
            await mod.refused(1011, "OT_INVALID_PARAMETER", request, retryable=False)
        await mod.refused(400, "OT_INVALID_PARAMETER", await mod.request("forceDisconnect"))
        await mod.refused(400, "OT_INVALID_PARAMETER", await mod.request("forceDisconnect", connectionId=1))
        # LEAVE-3, LEAVE-4
        request = await mod.request("forceDisconnect", connectionId=bob.id)
        assert await bob.closed() == (4502, [{"ev": "disconnected", "reason": "forceDisconnected", "reconnect": False}])
        answer, events = await mod.answer(request)
        assert answer == {"ev": "ack", "id": request}
        events = events or [await mod.next()]
        assert events == [
            {"ev": "connectionDestroyed", "seq": 3, "connectionId": bob.id, "reason": "forceDisconnected"}
        ]
        # A moderator may disconnect itself.
        request = await mod.request("forceDisconnect", connectionId=mod.id)
        code, events = await mod.closed()
        assert code == 4502
        assert {"ev": "disconnected", "reason": "forceDisconnected", "reconnect": False} == events[-1]
        assert {"ev": "ack", "id": request} in events


async def test_leave_2_a_moderator_of_another_session_finds_no_connection(server, session):
    async with (
        await Client.join(server, server.project.session(), role="moderator") as mod,
        await Client.join(server, session) as bob,
    ):
        await mod.refused(1011, "OT_INVALID_PARAMETER", await mod.request("forceDisconnect", connectionId=bob.id))
        assert (await bob.signal())[0]["ev"] == "ack"


@pytest.mark.parametrize("make", ["token", "jwt_token"])
async def test_tok_limits_connection_data_of_1024_units_is_accepted_and_one_more_unit_is_refused(server, session, make):
    make = getattr(server.project, make)
    for data in ("a" * 1024, "😀" * 512, "\0\u2028" * 512):
        async with await Client.join(server, session, token=make(session, data=data)) as client:
            assert client.me["data"] == data
    for data in ("a" * 1025, "😀" * 512 + "a"):
        await refuses(server, session, 1004, "OT_AUTHENTICATION_ERROR", token=make(session, data=data))


async def test_tok_limits_a_token_of_16384_bytes_is_accepted_and_a_longer_one_is_refused(server, session):
    def of_length(length):
        # A longer nonce makes a longer token: base64 turns three bytes into four.
        extra = (length - 5) // 4 * 3 - 400
        while len(token := server.project.token(session, nonce="9" * extra)) < length:
            extra += 1
        return token

    longest = of_length(16384)
    assert len(longest) == 16384
    async with await Client.join(server, session, token=longest):
        pass
    longer = of_length(16385)
    assert len(longer) == 16388
    await refuses(server, session, 1004, "OT_AUTHENTICATION_ERROR", token=longer)


async def test_g_3_a_thousand_receivers_receive_each_broadcast_once(server, session):
    # Without presence: a million connectionCreated events would mostly load this test.
    receivers = await join_all(server, [session] * 1000, options={"connectionEventsSuppressed": True})
    async with await Client.join(server, session) as ada:
        assert len(ada.connected["connections"]) == 1001
        count = 5

        async def signals(client):
            seen = []
            while not seen or seen[-1] != "end":
                event = await client.next()
                assert event["ev"] == "signal" and event["connection"] == ada.me, event
                seen.append(event["data"])
            return seen

        receiving = [asyncio.create_task(signals(client)) for client in receivers]
        for number in range(count):
            assert (await ada.signal(data=str(number)))[0]["ev"] == "ack"
        await ada.signal(data="end")
        for seen in await asyncio.gather(*receiving):
            assert seen == [*map(str, range(count)), "end"]
    for client in receivers:
        client.socket.transport.abort()
