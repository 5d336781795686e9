"""Session monitoring webhooks, as docs/backend.md describes them."""

import asyncio
import contextlib
import json
import queue
import time

import pytest

from credentials import Project
from server_process import DEADLINE, TLS, Server
from signalbox_client import Client
from webhook_receiver import Receiver, closed_port

SECRET = "a secret for webhooks, of these tests"
ALL = ("sessionCreated", "connectionCreated", "connectionDestroyed", "sessionDestroyed")


def serve(receiver, *arguments, **settings):
    """A server that posts to the receiver, with retry pauses that suit a test."""
    settings = {"webhook_url": receiver.url, "webhook_secret": SECRET, "webhook_retry_milliseconds": 20} | settings
    return Server(*arguments, **settings)


async def visit(server, session=None):
    """A client connects and disconnects."""
    client = await Client.join(server, session or server.project.session())
    await client.leave()
    return client


async def test_all_four_events_are_posted_in_order_complete_and_signed():
    with Receiver() as receiver, serve(receiver) as server:
        session = server.project.session()
        begin = int(time.time() * 1000)
        ada = await Client.join(server, session, data="name=Ada")
        mod = await Client.join(server, session, "moderator")
        await mod.answer(await mod.request("forceDisconnect", connectionId=ada.id))
        await ada.closed()
        await mod.leave()
        posts = receiver.expect(
            "sessionCreated", "connectionCreated", "connectionCreated", "connectionDestroyed", "connectionDestroyed",
            "sessionDestroyed")
        times = [post.event.pop("timestamp") for post in posts]
        assert times == sorted(times) and begin - 1 <= times[0] and times[-1] <= time.time() * 1000 + 1
        of_ada = {"id": ada.id, "createdAt": ada.me["creationTime"], "data": "name=Ada"}
        of_mod = {"id": mod.id, "createdAt": mod.me["creationTime"], "data": ""}
        common = {"sessionId": session, "projectId": server.project.key}
        assert [post.event for post in posts] == [
            common | {"event": "sessionCreated"},
            common | {"event": "connectionCreated", "connection": of_ada},
            common | {"event": "connectionCreated", "connection": of_mod},
            common | {"event": "connectionDestroyed", "reason": "forceDisconnected", "connection": of_ada},
            common | {"event": "connectionDestroyed", "reason": "clientDisconnected", "connection": of_mod},
            common | {"event": "sessionDestroyed"},
        ]
        for post in posts:
            assert post.path == "/hooks"
            assert post.headers["content-type"] == "application/json"
            assert "cookie" not in post.headers and "authorization" not in post.headers
            assert post.is_signed_with(SECRET) and not post.is_signed_with("another secret")
        assert [post.number for post in posts] == [1, 2, 3, 4, 5, 6] and len({post.id for post in posts}) == 6
        assert receiver.most_concurrent == 1


@pytest.mark.parametrize("bad", [500, b""], ids=repr)
async def test_a_failed_post_is_repeated_with_the_same_id_before_the_next_event(bad):
    with Receiver(bad, bad) as receiver, serve(receiver) as server:
        await visit(server)
        first, second, third = receiver.expect("sessionCreated", "sessionCreated", "sessionCreated")
        assert first.id == second.id == third.id and first.raw == second.raw == third.raw
        assert all(post.is_signed_with(SECRET) for post in (first, second, third))
        receiver.expect(*ALL[1:])
        server.err.until("again")


async def test_a_refused_event_is_dropped_logged_and_leaves_a_gap():
    with Receiver(200, 410) as receiver, serve(receiver) as server:
        await visit(server)
        posts = receiver.expect(*ALL)
        assert [post.number for post in posts] == [1, 2, 3, 4], "the second event is not repeated"
        assert "refused=1" in server.err.until("dropped")


async def test_a_receiver_that_never_answers_delays_no_client():
    with Receiver(*["silence"] * 1000) as receiver, serve(receiver) as server:
        session = server.project.session()
        async with await Client.join(server, session) as ada, await Client.join(server, session) as bob:
            receiver.next()
            await ada.expect("connectionCreated")
            # The receiver does not answer its post meanwhile. A server that waited for it would answer none of these.
            for number in range(200):
                answer, _ = await ada.signal(type="chat", data=str(number))
                assert answer["ev"] == "ack"
                assert (await bob.expect("signal"))["data"] == str(number)
            for _ in range(20):
                await visit(server)
        # A server that waited for the answer would never end: the last attempt is bounded.
        assert server.stop() == 0
        assert "stops" in server.err.until("dropped")
        assert receiver.most_concurrent == 1


@pytest.mark.waiting
async def test_a_server_that_waits_for_an_answer_uses_no_processor():
    used = queue.Queue()

    def late(handler):
        before = server.processor_seconds()
        handler.connection.settimeout(2)
        with contextlib.suppress(TimeoutError):
            handler.rfile.read(1)
        used.put(server.processor_seconds() - before)

    with Receiver(late) as receiver, serve(receiver) as server:
        async with await Client.join(server, server.project.session()):
            receiver.next()
            assert await asyncio.to_thread(used.get, timeout=DEADLINE) < 0.5, "seconds of the processor in 2 seconds"


async def test_a_receiver_that_was_down_gets_all_events_later():
    bound, port = closed_port()
    url = f"http://127.0.0.1:{port}/hooks"
    with Server(webhook_url=url, webhook_secret=SECRET, webhook_retry_milliseconds=20) as server:
        await visit(server)
        assert "receiver" in server.err.until("does not|cannot|failed")
        bound.close()
        with Receiver(port=port) as receiver:
            receiver.expect(*ALL)


async def test_a_receiver_that_is_too_far_behind_gets_the_newest_events_and_one_line_is_logged():
    bound, port = closed_port()
    url = f"http://127.0.0.1:{port}/hooks"
    settings = {"webhook_url": url, "webhook_retry_milliseconds": 1, "feed_entries": 5}
    with Server(**settings) as server:
        session = server.project.session()
        for _ in range(20):
            await visit(server, session)
        bound.close()
        with Receiver(port=port) as receiver:
            posts = [receiver.next() for _ in range(5)]
            assert [post.number for post in posts][-4:] == [77, 78, 79, 80], "the newest events are kept"
            server.err.until("dropped")
            assert "webhook-signature" not in posts[0].headers, "without a secret there is no signature"
            assert server.stop() == 0
    while server.err.next() is not None:
        pass
    assert sum("dropped" in line for line in server.err.seen) <= 2, server.err.seen


async def test_a_stopping_server_posts_all_events():
    with Receiver() as receiver, serve(receiver) as server:
        session = server.project.session()
        clients = [await Client.join(server, session) for _ in range(3)]
        receiver.expect("sessionCreated", *["connectionCreated"] * 3)
        assert server.stop() == 0
        posts = receiver.expect(*["connectionDestroyed"] * 3, "sessionDestroyed")
        assert [post.event["connection"]["id"] for post in posts[:3]] == [client.id for client in clients]
        assert {post.event["reason"] for post in posts[:3]} == {"networkDisconnected"}
        for client in clients:
            await client.closed()


async def test_a_project_has_its_own_receiver_or_the_common_one(tmp_path):
    own = Project("101", "the secret of another project")
    with Receiver() as common, Receiver() as special:
        file = tmp_path / "signalbox.json"
        entry = {"apiKey": own.key, "secrets": [own.secret], "webhookUrl": special.url, "webhookSecret": "its own"}
        file.write_text(json.dumps({"projects": [entry], "webhookUrl": common.url, "webhookSecret": SECRET}))
        with Server("--config", file) as server:
            await visit(server)
            session = own.session()
            async with await Client.join(server, session, token=own.token(session), key=own.key):
                for post in special.expect("sessionCreated", "connectionCreated"):
                    assert post.event["projectId"] == "101" and post.is_signed_with("its own")
            for post in common.expect(*ALL):
                assert post.event["projectId"] == "100" and post.is_signed_with(SECRET)


async def test_a_proxy_of_the_environment_is_used(monkeypatch):
    with Receiver() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with Server(webhook_url="http://receiver.example/hooks") as server:
            await visit(server)
            assert {post.path for post in proxy.expect(*ALL)} == {"http://receiver.example/hooks"}


async def test_an_https_receiver_with_a_certificate_of_ones_own_authority_gets_the_events(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "authority.pem"))
    with Receiver(tls=(TLS / "server.pem", TLS / "server.key.pem")) as receiver, serve(receiver) as server:
        await visit(server)
        receiver.expect(*ALL)


async def test_a_certificate_for_another_host_is_refused(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "authority.pem"))
    with Receiver(tls=(TLS / "elsewhere.pem", TLS / "elsewhere.key.pem")) as receiver, serve(receiver) as server:
        await visit(server)
        assert "certificate" in server.err.until("does not|cannot|failed")
        assert receiver.posts.empty()


async def test_the_certificate_of_an_https_receiver_is_verified():
    with Receiver(tls=(TLS / "server.pem", TLS / "server.key.pem")) as receiver:
        with serve(receiver) as server:
            await visit(server)
            assert "certificate" in server.err.until("does not|cannot|failed")
            assert receiver.posts.empty()


def test_no_secret_is_logged():
    url = "http://127.0.0.1:1/path-secret?query-secret"
    with Server(
        webhook_url=url, webhook_secret="hook-secret", log_level="trace", webhook_retry_milliseconds=1
    ) as server:
        asyncio.run(visit(server))
        server.err.until("does not|cannot|failed")
        assert server.stop() == 0
        while server.err.next() is not None:
            pass
        for line in server.err.seen + server.out.seen:
            assert "secret" not in line, line


def test_without_a_url_nothing_is_posted():
    with Receiver() as receiver, Server() as server:
        asyncio.run(visit(server))
        assert server.stop() == 0
        assert receiver.posts.empty()
