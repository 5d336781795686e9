"""Read markers: docs/PROTOCOL.md, section 21, on a server with a state folder, and on nodes."""

import pytest

import durable
from server_process import Server
from test_changes import change, event, join, serve
from test_history import WINDOWS, leave_asleep, say

SHARED = {"history": "chat", "changes": "all", "read_markers": "shared", **WINDOWS}


@pytest.fixture(scope="module", params=["memory", "folder", "nodes"])
def server(request, tmp_path_factory):
    with serve(request.param, tmp_path_factory, SHARED) as server:
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


async def read(client, through):
    """The answer to a read marker."""
    answer, _ = await client.answer(await client.request("read", through=through))
    return answer


async def test_read_1_2_3_a_marker_reaches_every_device_and_everybody(server, session):
    ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
    assert bob.connected["read"] == {"markers": "shared", "unread": 0, "readers": []}
    one, two, three = await say(ada, "one", "two", "three")
    assert (await read(bob, one))["ev"] == "ack"
    assert await event(ada, "read") == {"ev": "read", "user": "u-bob", "through": one}
    await change(ada, two, "too")
    phone = await join(server, session, "u-bob")
    assert phone.connected["read"] == {"markers": "shared", "through": one, "unread": 2, "readers": []}
    await read(phone, three)
    assert await event(bob, "read", user="u-bob", through=one) and await event(bob, "read", through=three)
    # It never falls, and what is still to come is cut.
    await read(phone, one)
    await read(ada, 2**53)
    told = await bob.expect("read")
    assert told["user"] == "u-ada" and three < told["through"] < 2**53
    guest = await join(server, session)
    readers = [{"user": "u-ada", "through": told["through"]}, {"user": "u-bob", "through": three}]
    assert guest.connected["read"] == {"markers": "shared", "readers": readers}
    assert (await read(guest, one))["code"] == 403
    for wrong in ({}, {"through": -1}, {"through": "1"}, {"through": 2**53 + 1}):
        answer, _ = await bob.answer(await bob.request("read", **wrong))
        assert answer["code"] == 400, wrong


async def test_read_2_markers_survive_sleep(server, session):
    ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
    one, _ = await say(ada, "one", "two")
    await read(bob, one)
    # Without a second's wait: the marker reaches the log before the client goes.
    await bob.leave()
    await leave_asleep(server, session, ada)
    bob = await join(server, session, "u-bob")
    assert bob.connected["read"]["through"] == one and bob.connected["read"]["unread"] == 1


async def test_his_9_an_erased_user_has_no_marker(server, session):
    ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
    (one,) = await say(ada, "one")
    await read(ada, one)
    assert await event(bob, "read", through=one)
    assert server.rest("DELETE", server.session_path(session, "/message?user=u-ada")).status == 204
    assert (await join(server, session, "u-ada")).connected["read"].get("through") is None


async def test_read_2_a_told_marker_survives_kill_9(tmp_path):
    with durable.serve(tmp_path / "state", **SHARED) as first:
        session = first.project.session()
        ada, bob = await join(first, session, "u-ada"), await join(first, session, "u-bob")
        (one,) = await say(ada, "one")
        await read(bob, one)
        assert await event(ada, "read", through=one)
        durable.kill(first)
    with durable.serve(tmp_path / "state", **SHARED) as second:
        assert (await join(second, session, "u-bob")).connected["read"]["through"] == one


async def test_read_4_own_markers_are_told_to_their_user_and_off_means_none():
    with Server(**SHARED | {"read_markers": "own"}) as server:
        session = server.project.session()
        ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
        phone = await join(server, session, "u-bob")
        (one,) = await say(ada, "one")
        await read(bob, one)
        assert await event(phone, "read") == {"ev": "read", "user": "u-bob", "through": one}
        await say(bob, "two")
        assert all(heard["ev"] != "read" for heard in await until_signal(ada, "two"))
        assert "read" not in (await join(server, session)).connected
    with Server(history="chat", **WINDOWS) as server:
        ada = await join(server, server.project.session(), "u-ada")
        assert "read" not in ada.connected and (await read(ada, 1))["code"] == 403


async def until_signal(client, data):
    """What arrives up to a signal."""
    heard = [await client.next()]
    while heard[-1].get("data") != data:
        heard.append(await client.next())
    return heard
