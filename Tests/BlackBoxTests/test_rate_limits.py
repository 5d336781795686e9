"""Rate limits of a connection: docs/PROTOCOL.md SIG-10 to SIG-12, and what the server drops under load (G5, G6)."""

import asyncio
import json
import time


from raw_socket import STALLED_BUFFER, RawSocket
from server_process import Server
from signalbox_client import Bystander, Client, connect_line


async def test_g_5_g_6_a_stalled_reader_misses_typing_signals_and_receives_every_message():
    """While a reader stalls, the server drops online-only signals for it, and keeps every other signal."""
    with Server("--log-bytes", 32 << 20, "--log-events", "4096", "--signal-rate", "0") as server:
        session = server.project.session()
        raw = await RawSocket.websocket(server, receive_buffer=STALLED_BUFFER)
        await raw.send_text(connect_line(server, session))
        await raw.objects()
        raw.writer.transport.pause_reading()
        async with (
            await Client.join(server, session) as ada, await Client.join(server, session) as bob, raw.signs_of_life()
        ):
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
