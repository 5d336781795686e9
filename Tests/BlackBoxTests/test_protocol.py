"""The protocol, rule by rule, with clients that follow it."""

import re
import time

import pytest

from server_process import Server
from signalbox_client import Client

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


async def test_sig_5_role_comes_before_data_and_shape_before_role(server, session):
    async with await Client.join(server, session, role="publisheronly") as quiet:
        assert (await quiet.signal(data="a" * 8193))[0]["code"] == 403
        assert (await quiet.signal(type="a b", to=""))[0]["code"] == 403
        assert (await quiet.signal(data=5))[0]["code"] == 400


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
