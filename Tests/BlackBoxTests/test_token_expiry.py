"""TOK-9: what happens when the token of a connected client expires."""

import time

from server_process import Server
from signalbox_client import Client

# A token is valid for 30 s after its expiry (TOK-4). These seconds remain for a test that waits for the end.
REST = 8


def almost_expired(project, session, rest=REST):
    now = int(time.time())
    return project.token(session, create_time=now - 3600, expire_time=now - 30 + rest)


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


async def test_tok_9_res_7_with_end_an_expired_token_cannot_resume_and_a_new_one_can():
    with Server("--token-expiry", "end") as server:
        session = server.project.session()
        token = almost_expired(server.project, session)
        ada = await Client.join(server, session, token=token)
        ada.socket.transport.abort()
        resume = {
            "connectionId": ada.id, "secret": ada.connected["resume"]["secret"], "epoch": ada.connected["epoch"],
            "after": ada.connected["seq"],
        }  # fmt: skip
        expired = server.project.token(session, create_time=1, expire_time=int(time.time()) - 31)
        async with await Client.open(server) as client:
            request = await client.request(
                "connect", apiKey=server.project.key, sessionId=session, token=expired, resume=resume
            )
            await client.refused(1004, "OT_AUTHENTICATION_ERROR", request)
            assert (await client.closed())[0] == 4501
        async with await Client.open(server) as client:
            request = await client.request(
                "connect", apiKey=server.project.key, sessionId=session, token=server.project.token(session),
                resume=resume,
            )  # fmt: skip
            assert (await client.expect("connected", id=request))["outcome"] == "resumed"


async def test_tok_9_by_default_a_connection_outlives_its_token(server, session):
    """As OpenTok documents it. The token expires before the last signal."""
    token = almost_expired(server.project, session, rest=3)
    async with await Client.join(server, session, token=token) as ada:
        # The server refuses the token: it has expired.
        while True:
            async with await Client.open(server) as probe:
                request = await probe.request(
                    "connect", apiKey=server.project.key, sessionId=session, token=token
                )
                if (await probe.answer(request))[0]["ev"] == "error":
                    break
        assert (await ada.signal(data="x"))[0]["ev"] == "ack"
