"""Crashes and failing disks: with `--state-dir`, an acknowledged signal survives `kill -9` (G2, RES-15)."""

import asyncio
import contextlib
import os
import shutil
import subprocess

import pytest

from durable import all_lines, kill, serve, stop, time_passes, two_in_a_session
from server_process import run
from signalbox_client import Client, reconnect
from webhook_receiver import Receiver, closed_port


async def resumed(server, session, old, after):
    client = await reconnect(server, session, old, after)
    assert client.connected["outcome"] == "resumed" and client.me == old.me
    assert client.connected["epoch"] == old.connected["epoch"]
    return client


@pytest.mark.parametrize("end, durability", [("kill", "process"), ("kill", "power"), ("stop", "process")])
async def test_g_2_res_15_after_a_kill_or_a_stop_clients_resume_and_nothing_that_was_acknowledged_is_lost(
    tmp_path, end, durability
):
    with serve(tmp_path, "--durability", durability) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        answer, _ = await ada.signal(type="chat", data='say "é\u2028\u0000"')
        unanswered = answer["id"]
        await bob.signal(type="chat", data="to her", to=ada.id)
        if end == "kill":
            kill(server)
        else:
            await stop(server)
    with serve(tmp_path, "--durability", durability) as server:
        ada2, bob2 = await resumed(server, session, ada, after=2), await resumed(server, session, bob, after=3)
        async with ada2, bob2:
            # No presence event comes between the events that they missed.
            await ada2.expect("signal", seq=3, data='say "é\u2028\u0000"', **{"from": ada.id})
            await ada2.expect("signal", seq=4, data="to her", to=ada.id)
            # RES-9: as if the answer had been lost with the server. The request is carried out once.
            await ada2.send('{"op":"signal","id":%d,"type":"chat","data":"again"}' % unanswered)
            await ada2.expect("ack", id=unanswered, seq=3)
            answer, events = await bob2.signal(type="chat", data="after it")
            assert answer["seq"] == 5 and [event["ev"] for event in events] == ["signal"]
            await ada2.expect("signal", seq=5, data="after it")
            listed = server.rest("GET", server.session_path(session, "/connection")).json()
            assert [each["connectionId"] for each in listed["items"]] == [ada.id, bob.id]


async def test_leave_1_a_departure_that_was_acknowledged_survives_a_kill(tmp_path):
    """LOG-14: the others see a client that has left, not one that may come back."""
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        request = await ada.request("disconnect")
        answer, _ = await ada.answer(request)
        kill(server)
        assert answer["ev"] == "ack"
    with serve(tmp_path) as server:
        async with await resumed(server, session, bob, after=2) as bob2:
            await bob2.expect("connectionDestroyed", connectionId=ada.id, reason="clientDisconnected", seq=3)


async def test_res_9_signals_that_a_kill_leaves_without_an_answer_are_carried_out_once(tmp_path):
    """In each round, the server is killed at once after an acknowledgement, while further signals are on their way."""
    seen, expected = [], []
    with serve(tmp_path) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        for round in range(5):
            texts = [f"{round} {number}" for number in range(10)]
            requests = [await bob.request("signal", type="n", data=text) for text in texts]
            answer, _ = await bob.answer(requests[2])
            kill(server)
            expected += texts
            # Each signal after the acknowledged one may be in the log or not.
            server.__exit__()
            server = serve(tmp_path)
            with contextlib.ExitStack() as stack:
                stack.enter_context(server)
                bob = await resumed(server, session, bob, after=answer["seq"])
                for request, text in zip(requests[3:], texts[3:]):
                    await bob.send('{"op":"signal","id":%d,"type":"n","data":"%s"}' % (request, text))
                assert [(await bob.answer(request))[0]["ev"] for request in requests[3:]] == ["ack"] * 7
                ada = await resumed(server, session, ada, after=2 + len(seen))
                while len(seen) < len(expected):
                    seen.append((await ada.expect("signal", seq=3 + len(seen)))["data"])
                stack.pop_all()
        server.__exit__()
    assert seen == expected


async def test_g_2_a_signal_that_rest_has_answered_with_204_is_received_by_all_after_a_kill(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        clients = await two_in_a_session(server, session)
        path = server.session_path(session, "/signal")
        answer = await asyncio.to_thread(server.rest, "POST", path, {"type": "news", "data": "kept"})
        assert answer.status == 204
        kill(server)
    with serve(tmp_path) as server:
        for client in clients:
            async with await resumed(server, session, client, after=2) as back:
                await back.expect("signal", seq=3, type="news", data="kept", **{"from": None})


@pytest.mark.waiting
async def test_res_12_res_15_windows_are_counted_from_the_kill(tmp_path):
    with serve(tmp_path, resume_seconds=1) as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        kill(server)
    # The server may have lived for a second after its last sign of life.
    await time_passes(3)
    with serve(tmp_path, resume_seconds=1) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "recovered" and back.connected["epoch"] == ada.connected["epoch"]
            assert [each["connectionId"] for each in back.connected["connections"]] == [back.id]


async def test_res_10_a_client_that_was_force_disconnected_before_the_kill_is_told_after_it(tmp_path):
    with serve(tmp_path) as server:
        session = server.project.session()
        mod, ada = await Client.join(server, session, role="moderator"), await Client.join(server, session)
        ada.socket.transport.abort()
        await mod.answer(await mod.request("forceDisconnect", connectionId=ada.id))
        kill(server)
    with serve(tmp_path) as server:
        again = await Client.open(server)
        resume = {
            "connectionId": ada.id, "secret": ada.connected["resume"]["secret"], "epoch": ada.connected["epoch"],
            "after": 2,
        }  # fmt: skip
        token = server.project.token(session)
        await again.request("connect", apiKey="100", sessionId=session, token=token, resume=resume)
        code, events = await again.closed()
        assert code == 4502 and events[0]["reason"] == "forceDisconnected"


# Webhooks (LOG-11)


async def test_an_event_whose_answer_a_kill_prevented_is_posted_again_with_the_same_id(tmp_path):
    with Receiver("silence") as receiver:
        settings = {"webhook_url": receiver.url, "resume_seconds": 1}
        with serve(tmp_path, **settings) as server:
            session = server.project.session()
            ada, _ = await two_in_a_session(server, session)
            (first,) = receiver.expect("sessionCreated")
            kill(server)
        with serve(tmp_path, **settings) as server:
            again, *joins = receiver.expect("sessionCreated", "connectionCreated", "connectionCreated")
            assert again.id == first.id and again.raw == first.raw
            ends = receiver.expect_new("connectionDestroyed", "connectionDestroyed", "sessionDestroyed")
            posts = [again, *joins, *ends]
            assert len({post.id for post in posts}) == len(posts)
            # The id is EPOCH-COMMAND-INDEX.
            ids = [post.id.rsplit("-", 2) for post in posts]
            assert {epoch for epoch, *_ in ids} == {ada.connected["epoch"]}
            numbers = [(int(command), int(index)) for _, command, index in ids]
            assert numbers == sorted(numbers)


async def test_events_that_wait_for_a_receiver_survive_a_kill(tmp_path):
    bound, port = closed_port()
    settings = {
        "webhook_url": f"http://127.0.0.1:{port}/hooks", "webhook_retry_milliseconds": 10, "resume_seconds": 60
    }
    with bound:
        with serve(tmp_path, **settings) as server:
            session = server.project.session()
            _, bob = await two_in_a_session(server, session)
            await bob.leave()
            kill(server)
    with Receiver(port=port) as receiver, serve(tmp_path, **settings):
        _, first, second, gone = receiver.expect_new(
            "sessionCreated", "connectionCreated", "connectionCreated", "connectionDestroyed"
        )
        assert gone.event["connection"] == second.event["connection"] != first.event["connection"]
        assert gone.event["connection"]["id"] == bob.id and gone.event["reason"] == "clientDisconnected"
        assert first.event["timestamp"] <= second.event["timestamp"] <= gone.event["timestamp"]


# Failing disks (LOG-23)


def mount_small_disk(folder):
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", folder]
    return subprocess.run(command, capture_output=True).returncode == 0


def unmount(folder):
    subprocess.run(["umount", "-l", folder], capture_output=True)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MiB in memory."""
    folder = tmp_path / "disk"
    if not mount_small_disk(folder):
        pytest.skip("only root with the right to mount can make a small file system")
    yield folder
    unmount(folder)


def fill(file):
    """Writes until the disk is full."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    size = 1 << 16
    while size:
        try:
            os.write(descriptor, bytes(size))
        except OSError:
            size //= 2
    os.close(descriptor)


class Sender:
    """A client that sends signals of 8,000 characters and does not wait for the answers."""

    COUNT = 40

    def __init__(self, client):
        self.client = client
        self.requests = []

    async def send_all(self):
        for number in range(self.COUNT):
            self.requests.append(await self.client.request("signal", type="n", data=f"{number} {'x' * 8_000}"))


async def status(server, path):
    return (await asyncio.to_thread(server.request, "GET", path)).status


async def is_full(server):
    """Waits until the server reports the full disk."""
    await asyncio.to_thread(server.err.until, "is full")
    answer = await asyncio.to_thread(server.request, "GET", "/readyz")
    assert answer.status == 503 and answer.json()["status"] == "full", answer
    assert await status(server, "/livez") == 200


def acknowledged(client):
    """The answers that a client has received and the test has not read."""
    events = []
    while not client._received.empty():
        events.append(client._received.get_nowait())
    return [event["id"] for event in events if event and event["ev"] == "ack"]


async def test_g_2_res_15_a_full_disk_acknowledges_nothing_and_goes_on_when_there_is_room(small_disk):
    ballast = small_disk / "ballast"
    with serve(small_disk / "state") as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        assert await status(server, "/readyz") == 200
        fill(ballast)
        sender = Sender(bob)
        await sender.send_all()
        await is_full(server)
        before = acknowledged(bob)
        # The loop has turned several times, and still nothing is acknowledged.
        late = await bob.request("signal", type="late")
        for _ in range(5):
            assert await status(server, "/readyz") == 503
        assert before == sender.requests[: len(before)] and acknowledged(bob) == []
        ballast.unlink()
        for request in [*sender.requests[len(before) :], late]:
            assert (await bob.answer(request))[0]["ev"] == "ack"
        assert await status(server, "/readyz") == 200
        for number in range(sender.COUNT):
            assert (await ada.expect("signal", seq=3 + number))["data"].startswith(f"{number} ")
        await ada.expect("signal", type="late")
        await asyncio.to_thread(server.stop)
        reports = [line for line in all_lines(server) if "is full" in line]
        assert len(reports) == 1 and str(small_disk) in reports[0], reports


async def test_g_2_a_kill_while_the_disk_is_full_loses_nothing_that_was_acknowledged(small_disk):
    ballast = small_disk / "ballast"
    with serve(small_disk / "state") as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        fill(ballast)
        sender = Sender(bob)
        await sender.send_all()
        await is_full(server)
        known = len(acknowledged(bob))
        kill(server)
    ballast.unlink()
    with serve(small_disk / "state") as server:
        async with await resumed(server, session, bob, after=2 + known) as back:
            for number, request in enumerate(sender.requests[known:], known):
                await back.send('{"op":"signal","id":%d,"type":"n","data":"%d %s"}' % (request, number, "x" * 8_000))
            for request in sender.requests[known:]:
                assert (await back.answer(request))[0]["ev"] == "ack"
        async with await resumed(server, session, ada, after=2) as back:
            for number in range(sender.COUNT):
                assert (await back.expect("signal", seq=3 + number))["data"].startswith(f"{number} ")


async def test_a_stop_on_a_full_disk_ends_with_status_1_and_loses_nothing_that_was_acknowledged(small_disk):
    ballast = small_disk / "ballast"
    with serve(small_disk / "state") as server:
        session = server.project.session()
        ada, bob = await two_in_a_session(server, session)
        fill(ballast)
        await Sender(bob).send_all()
        await is_full(server)
        known = len(acknowledged(bob))
        assert await asyncio.to_thread(server.stop) == 1
        assert str(small_disk) in all_lines(server)[-1]
    ballast.unlink()
    with serve(small_disk / "state") as server:
        async with await resumed(server, session, ada, after=2) as back:
            for number in range(known):
                assert (await back.expect("signal", seq=3 + number))["data"].startswith(f"{number} ")


def test_a_disk_without_room_for_the_database_is_reported_at_the_start(small_disk):
    (small_disk / "state").mkdir(mode=0o700)
    fill(small_disk / "ballast")
    failed = run("serve", "--port", "0", "--state-dir", small_disk / "state", api_key="100", api_secret="secret")
    assert failed.returncode == 73 and str(small_disk) in failed.stderr, failed
    assert failed.stderr.count("\n") == 1


async def test_g_4_a_folder_that_is_removed_ends_the_server_and_clients_are_told(tmp_path):
    folder = tmp_path / "state"
    with serve(folder) as server:
        session = server.project.session()
        ada, _ = await two_in_a_session(server, session)
        shutil.rmtree(folder)
        assert await asyncio.to_thread(server.wait) == 1
        last = all_lines(server)[-1]
        assert str(folder) in last and "was removed or replaced" in last and "Start the server again" in last
    with serve(folder) as server:
        async with await reconnect(server, session, ada, after=2) as back:
            assert back.connected["outcome"] == "lost" and back.connected["epoch"] != ada.connected["epoch"]
