"""The feed of a project by push: docs/PROTOCOL.md, section 22, FEED-5."""

import asyncio
import contextlib
import socket
import time

import pytest

import cluster
import durable
from server_process import DEADLINE, Server
from signalbox_client import Client
from test_changes import erase
from test_history import WINDOWS, say
from webhook_receiver import Receiver

SECRET = "a secret for batches, of these tests"


def settings(receiver, **others):
    return {
        "history": "chat,notes", "webhook_url": receiver.url, "webhook_secret": SECRET, "webhook_types": "chat",
        "webhook_retry_milliseconds": 20, **WINDOWS, **others,
    }  # fmt: skip


@contextlib.contextmanager
def serve(kind, tmp_path_factory, receiver, **others):
    if kind == "memory":
        with Server(**settings(receiver, **others)) as server:
            yield server
    elif kind == "folder":
        with durable.serve(tmp_path_factory.mktemp("push") / "state", **settings(receiver, **others)) as server:
            yield server
    else:
        with cluster.Redis("--appendfsync", "always") as redis, contextlib.ExitStack() as stack:
            nodes = [
                stack.enter_context(Server(redis=redis.url, **settings(receiver, **others))) for _ in range(2)
            ]
            yield nodes[0]


async def until(receiver, is_last):
    """The events of the next posts, up to one."""
    found, deadline = [], time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        post = await asyncio.to_thread(receiver.next)
        found += post.event["events"]
        if any(is_last(event) for event in post.event["events"]):
            return found
    raise TimeoutError(found)


def data(events):
    return [event["data"] for event in events if event["event"] == "signal"]


@pytest.mark.parametrize("kind", ["memory", "folder", "nodes"])
async def test_feed_5_batches_have_everything_in_order_complete_and_signed(kind, tmp_path_factory):
    with Receiver() as receiver, serve(kind, tmp_path_factory, receiver) as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        texts = [f"text {number}" for number in range(250)]
        for text in texts:
            await say(ada, text)
        await say(ada, "not this one", type="notes")
        await say(ada, "the last one")
        events = await until(receiver, lambda event: event.get("data") == "the last one")
        assert data(events) == [*texts, "the last one"]
        assert events[0]["event"] == "connectionCreated" and events[0]["connection"] == ada.me
        assert {event["sessionId"] for event in events} == {session}
        seqs = [event["seq"] for event in events]
        assert seqs == sorted(seqs)
        for post in receiver.seen:
            assert post.is_signed_with(SECRET) and post.event["projectId"] == server.project.key
            assert 1 <= len(post.event["events"]) <= 100
        assert len({post.id for post in receiver.seen}) == len(receiver.seen) and receiver.most_concurrent == 1
        assert [post.id for post in receiver.seen] == sorted(post.id for post in receiver.seen)


async def test_feed_5_a_failed_batch_is_repeated_with_its_id_and_a_refused_one_is_dropped():
    with Receiver(500, b"", 200, 410) as receiver, Server(**settings(receiver)) as server:
        ada = await Client.join(server, server.project.session())
        first = [await asyncio.to_thread(receiver.next) for _ in range(3)]
        assert len({post.id for post in first}) == 1 and len({post.raw for post in first}) == 1
        server.err.until("again")
        await say(ada, "refused")
        assert data((await asyncio.to_thread(receiver.next)).event["events"]) == ["refused"]
        server.err.until("dropped events")
        await say(ada, "taken")
        assert data(await until(receiver, lambda event: event.get("data") == "taken")) == ["taken"]


async def test_feed_5_a_receiver_that_was_away_gets_everything_after_a_kill_of_the_server(tmp_path):
    folder = tmp_path / "state"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    class Away:
        url = f"http://127.0.0.1:{port}/hooks"

    texts = [f"text {number}" for number in range(150)]
    with durable.serve(folder, **settings(Away)) as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        for text in texts[:100]:
            await say(ada, text)
        server.err.until("does not accept events")
        for text in texts[100:]:
            await say(ada, text)
        durable.kill(server)
    with Receiver(port=port) as receiver:
        with durable.serve(folder, **settings(receiver)) as server:
            events = await until(receiver, lambda event: event.get("data") == texts[-1])
            assert data(events) == texts
            await asyncio.to_thread(durable.kill, server)
        before = len(receiver.seen)
        # The cursor is kept: of what the receiver has, at most the last batch comes again.
        with durable.serve(folder, **settings(receiver)) as server:
            late = await Client.join(server, session)
            await say(late, "new")
            events = await until(receiver, lambda event: event.get("data") == "new")
            repeated = [text for text in data(events) if text in texts]
            assert len(repeated) <= 100 and data(events)[-1] == "new" and len(receiver.seen) > before


async def test_feed_5_a_receiver_of_batches_gets_no_single_events():
    with Receiver() as receiver, Server(**settings(receiver)) as server:
        ada = await Client.join(server, server.project.session())
        await say(ada, "hello")
        await ada.leave()
        events = await until(receiver, lambda event: event["event"] == "connectionDestroyed")
        assert [event["event"] for event in events] == ["connectionCreated", "signal", "connectionDestroyed"]
        assert all("events" in post.event for post in receiver.seen)


async def test_his_9_feed_5_a_post_that_is_repeated_has_nothing_of_what_was_erased_meanwhile():
    with (
        Receiver(200, 500) as receiver,
        Server(**settings(receiver, changes="erase", webhook_retry_milliseconds=4_000)) as server,
    ):
        ada = await Client.join(server, server.project.session())
        await asyncio.to_thread(receiver.next)
        (seq,) = await say(ada, "secret")
        failed = await asyncio.to_thread(receiver.next)
        assert data(failed.event["events"]) == ["secret"]
        await erase(ada, seq)
        again = await asyncio.to_thread(receiver.next)
        assert again.id == failed.id, "the same batch"
        (message,) = again.event["events"]
        assert message["seq"] == seq and message["erased"] is True and b"secret" not in again.raw
        events = await until(receiver, lambda event: event["event"] == "erased")
        assert events[-1]["ref"] == seq
