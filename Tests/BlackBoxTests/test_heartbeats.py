"""Heartbeats and the server's timeouts: docs/PROTOCOL.md CON-2, section 7 and G5.

Most of these tests take several heartbeats. Each starts its clock before it connects, so that a lower bound always
holds. The only upper bound is the deadline of a wait, which suits a slow machine: `ConnectionStateTests` hold the exact
times.
"""

import asyncio
import time

import pytest

from server_process import DEADLINE, Server
from signalbox_client import Bystander, Client
from waiting import suspended

HEARTBEAT_SECONDS = 10


@pytest.mark.waiting
async def test_con_2_a_client_that_does_not_connect_within_ten_seconds_is_closed_with_4003(server):
    started = time.monotonic()
    async with await Client.open(server) as silent, await Client.open(server) as talkative:
        # A refused request does not count as a connect.
        await talkative.refused(500, "OT_NOT_CONNECTED", await talkative.request("signal"))
        codes = await asyncio.gather(silent.closed(), talkative.closed())
        assert [code for code, _ in codes] == [4003, 4003]
        assert 9.9 < time.monotonic() - started


@pytest.mark.waiting
async def test_hb_3_a_client_that_answers_no_ping_is_closed_with_4001_and_one_that_does_is_kept(server):
    session = server.project.session()
    started = time.monotonic()
    async with await Bystander.join(server, session) as alive, await Client.join(server, session) as deaf:
        await alive.expect("connectionCreated")
        deaf.answers_pings = False
        # `alive` receives nothing but pings, which it answers, until the connection of `deaf` expires.
        await alive.expect("connectionDestroyed", connectionId=deaf.id, reason="networkDisconnected")
        assert 2 * HEARTBEAT_SECONDS - 0.1 < time.monotonic() - started
        code, events = await deaf.closed()
        assert code == 4001
        pings = [event for event in events if event["ev"] == "ping"]
        assert pings and all(event == {"ev": "ping", "seq": 2} for event in pings), "HB-1, HB-2"
        ends = [event for event in events if event["ev"] == "disconnected"]
        assert ends == [{"ev": "disconnected", "reason": "networkDisconnected", "reconnect": True}]
        await alive.is_unaffected()


@pytest.mark.waiting
async def test_hb_3_a_server_that_was_stopped_for_more_than_two_heartbeats_keeps_its_clients(server):
    """Its timers fire first when it runs again. The clients' answers wait in the system's buffers."""
    with Server() as own:
        session = own.project.session()
        async with await Client.join(own, session) as ada, await Client.join(own, session) as bob:
            with suspended(own.pid):
                await asyncio.sleep(2 * HEARTBEAT_SECONDS + 2)
            await ada.expect("connectionCreated", connection=bob.me)
            for client in (ada, bob):
                assert (await client.signal(to=client.id))[0]["ev"] == "ack"


@pytest.mark.waiting
async def test_hb_3_a_websocket_ping_is_answered_but_only_a_text_message_is_a_sign_of_life(server):
    async with await Client.join(server, server.project.session()) as client:
        client.answers_pings = False
        await client.expect("ping")
        # Sent a heartbeat after the last text message. As a sign of life it would keep the socket open for two more
        # pings.
        await asyncio.wait_for(await client.socket.ping(), DEADLINE)
        code, events = await client.closed()
        assert code == 4001
        assert len([event for event in events if event["ev"] == "ping"]) <= 1
