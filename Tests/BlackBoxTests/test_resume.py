"""A lost socket and the next one: docs/PROTOCOL.md, section 8."""

import json

import pytest

from server_process import Server
from signalbox_client import Client, reconnect


@pytest.fixture(scope="module")
def long_windows():
    """A server with the default resume and recovery windows."""
    with Server(log_level="trace") as server:
        yield server


async def test_res_2_res_4_res_5_g_7_a_lost_connection_is_resumed_and_other_clients_see_nothing(long_windows):
    session = long_windows.project.session()
    async with await Client.join(long_windows, session) as bob:
        ada = await Client.join(long_windows, session)
        await bob.expect("connectionCreated", seq=2)
        assert ada.connected["resume"]["resumeSeconds"] == 60 and ada.connected["resume"]["recoverySeconds"] == 300
        ada.socket.transport.abort()
        await bob.signal(type="chat", data="all")
        await bob.signal(type="chat", data="her", to=ada.id)
        await bob.signal(type="chat", data="himself", to=bob.id)
        await bob.signal(type="typing", onlineOnly=True)
        async with await reconnect(long_windows, session, ada, after=2) as back:
            connected = back.connected
            assert connected["outcome"] == "resumed" and connected["connection"] == ada.me
            assert connected["connections"] == [ada.me]
            assert connected["seq"] == 2 and connected["replayThrough"] == 5
            assert connected["resume"]["secret"] != ada.connected["resume"]["secret"]
            for seq, data in [(3, "all"), (4, "her")]:
                await back.expect("signal", seq=seq, data=data, **{"from": bob.id})
            answer, events = await back.signal(type="chat", data="I am back")
            assert answer["seq"] == 6 and [event["data"] for event in events] == ["I am back"]
        assert (
            await bob.next()
        ).get("type") == "typing", "its own signal, and no presence event of the lost connection"
        await bob.expect("signal", seq=6, **{"from": ada.id})
        await bob.expect("connectionDestroyed", seq=7, reason="clientDisconnected")


async def test_res_6_the_old_secret_is_void_once_the_client_has_used_the_new_socket(long_windows):
    session = long_windows.project.session()
    ada = await Client.join(long_windows, session)
    back = await reconnect(long_windows, session, ada, after=1)
    assert back.connected["outcome"] == "resumed"
    await back.signal(type="x")
    async with back:
        # RES-8: a connect with a replaced secret may be a late one, and is told so once.
        late = await Client.open(long_windows)
        resume = {
            "connectionId": ada.id, "secret": ada.connected["resume"]["secret"], "epoch": ada.connected["epoch"],
            "after": 1,
        }
        token = long_windows.project.token(session)
        await late.request("connect", apiKey=long_windows.project.key, sessionId=session, token=token, resume=resume)
        code, events = await late.closed()
        assert (code, events[-1]["reconnect"]) == (4004, True)
        async with await reconnect(long_windows, session, ada, after=1) as intruder:
            assert intruder.connected["outcome"] == "lost"
            assert intruder.id != ada.id


async def test_res_8_a_newer_socket_takes_over_and_the_older_one_is_closed_with_4004_and_may_come_back(long_windows):
    session = long_windows.project.session()
    ada = await Client.join(long_windows, session)
    async with await reconnect(long_windows, session, ada, after=1) as back:
        code, events = await ada.closed()
        assert code == 4004
        assert events == [{"ev": "disconnected", "reason": "networkDisconnected", "reconnect": True}]
        assert back.connected["outcome"] == "resumed"
        assert (await back.signal(type="x"))[0]["ev"] == "ack"


async def test_res_9_g_3_a_request_that_is_sent_again_is_carried_out_once(long_windows):
    session = long_windows.project.session()
    async with await Client.join(long_windows, session) as bob:
        ada = await Client.join(long_windows, session)
        await bob.expect("connectionCreated")
        answer, _ = await ada.signal(type="chat", data="once")
        again = answer["id"]
        ada.socket.transport.abort()
        async with await reconnect(long_windows, session, ada, after=answer["seq"]) as back:
            await back.send(json.dumps({"op": "signal", "id": again, "type": "chat", "data": "once"}))
            assert await back.next() == {"ev": "ack", "id": again, "seq": answer["seq"]}
            await back.signal(type="chat", data="twice")
        await bob.expect("signal", seq=3, data="once")
        await bob.expect("signal", seq=4, data="twice")


async def test_res_2_res_12_after_the_resume_window_a_client_recovers_and_after_the_recovery_window_it_has_lost():
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
            async with await reconnect(server, session, ada, after=2) as back:
                connected = back.connected
                assert connected["outcome"] == "recovered" and back.id != ada.id
                assert connected["connections"] == [bob.me, back.me]
                assert await back.expect("signal", data="missed", connection=eve.me)
                answer, events = await back.signal(type="x")
                assert [
                    event["ev"] for event in events
                ] == ["signal"], "presence events of the time between are not replayed"
            async with await reconnect(server, session, ada, after=2) as third:
                assert third.connected["outcome"] == "lost", "a resume ticket is valid once"
    with Server(resume_seconds=0, recovery_seconds=0) as server:
        session = server.project.session()
        async with await Client.join(server, session) as bob:
            ada = await Client.join(server, session)
            await bob.expect("connectionCreated")
            ada.socket.transport.abort()
            await bob.expect("connectionDestroyed")
            async with await reconnect(server, session, ada, after=2) as back:
                assert back.connected["outcome"] == "lost"


async def test_res_16_after_a_log_overrun_a_client_learns_what_is_missing_and_gets_the_rest():
    with Server(signal_rate=0, log_events=64) as server:
        session = server.project.session()
        async with await Client.join(server, session) as bob:
            ada = await Client.join(server, session)
            await bob.expect("connectionCreated", seq=2)
            ada.socket.transport.abort()
            for number in range(100):
                answer, _ = await bob.signal(type="chat", data=str(number))
            assert answer["seq"] == 102
            async with await reconnect(server, session, ada, after=2) as back:
                connected = back.connected
                assert connected["outcome"] == "lost" and back.id != ada.id
                # With the end of the old connection and the beginning of the new one, the log ends at 104.
                assert connected["missing"] == {"first": 3, "last": 40}
                assert connected["seq"] == 40 and connected["replayThrough"] == 103
                for seq in range(41, 103):
                    await back.expect("signal", seq=seq, data=str(seq - 3), connection=bob.me)
                answer, events = await back.signal(type="x")
                assert [event["ev"] for event in events] == ["signal"], "no presence event of the time between"


async def test_res_2_g_4_a_restart_without_saved_state_is_reported_as_lost():
    with Server() as server:
        session = server.project.session()
        ada = await Client.join(server, session)
    with Server() as server:
        async with await reconnect(server, session, ada, after=1) as back:
            assert back.connected["outcome"] == "lost"
            assert back.connected["epoch"] != ada.connected["epoch"]


@pytest.mark.waiting
async def test_pres_4_a_client_that_asks_for_it_learns_that_another_is_away_and_that_it_is_back():
    """A connection is away ten seconds after the loss of its socket."""
    with Server() as server:
        await one_is_away_and_comes_back(server)


async def one_is_away_and_comes_back(server):
    session = server.project.session()
    asking = {"connectionAwayEvents": True}
    async with (
        await Client.join(server, session, options=asking) as bob, await Client.join(server, session) as eve
    ):
        ada = await Client.join(server, session)
        assert bob.connected["away"] == [] and "away" not in eve.connected
        for seq in (2, 3):
            await bob.expect("connectionCreated", seq=seq)
        await eve.expect("connectionCreated", seq=3)
        ada.socket.transport.abort()
        assert await bob.expect("connectionAway") == {"ev": "connectionAway", "connectionId": ada.id}
        async with await Client.join(server, session, options=asking) as dan:
            assert dan.connected["away"] == [ada.id]
            async with await reconnect(server, session, ada, after=3) as back:
                assert back.connected["outcome"] == "resumed" and "away" not in back.connected
                assert await dan.expect("connectionBack") == {"ev": "connectionBack", "connectionId": ada.id}
                await bob.expect("connectionCreated", seq=4)
                await bob.expect("connectionBack", connectionId=ada.id)
        answer, events = await eve.signal(type="x")
        assert {event["ev"] for event in events} == {"connectionCreated", "connectionDestroyed", "signal"}
