"""Coming back on a new socket: docs/PROTOCOL.md section 8."""

import json

import pytest

from server_process import Server
from signalbox_client import Client


@pytest.fixture(scope="module")
def patient():
    """With the windows that a server has by default."""
    with Server(log_level="trace") as server:
        yield server


async def come_back(server, session, old, after, secret=None, **members):
    """Connects with what `old` held."""
    client = await Client.open(server)
    client.ids = old.ids
    resume = {
        "connectionId": old.id, "secret": secret or old.connected["resume"]["secret"],
        "epoch": old.connected["epoch"], "after": after,
    }
    request = await client.request(
        "connect", apiKey=server.project.key, sessionId=session, resume=resume,
        **{"token": server.project.token(session)} | members,
    )
    client.connected, events = await client.answer(request)
    assert events == [], "RES-4: nothing comes before"
    return client


async def test_res_2_a_cut_connection_is_resumed_and_nobody_else_notices(patient):
    session = patient.project.session()
    async with await Client.join(patient, session) as bob:
        ada = await Client.join(patient, session)
        await bob.expect("connectionCreated", seq=2)
        assert ada.connected["resume"]["resumeSeconds"] == 60 and ada.connected["resume"]["recoverySeconds"] == 300
        ada.socket.transport.abort()
        await bob.signal(type="chat", data="all")
        await bob.signal(type="chat", data="her", to=ada.id)
        await bob.signal(type="chat", data="himself", to=bob.id)
        await bob.signal(type="typing", onlineOnly=True)
        async with await come_back(patient, session, ada, after=2) as back:
            connected = back.connected
            assert connected["outcome"] == "resumed" and connected["connection"] == ada.me
            assert connected["connections"] == [ada.me]
            assert connected["seq"] == 2 and connected["replayThrough"] == 5
            assert connected["resume"]["secret"] != ada.connected["resume"]["secret"]
            for seq, data in [(3, "all"), (4, "her")]:
                await back.expect("signal", seq=seq, data=data, **{"from": bob.id})
            answer, events = await back.signal(type="chat", data="I am back")
            assert answer["seq"] == 6 and [event["data"] for event in events] == ["I am back"]
        assert (await bob.next()).get("type") == "typing", "the echo of his own, and nothing of her being away"
        await bob.expect("signal", seq=6, **{"from": ada.id})
        await bob.expect("connectionDestroyed", seq=7, reason="clientDisconnected")


async def test_res_6_the_old_secret_opens_nothing_once_the_new_one_is_known(patient):
    session = patient.project.session()
    ada = await Client.join(patient, session)
    back = await come_back(patient, session, ada, after=1)
    assert back.connected["outcome"] == "resumed"
    await back.signal(type="x")
    async with back, await come_back(patient, session, ada, after=1) as thief:
        assert thief.connected["outcome"] == "lost"
        assert thief.id != ada.id


async def test_res_8_the_newer_socket_wins_and_the_older_is_told(patient):
    session = patient.project.session()
    ada = await Client.join(patient, session)
    async with await come_back(patient, session, ada, after=1) as back:
        code, events = await ada.closed()
        assert code == 4504
        assert events == [{"ev": "disconnected", "reason": "networkDisconnected", "reconnect": False}]
        assert back.connected["outcome"] == "resumed"
        assert (await back.signal(type="x"))[0]["ev"] == "ack"


async def test_res_9_a_request_that_is_sent_again_is_carried_out_once(patient):
    session = patient.project.session()
    async with await Client.join(patient, session) as bob:
        ada = await Client.join(patient, session)
        await bob.expect("connectionCreated")
        answer, _ = await ada.signal(type="chat", data="once")
        again = answer["id"]
        ada.socket.transport.abort()
        async with await come_back(patient, session, ada, after=answer["seq"]) as back:
            await back.send(json.dumps({"op": "signal", "id": again, "type": "chat", "data": "once"}))
            assert await back.next() == {"ev": "ack", "id": again, "seq": answer["seq"]}
            await back.signal(type="chat", data="twice")
        await bob.expect("signal", seq=3, data="once")
        await bob.expect("signal", seq=4, data="twice")


async def test_res_2_late_is_recovered_and_later_is_lost():
    with Server(resume_seconds=0, recovery_seconds=300) as server:
        session = server.project.session()
        async with await Client.join(server, session) as bob:
            ada = await Client.join(server, session)
            await bob.expect("connectionCreated")
            ada.socket.transport.abort()
            await bob.expect("connectionDestroyed", reason="networkDisconnected")
            eve = await Client.join(server, session, data="name=Eve")
            await eve.signal(type="chat", data="missed")
            await eve.leave()
            async with await come_back(server, session, ada, after=2) as back:
                connected = back.connected
                assert connected["outcome"] == "recovered" and back.id != ada.id
                assert connected["connections"] == [bob.me, back.me]
                assert await back.expect("signal", data="missed", connection=eve.me)
                answer, events = await back.signal(type="x")
                assert [event["ev"] for event in events] == ["signal"], "no presence of the time between"
            async with await come_back(server, session, ada, after=2) as third:
                assert third.connected["outcome"] == "lost", "a ticket is good once"
    with Server(resume_seconds=0, recovery_seconds=0) as server:
        session = server.project.session()
        async with await Client.join(server, session) as bob:
            ada = await Client.join(server, session)
            await bob.expect("connectionCreated")
            ada.socket.transport.abort()
            await bob.expect("connectionDestroyed")
            async with await come_back(server, session, ada, after=2) as back:
                assert back.connected["outcome"] == "lost"


async def test_res_2_g4_after_a_restart_without_its_state_the_loss_is_told():
    with Server() as server:
        session = server.project.session()
        ada = await Client.join(server, session)
    with Server() as server:
        async with await come_back(server, session, ada, after=1) as back:
            assert back.connected["outcome"] == "lost"
            assert back.connected["epoch"] != ada.connected["epoch"]


async def test_res_10_one_forced_out_while_away_is_told_when_it_comes_back(patient):
    session = patient.project.session()
    async with await Client.join(patient, session, role="moderator") as mod:
        ada = await Client.join(patient, session)
        await mod.expect("connectionCreated")
        ada.socket.transport.abort()
        request = await mod.request("forceDisconnect", connectionId=ada.id)
        await mod.answer(request)
        again = await Client.open(patient)
        resume = {
            "connectionId": ada.id, "secret": ada.connected["resume"]["secret"], "epoch": ada.connected["epoch"], "after": 2,
        }
        token = patient.project.token(session)
        await again.request("connect", apiKey="100", sessionId=session, token=token, resume=resume)
        code, events = await again.closed()
        assert code == 4502
        assert events == [{"ev": "disconnected", "reason": "forceDisconnected", "reconnect": False}]


@pytest.mark.parametrize(
    "resume",
    [
        None, [], "x", {}, {"connectionId": "x"}, {"connectionId": 1, "secret": "x", "epoch": "e", "after": 1},
        {"connectionId": "x", "secret": "x", "epoch": "e", "after": -1},
        {"connectionId": "x", "secret": "x", "epoch": "e", "after": 9223372036854775807},
        {"connectionId": "x", "secret": "x", "epoch": "e", "after": "1"},
    ],
    ids=repr,
)
async def test_res_1_a_resume_of_the_wrong_shape_is_400_and_may_be_said_again(patient, resume):
    session = patient.project.session()
    async with await Client.open(patient) as ada:
        token = patient.project.token(session)
        request = await ada.request("connect", apiKey="100", sessionId=session, token=token, resume=resume)
        await ada.refused(400, "OT_INVALID_PARAMETER", request)
        request = await ada.request("connect", apiKey="100", sessionId=session, token=token)
        await ada.expect("connected", id=request, outcome="new")


async def test_res_3_nonsense_of_the_right_shape_is_lost(patient):
    session = patient.project.session()
    async with await Client.open(patient) as ada:
        resume = {"connectionId": "", "secret": "\u0000" * 1000, "epoch": "é", "after": 9223372036854775806}
        request = await ada.request(
            "connect", apiKey="100", sessionId=session, token=patient.project.token(session), resume=resume
        )
        await ada.expect("connected", id=request, outcome="lost")
