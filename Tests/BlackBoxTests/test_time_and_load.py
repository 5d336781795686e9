"""What takes its time: heartbeats, time-outs, slow readers, and the end of the server."""

import asyncio
import json
import pathlib
import signal
import subprocess
import time

import pytest

from raw_socket import CLOSE, TEXT, RawSocket, frame
from server_process import Server
from signalbox_client import Bystander, Client
from test_protocol import connect_line


@pytest.mark.waiting
async def test_con_2_who_does_not_connect_in_ten_seconds_is_closed_with_4500(server):
    async with await Client.open(server) as silent, await Client.open(server) as talkative:
        started = time.monotonic()
        # Requests that are refused are no connect.
        await talkative.refused(500, "OT_NOT_CONNECTED", await talkative.request("signal"))
        codes = await asyncio.gather(silent.closed(15), talkative.closed(15))
        assert [code for code, _ in codes] == [4500, 4500]
        assert 9 < time.monotonic() - started < 14


@pytest.mark.waiting
async def test_hb_3_who_never_answers_pings_is_closed_with_4001_and_who_does_stays(server):
    session = server.project.session()
    async with await Bystander.join(server, session) as alive, await Client.join(server, session) as deaf:
        await alive.expect("connectionCreated")
        deaf.answers_pings = False
        started = time.monotonic()
        lost = asyncio.create_task(deaf.closed(30))
        # `alive` hears nothing but pings, which it answers, until the other is gone.
        await alive.expect("connectionDestroyed", timeout=30, connectionId=deaf.id, reason="networkDisconnected")
        code, events = await lost
        assert code == 4001
        assert 18 < time.monotonic() - started < 26
        pings = [event for event in events if event["ev"] == "ping"]
        assert pings and all(event == {"ev": "ping", "seq": 2} for event in pings), "HB-2"
        told = [event for event in events if event["ev"] == "disconnected"]
        assert told == [{"ev": "disconnected", "reason": "networkDisconnected", "reconnect": True}]
        await alive.notices_nothing()


@pytest.mark.waiting
async def test_hb_3_anything_heard_is_a_sign_of_life(server):
    """Signals instead of pongs."""
    async with await Client.join(server, server.project.session()) as client:
        client.answers_pings = False
        started = time.monotonic()
        pings = 0
        while time.monotonic() - started < 25:
            event = await client.next(15)
            if event["ev"] == "ping":
                pings += 1
                await client.request("signal", type="alive")
        assert pings >= 2
        assert (await client.signal())[0]["ev"] == "ack"


@pytest.mark.waiting
async def test_hb_3_a_websocket_ping_is_answered_but_only_a_text_message_is_a_sign_of_life(server):
    async with await Client.join(server, server.project.session()) as client:
        client.answers_pings = False
        await client.expect("ping", timeout=15)
        await asyncio.wait_for(await client.socket.ping(), 5)
        code, _ = await client.closed(15)
        assert code == 4001


@pytest.mark.waiting
async def test_g_5_slow_requests_end_in_bounded_time(server):
    """A byte now and then does not hold a socket for ever: neither in the header block nor in the body nor with none at all."""
    credentials = server.project.credentials()
    post = f"POST /session/create HTTP/1.1\r\nHost: x\r\nX-OPENTOK-AUTH: {credentials}\r\nContent-Length: 60000\r\n\r\n"
    openings = {"nothing": b"", "half a header": b"GET / HTTP/1.1\r\nHost: x\r\nX: ", "half a body": post.encode()}

    async def drip(name, opening):
        async with await RawSocket.open(server) as raw:
            started = time.monotonic()
            if opening:
                await raw.send(opening)
            ending = asyncio.create_task(raw.ends(45))
            while not ending.done():
                if opening:
                    try:
                        await raw.send(b"x")
                    except ConnectionError:
                        break
                await asyncio.wait([ending], timeout=1)
            await ending
            return name, time.monotonic() - started

    for name, seconds in await asyncio.gather(*(drip(*each) for each in openings.items())):
        assert seconds < 40, name


@pytest.mark.waiting
async def test_g_5_a_websocket_that_does_nothing_at_all_ends(server):
    async with await RawSocket.websocket(server) as raw:
        assert await raw.close_code(15) == 4500
        # The answer to the close never comes; the server does not wait for ever.
        await raw.ends(15)


async def test_g_5_a_stalled_reader_delays_nobody_and_is_closed(server, session):
    """Somebody with a small buffer who never reads: others get everything, memory stays bounded, the sleeper is put out."""
    sleeper = await stalled(server, session)
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        before = server.memory()
        gone, sent, slowest = False, 0, 0.0
        deadline = time.monotonic() + 40
        data = "x" * 8000
        hearing = asyncio.create_task(hear_until_end(bob))
        while not gone:
            assert time.monotonic() < deadline, f"still there after {sent} signals"
            started = time.monotonic()
            requests = [await ada.request("signal", type="load", data=data) for _ in range(20)]
            for request in requests:
                answer, events = await ada.answer(request)
                assert answer["ev"] == "ack"
                gone = gone or any(event["ev"] == "connectionDestroyed" for event in events)
            sent += len(requests)
            slowest = max(slowest, time.monotonic() - started)
        await ada.signal(type="end")
        assert await hearing == sent, "nobody else loses anything"
        assert slowest < 5
        assert server.memory() - before < 100 << 20
        # CLOSE-1, 4002: it finds out when it reads at last.
        sleeper.writer.transport.resume_reading()
        assert await sleeper.close_code(20) == 4002
    sleeper.writer.transport.abort()


async def stalled(server, session):
    """A connection with a small buffer that has stopped reading."""
    raw = await RawSocket.websocket(server, receive_buffer=4096)
    await raw.send_text(connect_line(server, session))
    await raw.objects()
    raw.writer.transport.pause_reading()
    return raw


async def hear_until_end(client):
    count = 0
    while True:
        event = await client.next()
        if event.get("type") == "load":
            count += 1
        elif event.get("type") == "end":
            return count


async def test_g_5_who_asks_without_reading_answers_is_bounded(server, session):
    """WIRE-13, WIRE-14: a client that asks and never reads is not read from, does not fill the server's memory, and is closed with 4002
    when it has taken nothing for two heartbeats."""
    async with await Bystander.join(server, session) as bystander:
        raw = await stalled(server, session)
        created = await bystander.expect("connectionCreated")
        before = server.memory()
        batch = frame(TEXT, b"\n".join([b'{"op":"signal","id":1,"to":"nobody"}'] * 1500))
        sent = await write_until_stuck(raw, [batch] * 400)
        started = time.monotonic()
        assert 0 < sent < 400, "TCP pushes back"
        assert server.memory() - before < 16 << 20
        await bystander.expect("connectionDestroyed", timeout=40, connectionId=created["connection"]["connectionId"])
        # It was resumable for a second after it had been closed.
        assert 15 < time.monotonic() - started < 34
        raw.writer.transport.resume_reading()
        assert await raw.close_code(20) == 4002
        raw.writer.transport.abort()
        await bystander.notices_nothing()


async def write_until_stuck(raw, pieces):
    """Writes until nothing is taken any more for two seconds; how many pieces that were."""
    for count, piece in enumerate(pieces):
        raw.writer.write(piece)
        try:
            await asyncio.wait_for(raw.writer.drain(), 2)
        except TimeoutError:
            return count
    return len(pieces)


async def test_wire_13_a_hundred_thousand_requests_without_reading_are_all_answered_in_order(server, session):
    """Signals, bad targets and bad types, of which the server refuses some itself; others notice nothing."""
    count = 100_000
    texts = {
        0: b'{"op":"signal","id":%d,"type":"own"}', 1: b'{"op":"signal","id":%d,"to":"nobody"}',
        2: b'{"op":"connect","id":%d,"apiKey":"k","sessionId":"s","token":"t"}',
    }
    raw = await stalled(server, server.project.session())
    before, most, slowest = server.memory(), 0, 0.0
    lines = [texts[number % 3] % number for number in range(count)]
    sending = asyncio.create_task(write_all(raw, [frame(TEXT, b"\n".join(lines[at : at + 500])) for at in range(0, count, 500)]))
    async with await Client.join(server, session) as ada:
        # While it does not read: somebody else chats, and the server does not grow.
        stop = time.monotonic() + 4
        while time.monotonic() < stop:
            started = time.monotonic()
            await ada.signal(type="chat", data="x")
            slowest = max(slowest, time.monotonic() - started)
            most = max(most, server.memory() - before)
    assert most < 16 << 20
    assert slowest < 1
    raw.writer.transport.resume_reading()
    answered, own = 0, 0
    while answered < count:
        for event in await raw.objects():
            if event["ev"] == "signal":
                own += 1
            elif event["ev"] != "ping":
                assert event["id"] == answered, event
                assert (event["ev"], event.get("code")) == [("ack", None), ("error", 404), ("error", 1015)][answered % 3]
                answered += 1
                assert own == (answered + 2) // 3, "SIG-6: each ack follows its signal, and nothing is lost"
    await sending
    raw.writer.transport.abort()


async def write_all(raw, pieces):
    for piece in pieces:
        raw.writer.write(piece)
        await raw.writer.drain()


@pytest.mark.waiting
async def test_wire_14_who_reads_slowly_stays_for_more_than_two_heartbeats(server):
    """One answer frame a second, of megabytes that wait. Heartbeats go unanswered, since the server does not read."""
    raw = await stalled(server, server.project.session())
    pieces = [frame(TEXT, b"\n".join(b'{"op":"signal","id":%d,"to":"nobody","data":"%s"}' % (at * 200 + n, b"x" * 200) for n in range(200))) for at in range(250)]
    sending = asyncio.create_task(write_all(raw, pieces))
    raw.writer.transport.resume_reading()
    answered = 0
    until = time.monotonic() + 26
    while answered < 50_000:
        if time.monotonic() < until:
            await asyncio.sleep(1)
            assert not sending.done(), "TCP pushes back"
        for event in await raw.objects():
            if event["ev"] != "ping":
                assert event["id"] == answered, event
                answered += 1
    await sending
    raw.writer.transport.abort()


async def test_g_5_requests_of_one_client_are_handled_a_few_at_a_time_and_then_it_is_others_turn(server, session):
    """WIRE-13: a frame of the largest size, full of requests. What was answered in a turn comes in one message."""
    count = 1500
    async with await RawSocket.websocket(server) as raw, await Bystander.join(server, session) as bystander:
        await raw.send_text(connect_line(server, server.project.session()))
        await raw.objects()
        await raw.send_text("\n".join('{"op":"signal","id":%d,"to":"nobody"}' % number for number in range(count)))
        answers, largest = [], 0
        while len(answers) < count:
            objects = await raw.objects()
            largest = max(largest, len(objects))
            answers += [event["id"] for event in objects if event["ev"] == "error"]
        assert answers == list(range(count))
        assert largest <= 100
        # What came behind such a frame is not lost, even if the client is gone by then.
        await raw.send_text("\n".join(['{"op":"signal","id":1,"to":"nobody"}'] * count + ['{"op":"disconnect","id":2}']))
        assert await raw.close_code() == 1000
        await bystander.notices_nothing()


def queued(port):
    """Bytes on their way between the server's socket and that of the client with this port, as the system counts them."""
    count = 0
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        here, there = (int(address.split(":")[1], 16) for address in fields[1:3])
        waiting, unread = (int(size, 16) for size in fields[4].split(":"))
        count += waiting if there == port else unread if here == port else 0
    return count


async def test_leave_1_who_leaves_while_its_socket_is_full_is_answered_first(server):
    """WIRE-8, SIG-6: its signals and their acks, then the ack of `disconnect`, `disconnected`, and the close."""
    session = server.project.session()
    raw = await stalled(server, session)
    observer = await Client.join(server, session)
    port = raw.writer.get_extra_info("sockname")[1]
    line = b'{"op":"signal","id":%d,"type":"n","data":"' + b"x" * 8000 + b'"}'
    sent = 0
    # Until the system takes no more: what comes then waits in the server.
    full_since = time.monotonic()
    while time.monotonic() - full_since < 1:
        before = queued(port)
        await raw.send_text(line % sent)
        sent += 1
        full_since = time.monotonic()
        while queued(port) < before + 1000 and time.monotonic() - full_since < 1:
            await asyncio.sleep(0.001)
    for _ in range(3):
        await raw.send_text(line % sent)
        sent += 1
    await raw.send_text('{"op":"disconnect","id":%d}' % sent)
    while (await observer.next())["ev"] != "connectionDestroyed":
        pass
    await observer.leave()
    raw.writer.transport.resume_reading()
    events = []
    while (got := await raw.frame()) and got[0] == TEXT:
        events += [json.loads(text) for text in got[1].split(b"\n")]
    names = [event["ev"] for event in events if event["ev"] not in ("ping", "connected", "connectionCreated")]
    assert names == ["signal", "ack"] * sent + ["ack", "disconnected"]
    assert [event["id"] for event in events if event["ev"] == "ack"] == list(range(sent + 1))
    assert got == (CLOSE, got[1]) and got[1][:2] == (1000).to_bytes(2)
    raw.writer.transport.abort()


async def test_wire_13_what_was_read_before_the_close_is_carried_out(server, session):
    """More requests than are handled in a turn, and the close frame right behind them, in the same read."""
    count = 100
    async with await Client.join(server, session) as ada:
        raw = await RawSocket.websocket(server)
        await raw.send_text(connect_line(server, session))
        await raw.objects()
        await ada.expect("connectionCreated")
        lines = "\n".join('{"op":"signal","id":%d,"type":"n"}' % number for number in range(count))
        await raw.send(frame(TEXT, lines.encode()) + frame(CLOSE, (1000).to_bytes(2)))
        for seq in range(3, 3 + count):
            await ada.expect("signal", seq=seq)
        await ada.expect("connectionDestroyed", reason="clientDisconnected")
        await raw.ends()
        raw.writer.transport.abort()


async def test_g_7_members_who_come_and_go_leave_nothing_behind(server, session):
    """Many short connections: each is told once, and none stays."""
    async with await Client.join(server, session) as ada:
        for _ in range(5):
            await asyncio.gather(*(come_and_go(server, session) for _ in range(20)))
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


async def come_and_go(server, session):
    await (await Client.join(server, session)).leave()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_leave_4_a_server_that_stops_says_so_and_exits_with_0(how):
    with Server() as server:
        session = server.project.session()
        clients = await asyncio.gather(*(Client.join(server, session) for _ in range(5)), Client.open(server))
        # Somebody who does not answer the goodbye does not hold it up.
        raw = await RawSocket.websocket(server)
        await raw.send_text(connect_line(server, session))
        idle = await RawSocket.open(server)
        started = time.monotonic()
        server.process.send_signal(how)
        for code, events in await asyncio.gather(*(client.closed() for client in clients[:5])):
            assert code == 1001
            wait = events[-1].pop("reconnectAfter")
            assert 0 <= wait <= 1000, "RES-13, LEAVE-5: a few are asked back soon"
            assert events[-1] == {"ev": "disconnected", "reason": "networkDisconnected", "reconnect": True}
            # The others who go are no news any more, and if they are, then as what they are.
            assert all(event["ev"] in ("connectionCreated", "connectionDestroyed", "disconnected") for event in events)
        assert (await clients[5].closed())[0] == 1001
        assert await asyncio.to_thread(server.wait, 10) == 0
        assert time.monotonic() - started < 8
        for socket in (raw, idle):
            socket.writer.transport.abort()
        refused = False
        try:
            await Client.open(server)
        except OSError:
            refused = True
        assert refused


def test_a_second_sigterm_does_not_prolong_the_end():
    with Server() as server:
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        try:
            code = server.wait(8)
        except subprocess.TimeoutExpired:
            pytest.fail("still running")
        assert code == 0


async def five_hundred_who_are_sent_away(server):
    """Their ends to come, of which the first has."""
    session = server.project.session()
    quiet = {"connectionEventsSuppressed": True}
    clients = []
    for _ in range(20):
        clients += await asyncio.gather(*(Client.join(server, session, options=quiet) for _ in range(25)))
    server.process.send_signal(signal.SIGTERM)
    ends = [asyncio.create_task(timed_end(client)) for client in clients]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    return ends


async def test_leave_5_many_are_sent_away_one_after_the_other_and_asked_back_likewise():
    """Meanwhile the server answers, is not ready, and takes in nobody."""
    with Server("--drain-seconds", "1") as server:
        ends = await five_hundred_who_are_sent_away(server)
        answer = await asyncio.to_thread(server.request, "GET", "/readyz")
        assert answer.status == 503
        newcomer = await Client.open(server)
        assert (await newcomer.closed())[0] == 1001
        ends = [await end for end in ends]
        moments = sorted(moment for moment, _, _ in ends)
        assert 0.3 < moments[-1] - moments[0] < 3, "500 clients, a millisecond each"
        assert {code for _, code, _ in ends} == {1001}
        backs = sorted(moment + event["reconnectAfter"] / 1000 for moment, _, event in ends)
        assert backs[0] > moments[-1] - 0.3, "nobody is asked back while others still go"
        assert 0.3 < backs[-1] - backs[0] < 3
        assert await asyncio.to_thread(server.wait, 10) == 0


async def test_leave_5_a_second_signal_sends_away_at_once_who_is_left():
    with Server("--drain-seconds", "5") as server:
        ends = await five_hundred_who_are_sent_away(server)
        server.process.send_signal(signal.SIGTERM)
        waits = [(await end)[2]["reconnectAfter"] for end in ends]
        # In their turn they would be asked back when the last had gone, up to a second later.
        assert sum(wait <= 250 for wait in waits) > 200, sorted(waits)
        assert await asyncio.to_thread(server.wait, 10) == 0


async def timed_end(client):
    """When the server closed, its code, and what it said last."""
    code, events = await client.closed(30)
    return time.monotonic(), code, events[-1]


async def test_a_server_killed_can_be_started_again_on_its_port_at_once():
    with Server() as server:
        async with await Client.join(server, server.project.session()) as client:
            server.process.kill()
            code, _ = await client.closed()
            assert code is None
            server.wait()
            with Server("--port", str(server.port)) as again:
                assert again.port == server.port


async def test_opentok_2_9_a_session_that_is_full_refuses_newcomers_with_1027_until_somebody_leaves():
    with Server("--session-connections", "2") as server:
        project = server.project
        session = project.session()
        async with await Client.join(server, session) as ada:
            async with await Client.join(server, session):
                refused = await Client.denied(server, session, project.token(session))
                assert (refused["code"], refused["name"]) == (1027, "OT_CONNECTION_LIMIT_EXCEEDED")
                async with await Client.join(server, project.session()):
                    pass
                await ada.expect("connectionCreated")
            await ada.expect("connectionDestroyed")
            async with await Client.join(server, session) as cy:
                assert len(cy.connected["connections"]) == 2


async def test_logs_hold_no_secrets_even_at_trace_level():
    with Server("--allow-partner-auth", log_level="trace") as server:
        project = server.project
        session = project.session()
        token, jwt, credentials = project.token(session, data="DATA-IN-TOKEN"), project.jwt_token(session), project.credentials()
        expired = project.token(session, create_time=1, expire_time=2)
        async with await Client.join(server, session, token=token) as ada, await Client.join(server, session, token=jwt):
            await ada.signal(type="SECRET-TYPE", data="SECRET-BODY")
            await ada.signal(type="a", data="SECRET-BODY", to="SECRET-TARGET")
            await ada.send('{"op":"SECRET-LINE"}')
            await ada.send("SECRET-LINE")
            secrets = [ada.connected["resume"]["secret"]]
            async with await Client.open(server) as bob:
                await bob.send(connect_line(server, session, token=expired))
                await bob.closed()
            server.rest("POST", server.session_path(session, "/signal"), {"data": "SECRET-BODY"}, credentials)
            server.rest("POST", server.session_path(session, "/signal"), {"data": 1, "SECRET-BODY": 2}, credentials)
            server.request("GET", "/room/x?token=" + token)
            for secret in (project.secret, "SECRET-GUESS"):
                server.request("POST", "/session/create", b"", {"X-TB-PARTNER-AUTH": f"{project.key}:{secret}"})
            server.request("POST", "/session/create", b"", {"Authorization": "Bearer " + credentials})
        assert server.stop() == 0
        while server.err.next() is not None:
            pass
        log = "\n".join(server.err.seen) + "\n".join(server.out.seen)
        assert "closing" in log or len(server.err.seen) > 3, "trace says something"
        secrets += [project.secret, token, token[5:], jwt, jwt.split(".")[2], credentials, credentials.split(".")[2], expired]
        secrets += ["SECRET-", "DATA-IN-TOKEN"]
        assert [secret for secret in secrets if secret in log] == []
