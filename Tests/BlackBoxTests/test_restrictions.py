"""Users and moderation: docs/PROTOCOL.md, sections 17 and 18, on a server in memory, on one with a state folder, and on nodes."""

import asyncio
import time

import pytest

from server_process import Server
from signalbox_client import Client, reconnect
from test_history import WINDOWS, history, leave_asleep, say, serve_nodes, texts
from waiting import until


@pytest.fixture(params=["memory", "folder", "nodes"])
def server(request, tmp_path):
    if request.param == "nodes":
        with serve_nodes(history="chat", **WINDOWS) as nodes:
            yield nodes
        return
    arguments = ["--state-dir", str(tmp_path / "state")] if request.param == "folder" else []
    with Server(*arguments, history="chat", **WINDOWS) as server:
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
    return answer["restrictions"]


async def next_of(client, *kinds):
    """The next object of one of these kinds."""
    while True:
        event = await client.next()
        if event["ev"] in kinds:
            return event


def post(server, session, **body):
    return server.rest("POST", server.session_path(session, "/moderation"), body)


def read(server, session):
    return server.rest("GET", server.session_path(session, "/moderation"))


async def test_usr_2_connections_and_messages_name_the_user(server, session):
    ada = await join(server, session, "ada")
    guest = await join(server, session)
    assert ada.me["user"] == "ada" and "user" not in guest.me
    assert [c.get("user") for c in guest.connected["connections"]] == ["ada", None]
    assert "user" not in (await ada.expect("connectionCreated"))["connection"]
    await say(ada, "hello")
    assert (await history(guest))["messages"][0]["connection"] == ada.me


async def test_mod_4_a_mute_holds_in_all_tabs_and_ends_by_itself(server, session):
    mod = await join(server, session, "m", "moderator")
    bob, tab = [await join(server, session, "u") for _ in range(2)]
    seq = await moderate(mod, "mute", connectionId=bob.id, seconds=2, reason="Please stop")
    until_time = None
    for client in (bob, tab):
        event = await next_of(client, "restricted")
        assert (event["kind"], event["reason"]) == ("mute", "Please stop") and event["seq"] > seq
        until_time = event["until"]
        for members in ({}, {"onlineOnly": True}, {"to": mod.id}):
            error = await refused(client, "signal", 403, data="x", **members)
            assert error["restriction"] == {"kind": "mute", "until": until_time, "reason": "Please stop"}
            assert 0 < error["retryAfter"] <= 2000 and error["retryable"] is True
    assert abs(until_time - time.time() * 1000) < 60_000
    third = await join(server, session, "u")
    assert [r["kind"] for r in third.connected.get("restrictions", [])] in (["mute"], [])
    await until(lambda: time.time() * 1000 > until_time + 50, "the mute has ended")
    await say(bob, "again")
    event = await next_of(mod, "moderated", "signal")
    assert (event["ev"], event["seq"], event["until"]) == ("moderated", seq, until_time)
    assert event["by"] == {"connectionId": mod.id, "user": "m"} and "seconds" not in event
    assert (await next_of(mod, "moderated", "signal"))["data"] == "again", "nothing came through before"


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


async def test_mod_4_a_freeze_exempts_moderators_and_rest(server, session):
    mod = await join(server, session, "m", "moderator")
    guest = await join(server, session)
    assert post(server, session, action="freeze", reason="Back at nine").status == 200
    for client in (mod, guest):
        event = await next_of(client, "restricted")
        assert {n: event[n] for n in event.keys() - {"seq"}} == {
            "ev": "restricted", "kind": "freeze", "reason": "Back at nine"}
    error = await refused(guest, "signal", 403, data="x")
    assert error["restriction"]["kind"] == "freeze" and "retryAfter" not in error and error["retryable"] is False
    await say(mod, "a moderator may")
    assert server.rest("POST", server.session_path(session, "/signal"), {"data": "REST may"}).status == 204
    late = await join(server, session)
    assert late.connected["restrictions"] == [{"kind": "freeze", "reason": "Back at nine"}]
    await moderate(mod, "unfreeze")
    event = await next_of(guest, "unrestricted")
    assert {n: event[n] for n in event.keys() - {"seq"}} == {"ev": "unrestricted", "kind": "freeze"}
    await say(guest, "good morning")


async def test_mod_1_the_checks_and_their_order(server, session):
    mod = await join(server, session, "m", "moderator")
    bob = await join(server, session, "u")
    guest = await join(server, session)
    await refused(bob, "moderate", 403, action="mute", user="m")
    await refused(bob, "restrictions", 403)
    await refused(bob, "moderate", 400, action="mute")
    await refused(mod, "moderate", 400, action="ban", user="m")
    await refused(mod, "moderate", 400, action="ban", connectionId=mod.id)
    await refused(mod, "moderate", 404, action="ban", connectionId="00000000-0000-4000-8000-000000000000")
    await refused(mod, "moderate", 400, action="mute", connectionId=guest.id)
    await refused(mod, "moderate", 404, action="unmute", user="u")
    for wrong in [
        {"action": "kick", "user": "u"}, {"action": "mute", "user": "u", "seconds": 0}, {"action": "mute", "user": ""},
        {"action": "mute", "user": "u", "reason": "x" * 257}, {"action": "unban", "ref": 2**53 + 1},
    ]:
        await refused(mod, "moderate", 400, **wrong)
    socket = await Client.open(server)
    for op in ("moderate", "restrictions"):
        members = {"action": "unfreeze"} if op == "moderate" else {}
        await socket.refused(1010, "OT_NOT_CONNECTED", await socket.request(op, **members))


async def test_mod_1_a_ban_erases_the_messages_if_that_is_asked_for(server, session):
    mod = await join(server, session, "m", "moderator")
    bob = await join(server, session, "u")
    watcher = await join(server, session)
    await say(bob, "first", "second")
    await say(mod, "mine")
    await moderate(mod, "ban", user="u", eraseMessages=True)
    event = await next_of(watcher, "erased")
    assert event["user"] == "u"
    page = await history(mod)
    assert texts(page) == [None, None, "mine"]
    assert all(message["erased"] and message["connection"] == bob.me for message in page["messages"][:2])


async def test_mod_9_restrictions_outlive_everybody(server, session):
    mod = await join(server, session, "m", "moderator")
    assert read(server, server.project.session()).status == 404, "a session that nobody has joined"
    assert post(server, server.project.session(), action="freeze").status == 404
    seq = await moderate(mod, "ban", user="u", reason="Spam")
    await leave_asleep(server, session, mod)
    token = server.project.token(session, user="u")
    assert (await Client.denied(server, session, token))["restriction"] == {"kind": "ban", "reason": "Spam"}
    body = read(server, session).json()
    assert [(r["ref"], r["kind"], r["user"]) for r in body["restrictions"]] == [(seq, "ban", "u")]
    assert [(a["seq"], a["action"], a["user"]) for a in body["actions"]] == [(seq, "ban", "u")]
    answer = post(server, session, action="unban", user="u")
    assert answer.status == 200 and answer.json()["seq"] > seq
    ada = await join(server, session, "u")
    assert "restrictions" not in ada.connected


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
