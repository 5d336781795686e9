"""Moderation by clients: docs/PROTOCOL.md, section 18, on a server with a state folder, and on nodes."""

import asyncio

import pytest

from server_process import Server
from signalbox_client import Client, reconnect
from test_history import say, serve_one_or_several


@pytest.fixture(scope="module", params=["folder", "nodes"])
def server(request, tmp_path_factory):
    with serve_one_or_several(request.param, tmp_path_factory) as server:
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


async def join(server, session, user=None, role="publisher", **members):
    token = server.project.token(session, role, **({"user": user} if user else {}))
    client = await Client.join(server, session, token=token, **members)
    client.token = token
    return client


async def moderate(client, action, **members):
    """The seq of the action. Keeps the objects before the answer."""
    answer, events = await client.answer(await client.request("moderate", action=action, **members))
    assert answer["ev"] == "ack", answer
    client._set_aside.extend(events)
    return answer["seq"]


async def refused(client, op, code, **members):
    answer, _ = await client.answer(await client.request(op, **members))
    assert (answer["ev"], answer["code"]) == ("error", code), answer
    return answer


async def restrictions(client):
    answer, _ = await client.answer(await client.request("restrictions"))
    assert answer["ev"] == "restrictions", answer
    return answer["restrictions"]


async def next_of(client, *kinds):
    """The next object of one of these kinds."""
    while True:
        event = await client.next()
        if event["ev"] in kinds:
            return event


async def test_mod_3_a_ban_ends_all_connections_and_refuses_all_others(server, session):
    mod = await join(server, session, "m", "moderator")
    bob, lost = [await join(server, session, "u") for _ in range(2)]
    watcher = await join(server, session)
    start = lost.connected["seq"]
    lost.socket.transport.abort()
    seq = await moderate(mod, "ban", user="u", seconds=600, reason="Spam")
    code, events = await bob.closed()
    ban = {"kind": "ban", "until": events[-1]["restriction"]["until"], "reason": "Spam"}
    assert code == 4502
    assert events[-1] == {
        "ev": "disconnected", "reason": "forceDisconnected", "reconnect": False, "restriction": ban}
    gone = [await next_of(watcher, "connectionDestroyed") for _ in range(2)]
    assert {event["connectionId"] for event in gone} == {bob.id, lost.id}
    assert all(event["reason"] == "forceDisconnected" and event["seq"] > seq for event in gone)
    resume = {
        "connectionId": lost.id, "secret": lost.connected["resume"]["secret"], "epoch": lost.connected["epoch"],
        "after": start}
    newer = server.project.token(session, "moderator", user="u")
    for token, members in [(bob.token, {}), (newer, {}), (lost.token, {"resume": resume})]:
        socket = await Client.open(server)
        request = await socket.request(
            "connect", apiKey=server.project.key, sessionId=session, token=token, **members)
        error = await socket.refused(1570, "OT_USER_BANNED", request)
        assert error["restriction"] == ban and 0 < error["retryAfter"] <= 600_000
        assert (await socket.closed())[0] == 4501
    await moderate(mod, "unban", ref=seq)
    assert (await join(server, session, "u")).connected["outcome"] == "new"


async def test_mod_3_a_guest_is_banned_by_token(server, session):
    mod = await join(server, session, "m", "moderator")
    guest = await join(server, session)
    other = await Client.join(server, session, token=guest.token)
    bystander = await join(server, session)
    seq = await moderate(mod, "ban", connectionId=guest.id)
    assert [(await client.closed())[0] for client in (guest, other)] == [4502, 4502]
    assert (await Client.denied(server, session, guest.token))["code"] == 1570
    await say(bystander, "still here")
    (record,) = await restrictions(mod)
    assert (record["ref"], record["kind"], record["connectionId"]) == (seq, "ban", guest.id)
    assert record["by"] == {"connectionId": mod.id, "user": "m"} and "until" not in record
    await moderate(mod, "unban", ref=seq)
    await Client.join(server, session, token=guest.token)


async def test_mod_9_restrictions_outlive_a_killed_server(tmp_path):
    folder = ["--state-dir", str(tmp_path / "state")]
    with Server(*folder) as server:
        session = server.project.session()
        mod = await join(server, session, "m", "moderator")
        bob = await join(server, session, "v")
        await moderate(mod, "ban", user="u")
        await moderate(mod, "mute", user="v")
        server.process.kill()
        server.wait()
    with Server(*folder) as server:
        assert (await Client.denied(server, session, server.project.token(session, user="u")))["code"] == 1570
        again = await reconnect(server, session, bob, bob.connected["seq"], token=bob.token)
        assert again.connected["restrictions"] == [{"kind": "mute"}]
        await refused(again, "signal", 403, data="x")


async def test_mod_8_nothing_of_a_banned_user_follows_the_ban(server, session):
    """The user signals as fast as the server accepts while a moderator bans on another node."""
    mod = await join(server, session, "m", "moderator")
    watcher = await join(server, session)
    clients = [await join(server, session, "u") for _ in range(3)]

    async def write(client):
        try:
            while True:
                for _ in range(20):
                    await client.request("signal", data="x")
                await asyncio.sleep(0)
        except Exception:
            return

    writing = [asyncio.create_task(write(client)) for client in clients]
    while (await next_of(watcher, "signal"))["data"] != "x":
        pass
    seq = await moderate(mod, "ban", user="u")
    await asyncio.gather(*writing)
    (marker,) = await say(mod, "marker")
    own = {client.id for client in clients}
    while True:
        event = await watcher.next()
        if event.get("seq", 0) > seq and event["ev"] == "signal":
            assert event["from"] not in own, event
        if event.get("seq") == marker:
            return
