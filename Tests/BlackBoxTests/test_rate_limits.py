"""Rate limits of a connection: docs/PROTOCOL.md SIG-10 to SIG-12, and what the server drops under load (G5, G6)."""

import asyncio
import contextlib
import itertools
import json
import time

import pytest

from cluster import nodes
from raw_socket import STALLED_BUFFER, RawSocket
from server_process import Server
from signalbox_client import Bystander, Client, connect_line


async def test_sig_12_g_8_online_only_signals_are_relayed_at_one_a_second(server, session):
    """The rest is dropped: each signal is acknowledged, nothing is stored, and the connection continues (G6)."""
    async with await Bystander.join(server, session) as bob, await Client.join(server, session) as ada:
        await bob.expect("connectionCreated")
        received = []

        async def receive():
            while not received or received[-1]["type"] != "end":
                received.append(await bob.next())

        receiving = asyncio.create_task(receive())
        started = time.monotonic()
        # Ten at a time, until three are relayed after the burst of five: the number of signals and the time that they
        # take depend on the machine, the relayed rate does not.
        count, events, first = 0, [], None
        while (count < 200 or len(received) < 8) and not receiving.done():
            last = time.monotonic()
            for _ in range(10):
                count += 1
                request = await ada.request("signal", type=f"typing{count}", data='{"from":"bob"}', onlineOnly=True)
            answer, before = await ada.answer(request)
            first = first or time.monotonic()
            events += [*before, answer]
        answer, before = await ada.signal(type="end")
        events += before
        seconds = time.monotonic() - started
        assert answer["seq"] == 3, "an online-only signal has no seq"
        acks = [event for event in events if event["ev"] == "ack"]
        assert len(acks) == count and not any("seq" in ack for ack in acks)
        await receiving
        relayed = received[:-1]
        assert all(event["from"] == ada.id and "seq" not in event for event in relayed), "G8"
        # The server has handled the first ten before `first`, and the last ten after `last`.
        assert 4 + (last - first) <= len(relayed) <= 5 + seconds, "five at once, then one a second"
        async with await Client.join(server, session) as late:
            assert late.connected["seq"] == 4
            await bob.expect("connectionCreated")
            assert (await late.signal(type="x"))[1][0]["type"] == "x"
        assert (await ada.signal(type="alive"))[0]["ev"] == "ack"


async def test_sig_12_in_a_large_session_typing_signals_are_dropped_and_chat_is_delivered():
    with Server("--online-only-limit", "2") as server:
        session = server.project.session()
        async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
            await ada.expect("connectionCreated")
            await ada.signal(type="typing", data="relayed", onlineOnly=True)
            await bob.expect("signal", data="relayed")
            eve = await Client.join(server, session)
            await bob.expect("connectionCreated")
            answer, _ = await ada.signal(type="typing", data="dropped", onlineOnly=True)
            assert answer == {"ev": "ack", "id": answer["id"]}
            await ada.signal(type="chat", data="hello")
            await bob.expect("signal", type="chat", data="hello")
            await eve.leave()
            await bob.expect("connectionDestroyed")
            await ada.signal(type="typing", data="again", onlineOnly=True)
            await bob.expect("signal", data="again")


async def test_g_5_g_6_a_stalled_reader_misses_typing_signals_and_receives_every_message():
    """While a reader stalls, the server drops online-only signals for it, and keeps every other signal."""
    with Server("--log-bytes", 32 << 20, "--log-events", "4096", "--signal-rate", "0") as server:
        session = server.project.session()
        raw = await RawSocket.websocket(server, receive_buffer=STALLED_BUFFER)
        await raw.send_text(connect_line(server, session))
        await raw.objects()
        raw.writer.transport.pause_reading()
        async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
            await ada.expect("connectionCreated")
            receiving = asyncio.create_task(types_until_end(bob))
            count = 0
            for _ in range(2):
                # Send more than the buffers between server and reader hold.
                for _ in range(100):
                    lines = [
                        {
                            "op": "signal", "id": count + n + 100, "type": "chat", "data": str(count + n) + "x" * 8000
                        } for n in range(8)
                    ]
                    await ada.send("\n".join(map(json.dumps, lines)))
                    count += 8
                    answer, _ = await ada.answer(count + 99)
                    assert answer["ev"] == "ack"
                await ada.signal(type="typing", data="begin", onlineOnly=True)
            await ada.signal(type="end")
            types = await receiving
            assert types.count("chat") == count and types.count("typing") == 2, "the other receiver gets both kinds"
            raw.writer.transport.resume_reading()
            chats, typing = [], []
            while len(chats) < count:
                for event in await raw.objects():
                    if event.get("type") == "chat":
                        chats.append(int(event["data"].rstrip("x")))
                    elif event.get("type") == "typing":
                        typing.append(event)
            assert chats == list(range(count)), "G1, G3"
            assert typing == [], "G6: it would be late"
        raw.writer.transport.abort()


async def types_until_end(client):
    types = []
    while not types or types[-1] != "end":
        types.append((await client.next()).get("type"))
    return types


async def test_sig_11_err_2_signals_over_the_rate_are_refused_and_the_connection_continues():
    with Server("--signal-rate", "10", "--signal-burst", "20") as server:
        session = server.project.session()
        async with await Bystander.join(server, session) as bob, await Client.join(server, session) as ada:
            await bob.expect("connectionCreated")
            started = time.monotonic()
            await ada.send(
                "\n".join(json.dumps({"op": "signal", "id": n, "type": "x", "data": str(n)}) for n in range(100, 150))
            )
            answers, signals = [], []
            while len(answers) < 50:
                event = await ada.next()
                (signals if event["ev"] == "signal" else answers).append(event)
            seconds = time.monotonic() - started
            assert [answer["id"] for answer in answers] == list(range(100, 150)), "WIRE-8"
            accepted = [answer for answer in answers if answer["ev"] == "ack"]
            refused = [answer for answer in answers if answer["ev"] == "error"]
            # The burst, and what the bucket gained while the server handled them.
            assert 20 <= len(accepted) <= 21 + 10 * seconds and len(refused) == 50 - len(accepted)
            assert {
                (each["code"], each["name"], each["retryable"]) for each in refused
            } == {(429, "OT_RATE_LIMIT_EXCEEDED", True)}
            assert [
                int(event["data"]) for event in signals
            ] == [answer["id"] for answer in accepted], "ERR-2: a refused signal has no effect"
            for answer in accepted:
                await bob.expect("signal", data=str(answer["id"]))
            await bob.is_unaffected()
            # Signals by REST are not limited.
            for _ in range(30):
                assert server.rest("POST", server.session_path(session, "/signal"), {"data": "rest"}).status == 204
            for client in (ada, bob):
                count = 0
                while count < 30:
                    count += (await client.next()).get("data") == "rest"


async def test_sig_11_development_mode_has_no_rate_limit_and_a_project_has_a_generous_one(dev_server):
    room = dev_server.room("limits")

    async def refused(at, **access):
        async with await Client.join(at, **access) as ada:
            await ada.send("\n".join('{"op":"signal","id":%d}' % n for n in range(1000, 2000)))
            await ada.send("\n".join('{"op":"signal","id":%d}' % n for n in range(2000, 3000)))
            answers = []
            while len(answers) < 2000:
                event = await ada.next()
                if event["ev"] in ("ack", "error"):
                    answers.append(event)
            return [answer["id"] for answer in answers if answer["ev"] == "error"]

    assert await refused(dev_server, session=room["sessionId"], token=room["token"], key=room["apiKey"]) == []
    with Server() as server:
        limited = await refused(server, session=server.project.session())
    assert 0 < len(limited) <= 1000 and min(limited) >= 2000


@pytest.mark.parametrize("node_count", [1, 2])
async def test_sig_11_connecting_again_does_not_renew_the_signals_of_a_token(node_count):
    """The connections with one token share five bursts, one after the other and at once. Others have their own."""

    async def accepted(client, count=10):
        await client.send("\n".join('{"op":"signal","id":%d,"to":"%s"}' % (n, client.id) for n in range(100, 100 + count)))
        answers = []
        while len(answers) < count:
            event = await client.next()
            if event["ev"] in ("ack", "error"):
                answers.append(event)
        assert {answer["code"] for answer in answers if answer["ev"] == "error"} <= {429}
        return sum(answer["ev"] == "ack" for answer in answers)

    # So slow that the machine's speed does not matter: a token gains a signal in 0.2 s, a connection in 1 s.
    limits = ("--signal-rate", "1", "--signal-burst", "10")
    with contextlib.ExitStack() as stack:
        if node_count == 1:
            servers = [stack.enter_context(Server(*limits))]
        else:
            _, servers = stack.enter_context(nodes(node_count, *limits))
        server, turns = servers[0], itertools.cycle(servers)
        session = server.project.session()
        token, other = server.project.token(session), server.project.token(session)
        started = time.monotonic()
        count = 0
        for _ in range(4):
            async with await Client.join(next(turns), session, token=token) as ada:
                count += await accepted(ada)
                # The session is empty afterwards, and begins anew.
                await ada.leave()
        async with (
            await Client.join(next(turns), session, token=token) as ada,
            await Client.join(next(turns), session, token=token) as twin,
        ):
            count += await accepted(ada) + await accepted(twin)
            count += await accepted(ada)
        seconds = time.monotonic() - started
        assert 50 <= count <= 51 + 5 * seconds, "seven bursts without the rule"
        async with await Client.join(server, session, token=other) as bob:
            assert await accepted(bob) == 10
