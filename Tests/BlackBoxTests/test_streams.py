"""Streams that clients announce (docs/PROTOCOL.md, section 19): over a crash, a resume, nodes, and by REST."""

import asyncio

import pytest

from cluster import nodes
from durable import kill, serve
from signalbox_client import Client, reconnect

ASKING = {"streamEvents": True}


def stream(stream_id, **members):
    return {
        "streamId": stream_id, "name": "", "hasAudio": True, "hasVideo": True, "videoType": "camera", "creationTime": 5,
    } | members


def listed(client):
    """What `connected` lists: streams by connection."""
    return {each["connection"]["connectionId"]: each["streams"] for each in client.connected["streams"]}


async def announce(client, *streams):
    """The seq of the event."""
    answer, _ = await client.answer(await client.request("streams", streams=list(streams)))
    assert answer["ev"] == "ack", answer
    return answer["seq"]


async def rest(server, session, path=""):
    return await asyncio.to_thread(server.rest, "GET", server.session_path(session, f"/stream{path}"))


async def test_str_2_streams_survive_a_crash_and_a_resume_and_end_with_their_connection(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        ada = await Client.join(server, session, data="Ada")
        bob = await Client.join(server, session, options=ASKING)
        assert listed(bob) == {}
        seq = await announce(ada, stream("a1", name="é"), stream("a2", hasVideo=False))
        event = await bob.expect("streams", seq=seq, streams=[stream("a1", name="é"), stream("a2", hasVideo=False)])
        assert event["connection"] == ada.me
        kill(server)
    with serve(tmp_path) as server:
        token = server.project.token(session, data="Ada")
        async with await reconnect(server, session, ada, after=seq, token=token) as ada:
            again = await announce(ada, stream("a2"))
            async with await reconnect(server, session, bob, after=seq, options=ASKING) as bob:
                assert bob.connected["outcome"] == "resumed" and "streams" not in bob.connected
                await bob.expect("streams", seq=again, streams=[stream("a2")])
                async with await Client.join(server, session, options=ASKING) as eve:
                    assert listed(eve) == {ada.id: [stream("a2")]}
                    await bob.expect("connectionCreated")
                    items = [{"id": "a2", "videoType": "camera", "name": "", "layoutClassList": []}]
                    assert (await rest(server, session)).json() == {"count": 1, "items": items}
                    assert (await rest(server, session, "/a2")).json() == items[0]
                    assert (await rest(server, session, "/a1")).status == 404
                    await ada.leave()
                    for client in (bob, eve):
                        gone = await client.expect("streams", streams=[], reason="clientDisconnected")
                        await client.expect("connectionDestroyed", seq=gone["seq"] + 1)
                    assert (await rest(server, session)).json() == {"count": 0, "items": []}


async def test_str_2_a_client_that_does_not_ask_gets_nothing_of_streams(server, session):
    async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
        await ada.expect("connectionCreated")
        await announce(ada, stream("a1"))
        await announce(ada)
        answer, events = await ada.signal(type="chat", data="x")
        await bob.expect("signal", seq=answer["seq"])
        assert [event["ev"] for event in events] == ["signal"]
        async with await Client.join(server, session) as eve:
            assert "streams" not in eve.connected


@pytest.mark.parametrize(
    "role, streams, code, name",
    [
        ("subscriber", [stream("a")], 1500, "OT_PERMISSION_DENIED"),
        ("publisher", [stream(f"s{number}") for number in range(9)], 400, "OT_INVALID_PARAMETER"),
        ("publisher", [stream("a", name="x" * 257)], 413, "OT_INVALID_PARAMETER"),
        ("publisher", [stream("a/b")], 400, "OT_INVALID_PARAMETER"),
        ("publisher", [stream("a", videoType="hologram")], 400, "OT_INVALID_PARAMETER"),
        ("publisher", "all", 400, "OT_INVALID_PARAMETER"),
    ],
)
async def test_str_1_a_refused_request_has_a_typed_error_and_changes_nothing(server, session, role, streams, code, name):
    async with await Client.join(server, session, role, options=ASKING) as ada:
        await ada.refused(code, name, await ada.request("streams", streams=streams))
        assert (await rest(server, session)).json()["count"] == 0


async def test_str_2_streams_are_known_on_every_node():
    with nodes(2) as (_, (first, second)):
        session = first.project.session()
        async with await Client.join(first, session) as ada:
            await announce(ada, stream("a1"))
            async with await Client.join(second, session, options=ASKING) as bob:
                assert listed(bob) == {ada.id: [stream("a1")]}
                assert (await rest(second, session)).json()["count"] == 1
                await announce(ada)
                await bob.expect("streams", streams=[])
