"""TOK-9: what happens when the token of a connected client expires."""

import time

import pytest

from server_process import Server
from signalbox_client import Client

# A token is valid for 30 s after its expiry (TOK-4). These seconds remain for a test that waits for the end.
REST = 15


def almost_expired(project, session, rest=REST):
    now = int(time.time())
    return project.token(session, create_time=now - 3600, expire_time=now - 30 + rest)


@pytest.mark.waiting
async def test_tok_9_with_end_an_expired_token_ends_the_connection_with_4505():
    with Server("--token-expiry", "end") as server:
        session = server.project.session()
        async with (
            await Client.join(server, session) as bob,
            await Client.join(server, session, token=almost_expired(server.project, session)) as ada,
        ):
            await bob.expect("connectionCreated")
            code, events = await ada.closed()
            assert code == 4505
            assert [event for event in events if event["ev"] == "disconnected"] == [
                {"ev": "disconnected", "reason": "networkDisconnected", "reconnect": False}
            ], events
            await bob.expect("connectionDestroyed", connectionId=ada.id, reason="networkDisconnected")
            # The other client's token is valid, and so is its connection.
            assert (await bob.signal(data="x"))[0]["ev"] == "ack"
