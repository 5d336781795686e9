"""Long lists of connections: docs/PROTOCOL.md CON-5, CON-11 and G5."""

import json

import pytest

from raw_socket import CONTINUATION, PING, PONG, TEXT, RawSocket, frame
from server_process import Server
from signalbox_client import connect_line

COUNT = 400
# In JSON a control character has six bytes.
DATA = "\x01" * 1000


@pytest.fixture
def quiet_server():
    """A server without other clients, so that its memory belongs to the test."""
    with Server(resume_seconds=600) as server:
        yield server


async def crowd(server, count=COUNT):
    """A session of this many connections, which have no sockets any more."""
    session = server.project.session()
    for _ in range(count):
        token = server.project.token(session, data=DATA)
        async with await RawSocket.websocket(server) as raw:
            await raw.send_text(
                connect_line(server, session, token=token, options={"connectionEventsSuppressed": True}))
            await raw.objects()
    return session


async def test_con_11_a_long_list_within_connected_comes_in_fragments_and_a_ping_meanwhile_is_answered(quiet_server):
    """RFC 6455, sections 5.4 and 5.5: a fragmented message, and control frames within or after it."""
    server = quiet_server
    session = await crowd(server)
    async with await RawSocket.websocket(server, receive_buffer=8192) as raw:
        raw.writer.transport.pause_reading()
        await raw.send_text(connect_line(server, session))
        await raw.send(frame(PING, b"between"))
        raw.writer.transport.resume_reading()
        parts, pong = [], None
        while pong is None or not parts or not parts[-1].endswith(b'"dataLength":8192}}'):
            opcode, payload = await raw.frame()
            if opcode == PONG:
                pong = payload
                continue
            assert opcode == (CONTINUATION if parts else TEXT)
            assert len(payload) <= 1 << 16, "a part is small, so that the server buffers little"
            parts.append(payload)
        assert len(parts) > 30 and pong == b"between"
        connected = json.loads(b"".join(parts))
        assert connected["ev"] == "connected" and "connectionCount" not in connected
        times = [connection["creationTime"] for connection in connected["connections"]]
        assert len(times) == COUNT + 1 and times == sorted(times)
        assert connected["connections"][-1] == connected["connection"]
        # The next message is a whole one.
        await raw.send_text('{"op":"signal","id":2,"type":"after"}')
        signal, ack = await raw.objects()
        assert (signal["type"], ack["ev"]) == ("after", "ack")
