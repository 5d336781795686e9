"""Clients that read slowly or not at all: docs/PROTOCOL.md WIRE-13, WIRE-14, LEAVE-1 and G5."""

import asyncio
import itertools
import json
import pathlib
import time

import pytest

from raw_socket import CLOSE, STALLED_BUFFER, TEXT, RawSocket, frame
from server_process import Server
from signalbox_client import Bystander, Client, connect_line

HEARTBEAT_SECONDS = 10


@pytest.fixture
def quiet_server():
    """A server without other clients, so that its memory belongs to the test."""
    with Server("--signal-rate", "0", log_level="debug", resume_seconds=1) as server:
        yield server


async def stalled(server, session):
    """A connection with a small buffer that has stopped reading."""
    raw = await RawSocket.websocket(server, receive_buffer=STALLED_BUFFER)
    await raw.send_text(connect_line(server, session))
    await raw.objects()
    raw.writer.transport.pause_reading()
    return raw


async def test_g_5_a_stalled_reader_delays_no_other_client_and_is_closed(quiet_server):
    """CLOSE-1, 4002: the others receive everything, the server's memory stays bounded, and the stalled reader is
    closed."""
    server, session = quiet_server, quiet_server.project.session()
    raw = await stalled(server, session)
    async with (
        await Client.join(server, session) as ada, await Client.join(server, session) as bob, raw.signs_of_life()
    ):
        before = server.memory()
        is_closed, sent = False, 0
        data = "x" * 8000
        receiving = asyncio.create_task(count_until_end(bob))
        # More than all buffers between the server and the stalled reader hold.
        while not is_closed:
            assert sent < 20_000, "the stalled reader is still connected"
            requests = [await ada.request("signal", type="load", data=data) for _ in range(20)]
            for request in requests:
                answer, events = await ada.answer(request)
                assert answer["ev"] == "ack"
                is_closed = is_closed or any(event["ev"] == "connectionDestroyed" for event in events)
            sent += len(requests)
        await ada.signal(type="end")
        assert await receiving == sent, "the other receiver loses nothing"
        assert server.memory() - before < 100 << 20
        # The stalled reader finds the close when it reads again.
        raw.writer.transport.resume_reading()
        assert await raw.close_code() == 4002
    raw.writer.transport.abort()


async def count_until_end(client):
    count = 0
    while True:
        event = await client.next()
        if event.get("type") == "load":
            count += 1
        elif event.get("type") == "end":
            return count


@pytest.mark.waiting
async def test_wire_14_a_client_that_sends_requests_and_reads_no_answers_is_closed_with_4002():
    """WIRE-13, G5: the server stops reading from the client, whose requests do not fill the server's memory."""
    with Server("--signal-rate", "0", log_level="debug", resume_seconds=1) as server:
        await a_client_reads_no_answers(server, server.project.session())


async def a_client_reads_no_answers(server, session):
    async with await Bystander.join(server, session) as bystander:
        raw = await stalled(server, session)
        created = await bystander.expect("connectionCreated")
        before = server.memory()
        batch = frame(TEXT, b"\n".join([b'{"op":"signal","id":1,"to":"nobody"}'] * 1500))
        accepted, most = [], 0
        # The sender goes on until the server cuts the connection. A sender that gave up after some seconds without
        # progress would fall silent on a machine that paused so long, and the server would close with 4001.
        sending = asyncio.create_task(send_all(raw, [batch] * 400, accepted))
        while not sending.done():
            await asyncio.wait([sending], timeout=1)
            most = max(most, server.memory())
        # TCP pushes back until the server cuts the connection: two heartbeats without progress.
        pauses = [later - earlier for earlier, later in itertools.pairwise(accepted + [time.monotonic()])]
        assert max(pauses) > 1.5 * HEARTBEAT_SECONDS
        assert most - before < 16 << 20
        await bystander.expect("connectionDestroyed", connectionId=created["connection"]["connectionId"])
        # The code comes from the server's log: requests that the server has not read make TCP discard the close frame.
        assert "code=4002" in await asyncio.to_thread(server.err.until, "closing")
        raw.writer.transport.abort()
        await bystander.is_unaffected()


async def send_all(raw, pieces, accepted=None):
    """Sends as fast as TCP accepts, and records when it accepted each piece, until the server cuts the connection.

    It does not use the writer: bytes that wait there would fail after the cut, and asyncio would then drop the frames
    that the client has not read yet, the close frame among them.
    """
    loop = asyncio.get_running_loop()
    with raw.writer.get_extra_info("socket").dup() as socket:
        socket.setblocking(False)
        try:
            for piece in pieces:
                await loop.sock_sendall(socket, piece)
                if accepted is not None:
                    accepted.append(time.monotonic())
        except ConnectionError:
            pass


@pytest.mark.waiting
async def test_wire_14_a_client_that_reads_slowly_is_kept_for_more_than_two_heartbeats(server):
    """The client reads five frames a second, while megabytes wait.

    It answers no heartbeat, because the server does not read from it.
    """
    # Twice what the buffers of the kernel hold.
    count = 100_000
    raw = await stalled(server, server.project.session())
    line = b'{"op":"signal","id":%d,"to":"nobody","data":"' + b"x" * 200 + b'"}'
    pieces = [
        frame(TEXT, b"\n".join(line % number for number in range(start, start + 200))) for start in range(0, count, 200)
    ]
    sending = asyncio.create_task(send_all(raw, pieces))
    raw.writer.transport.resume_reading()
    answered = 0
    slow_until = time.monotonic() + 2.6 * HEARTBEAT_SECONDS
    while answered < count:
        frame_count = 1
        if time.monotonic() < slow_until:
            # The pace of the reader. Nothing else happens meanwhile, so there is no event to wait for.
            await asyncio.sleep(1)
            assert not sending.done(), "TCP pushes back"
            frame_count = 5
        for _ in range(frame_count):
            for event in await raw.objects():
                if event["ev"] != "ping":
                    assert event["id"] == answered, event
                    answered += 1
    await sending
    raw.writer.transport.abort()


def queued_byte_count(port):
    """Bytes in the kernel between the server's socket and that of the client with this port."""
    count = 0
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        # A machine that runs tests has thousands of sockets.
        if f":{port:04X} " not in line:
            continue
        fields = line.split()
        local, remote = (int(address.split(":")[1], 16) for address in fields[1:3])
        unsent, unread = (int(size, 16) for size in fields[4].split(":"))
        count += unsent if remote == port else unread if local == port else 0
    return count


async def test_leave_1_a_client_that_disconnects_while_its_socket_is_full_is_answered_first(server, session):
    """WIRE-8, SIG-6: its signals and their acks, then the ack of `disconnect`, `disconnected`, and the close."""
    raw = await stalled(server, session)
    async with await Client.join(server, session) as observer:
        port = raw.writer.get_extra_info("sockname")[1]
        line = b'{"op":"signal","id":%d,"type":"n","data":"' + b"x" * 8000 + b'"}'
        sent = 0

        async def send_one():
            """Returns when the server has handled the signal: then the observer has received it."""
            nonlocal sent
            await raw.send_text(line % sent)
            await observer.expect("signal", type="n")
            sent += 1

        # The kernel's buffers are full when three signals in a row do not get into them: these wait in the server.
        full_count, after = 0, queued_byte_count(port)
        while full_count < 3:
            # Counting is slow: it reads a line for each socket of the machine. So it begins after many signals.
            for _ in range(1 if sent > 400 else 50):
                await send_one()
            before, after = after, queued_byte_count(port)
            full_count = full_count + 1 if after < before + 1000 else 0
        for _ in range(2):
            await send_one()
        await raw.send_text('{"op":"disconnect","id":%d}' % sent)
        await observer.expect("connectionDestroyed", reason="clientDisconnected")
    raw.writer.transport.resume_reading()
    events = []
    while (last := await raw.frame()) and last[0] == TEXT:
        events += [json.loads(text) for text in last[1].split(b"\n")]
    names = [event["ev"] for event in events if event["ev"] not in ("ping", "connected", "connectionCreated")]
    assert names == ["signal", "ack"] * sent + ["ack", "disconnected"]
    assert [event["id"] for event in events if event["ev"] == "ack"] == list(range(sent + 1))
    assert last and (last[0], last[1][:2]) == (CLOSE, (1000).to_bytes(2))
    raw.writer.transport.abort()


async def test_wire_13_requests_that_were_read_before_the_close_are_carried_out(server, session):
    """More requests than the server handles in a turn, with the close frame right behind them, in the same read."""
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
