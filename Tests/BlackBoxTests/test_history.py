"""Rooms that remember: docs/PROTOCOL.md, section 16, on a server with a state folder, and on nodes."""

import asyncio
import contextlib
import itertools

import pytest

import cluster
import durable
from server_process import Server, run
from signalbox_client import Client
from waiting import until

# A session ends soon after the last client has left, and a lost client may come back late, on a busy machine.
WINDOWS = {"resume_seconds": 60, "recovery_seconds": 1}


class Nodes:
    """Several nodes as one server: each use of it goes to the next node."""

    def __init__(self, nodes):
        self.nodes = nodes
        self._turn = itertools.cycle(nodes)

    def __getattr__(self, name):
        return getattr(next(self._turn), name)

    def memory(self):
        return sum(node.memory() for node in self.nodes)


@contextlib.contextmanager
def serve_nodes(**settings):
    # Such a Redis forgets nothing, so no message has to be proved to be on its disk for ten seconds.
    with cluster.Redis("--appendfsync", "always") as redis, contextlib.ExitStack() as stack:
        yield Nodes([stack.enter_context(Server(redis=redis.url, **settings)) for _ in range(3)])


@contextlib.contextmanager
def serve_one_or_several(kind, tmp_path_factory):
    if kind == "nodes":
        with serve_nodes(history="chat,notes", **WINDOWS) as nodes:
            yield nodes
    else:
        with Server(state_dir=tmp_path_factory.mktemp("history") / "state", history="chat,notes", **WINDOWS) as server:
            yield server


@pytest.fixture(scope="module", params=["folder", "nodes"])
def server(request, tmp_path_factory):
    with serve_one_or_several(request.param, tmp_path_factory) as server:
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


async def say(client, *texts, type="chat"):
    """Sends signals, and returns their seqs."""
    seqs = []
    for text in texts:
        answer, _ = await client.signal(type=type, data=text)
        assert answer["ev"] == "ack", answer
        seqs.append(answer["seq"])
    return seqs


async def history(client, **members):
    """The answer to a `history` request, whatever comes before it."""
    request = await client.request("history", **members)
    while True:
        event = await client.next()
        if event["ev"] in ("history", "error") and event.get("id") == request:
            return event


def texts(page):
    return [message.get("data") for message in page["messages"]]


async def leave_asleep(server, session, *clients):
    """Lets all clients leave, and waits until the server keeps the session no more."""
    for client in clients:
        await client.leave()
    for node in getattr(server, "nodes", [server]):
        path = f"/admin/v1/sessions/{session}"
        await until(lambda node=node: is_asleep(node.rest("GET", path)), "the end of the session")


def is_asleep(answer):
    """Whether nobody is in the session. Nodes that share it do not know whether it sleeps."""
    return answer.status == 404 or "asleep" in answer.json()


async def test_his_5_a_late_joiner_gets_the_last_messages(server, session):
    ada = await Client.join(server, session, data="name=Ada")
    assert ada.connected["history"] is True
    seqs = await say(ada, "one", "two", "three")
    await say(ada, "not kept", type="other")
    bob = await Client.join(server, session, options={"history": {"last": 2}})
    page = await bob.expect("history", id=1)
    assert (page["first"], page["last"], page["more"]) == (seqs[0], seqs[2], True)
    newest = page["messages"][-1]
    assert newest["connection"] == ada.me and newest["from"] == ada.id
    assert (newest["seq"], newest["type"], newest["data"]) == (seqs[2], "chat", "three")
    assert abs(newest["time"] - ada.me["creationTime"]) < 60_000
    assert texts(page) == ["two", "three"]


async def test_his_4_history_and_events_meet_without_a_gap(server, session):
    ada = await Client.join(server, session)
    sent = []

    async def write():
        for number in range(200):
            sent.extend(await say(ada, str(number)))

    writing = asyncio.create_task(write())
    readers = []
    for _ in range(5):
        reader = await Client.join(server, session, options={"history": {"last": 200}})
        readers.append(reader)
        await ada.request("signal", type="other")
    await writing
    for reader in readers:
        seen, end = set(), reader.connected["seq"]
        page = None
        while page is None or max(seen, default=0) < sent[-1]:
            event = await reader.next()
            if event["ev"] == "history":
                page = event
                seen.update(message["seq"] for message in page["messages"])
            elif event["ev"] == "signal" and event.get("type") == "chat":
                assert event["seq"] > end
                seen.add(event["seq"])
        assert seen == set(sent)


async def test_his_3_a_room_that_everybody_left_sleeps_and_goes_on(server, session):
    ada = await Client.join(server, session)
    seqs = await say(ada, "good night")
    await leave_asleep(server, session, ada)
    bob = await Client.join(server, session, options={"history": {}})
    assert bob.connected["epoch"] == ada.connected["epoch"]
    assert bob.connected["seq"] > seqs[0]
    assert texts(await bob.expect("history")) == ["good night"]
    assert (await say(bob, "good morning"))[0] > bob.connected["seq"]
    assert texts(await history(bob)) == ["good night", "good morning"]


@pytest.mark.parametrize("form", ["token", "jwt_token"])
async def test_his_8_a_token_may_forbid_to_read(server, session, form):
    ada = await Client.join(server, session)
    await say(ada, "for members")
    token = getattr(server.project, form)(session, history="none")
    guest = await Client.join(server, session, token=token, options={"history": {"last": 5}})
    assert "history" not in guest.connected
    assert (await history(guest))["code"] == 403
    await say(guest, "the guest may write")
    member = await Client.join(server, session, token=getattr(server.project, form)(session, history="all"))
    assert texts(await history(member)) == ["for members", "the guest may write"]
    subscriber = await Client.join(server, session, role="subscriber")
    assert len((await history(subscriber))["messages"]) == 2


async def test_his_8_without_a_history_there_is_none(tmp_path):
    with Server() as server:
        session = server.project.session()
        ada = await Client.join(server, session, options={"history": {"last": 5}})
        assert "history" not in ada.connected
        assert (await history(ada))["code"] == 404
        request = await ada.request("erase", ref=1)
        assert (await ada.answer(request))[0]["code"] in (403, 404)
        assert server.rest("GET", server.session_path(session, "/message")).status == 404


async def test_his_9_a_moderator_erases(server, session):
    ada = await Client.join(server, session)
    moderator = await Client.join(server, session, role="moderator")
    await ada.expect("connectionCreated")
    one, two, three = await say(ada, "one", "two", "three")
    refused = await ada.answer(await ada.request("erase", ref=one))
    assert refused[0]["code"] == 403
    answer, _ = await moderator.answer(await moderator.request("erase", ref=two))
    assert answer["ev"] == "ack"
    await ada.expect("erased", seq=answer["seq"], ref=two)
    page = await history(ada)
    assert texts(page) == ["one", None, "three"]
    tombstone = page["messages"][1]
    assert tombstone["erased"] is True and tombstone["seq"] == two and tombstone["connection"] == ada.me
    assert not {"type", "data", "json"} & tombstone.keys()
    answer, _ = await moderator.answer(await moderator.request("erase", through=two))
    # Another node may carry the erasure out a moment later.
    await ada.expect("erased", seq=answer["seq"], through=two)
    assert texts(await history(ada)) == ["three"]
    late = await Client.join(server, session, options={"history": {"last": 5}})
    page = await late.expect("history")
    assert texts(page) == ["three"] and page["first"] == three
    # A greater seq than 2^53 fits into no log, and must not reach one.
    for wrong in [{}, {"ref": 1, "through": 2}, {"ref": "1"}, {"ref": 2**53 + 1}, {"through": 2**62}]:
        assert (await moderator.answer(await moderator.request("erase", **wrong)))[0]["code"] == 400


async def test_his_10_rest_reads_and_erases(server, session):
    path = server.session_path(session, "/message")
    assert server.rest("GET", path).json() == {"more": False, "messages": []}
    ada = await Client.join(server, session)
    one, two, three = await say(ada, "one", "two", "three")
    page = server.rest("GET", path + "?limit=2").json()
    assert (texts(page), page["first"], page["last"], page["more"]) == (["two", "three"], one, three, True)
    assert texts(server.rest("GET", f"{path}?before={two}").json()) == ["one"]
    assert texts(server.rest("GET", f"{path}?after={one}&limit=1").json()) == ["two"]
    assert server.rest("DELETE", f"{path}/{two}").status == 204
    await ada.expect("erased", ref=two)
    assert texts(server.rest("GET", path).json()) == ["one", None, "three"]
    assert server.rest("DELETE", f"{path}?through={one}").status == 204
    assert texts(server.rest("GET", path).json()) == [None, "three"]
    most, least = 2**63 - 1, -(2**63)
    for position, found in {
        f"after={least}": [None, "three"], f"before={most}": [None, "three"], f"after={most}": [], "before=-1": [],
    }.items():  # fmt: skip
        assert texts(server.rest("GET", f"{path}?{position}").json()) == found, f"HIS-6: {position}"
        name, seq = position.split("=")
        assert texts(await ada.history(**{name: int(seq)})) == found, f"HIS-6: {position}"
    for wrong in ["?before=x", "?limit=0", "?before=3&after=2", f"?after={most + 1}", "?limit=1e3"]:
        assert server.rest("GET", path + wrong).status == 400, wrong
    assert server.rest("DELETE", path).status == 400
    assert server.rest("DELETE", path + "/x").status == 404
    assert server.rest("DELETE", f"{path}/{2**53 + 1}").status == 404
    assert server.request("GET", path).status == 403
    assert server.rest("POST", path, {}).status == 405
    await leave_asleep(server, session, ada)
    assert texts(server.rest("GET", path).json()) == [None, "three"], "of a sleeping room, too"


async def test_his_3_history_survives_kill_9(tmp_path):
    folder = tmp_path / "state"
    with durable.serve(folder, history="chat", **WINDOWS) as first:
        session = first.project.session()
        other = first.project.session()
        ada = await Client.join(first, session)
        sent = await say(ada, *map(str, range(150)))
        bob = await Client.join(first, other)
        await say(bob, "asleep")
        await bob.leave()
        durable.kill(first)
    with durable.serve(folder, history="chat", **WINDOWS) as second:
        page = second.rest("GET", second.session_path(session, "/message?limit=200")).json()
        assert [message["seq"] for message in page["messages"]] == sent
        eve = await Client.join(second, other, options={"history": {"last": 5}})
        assert texts(await eve.expect("history")) == ["asleep"]


async def test_his_3_a_lost_order_is_followed_by_one_far_above_its_history(tmp_path):
    """The log of the sessions is gone, and the history is not: no seq names two messages."""
    folder = tmp_path / "state"
    with durable.serve(folder, history="chat", **WINDOWS) as first:
        session = first.project.session()
        ada = await Client.join(first, session)
        before = ada.connected
        sent = await say(ada, *map(str, range(70)))
        await leave_asleep(first, session, ada)
    for file in folder.glob("sessions.sqlite*"):
        file.unlink()
    with durable.serve(folder, history="chat", **WINDOWS) as second:
        eve = await Client.join(second, session, options={"history": {"last": 5}})
        assert eve.connected["epoch"] != before["epoch"]
        assert eve.connected["seq"] > sent[-1] + 1_000_000_000
        assert texts(await eve.expect("history")) == list(map(str, range(65, 70)))


@pytest.mark.parametrize("restarts", [False, True])
async def test_his_9_no_live_file_has_what_was_erased(tmp_path, restarts):
    folder = tmp_path / "state"
    secret = "the password is swordfish"

    def has_secret():
        return [file.name for file in folder.iterdir() if secret.encode() in file.read_bytes()]

    with durable.serve(folder, history="chat") as server:
        session = server.project.session()
        # Another session pins the command log, so that nothing is dropped by itself.
        other = await Client.join(server, server.project.session())
        await say(other, *map(str, range(20)), type="other")
        ada = await Client.join(server, session)
        seqs = await say(ada, *(f"{secret} {number}" for number in range(100)))
        assert has_secret()
        answer = server.rest("DELETE", server.session_path(session, f"/message?through={seqs[98]}"))
        assert answer.status == 204
        assert server.rest("DELETE", server.session_path(session, f"/message/{seqs[99]}")).status == 204
        if restarts:
            durable.kill(server)
        else:
            await until_gone(has_secret)
            return
    with durable.serve(folder, history="chat") as server:
        await until_gone(has_secret)
        page = server.rest("GET", server.session_path(session, "/message")).json()
        assert texts(page) == [None]


async def until_gone(files):
    """Waits until no file has the content any more."""
    await until(lambda: not files(), "the end of the content in every file")


async def test_his_8_the_token_command_writes_the_claim(server, session):
    ada = await Client.join(server, session)
    await say(ada, "hello")
    credentials = ("--api-key", server.project.key, "--api-secret", server.project.secret)
    for form in ("t1", "jwt"):
        for claim, code in (("none", 403), ("all", None)):
            made = run("token", session, *credentials, "--format", form, "--history", claim)
            assert made.returncode == 0, made.stderr
            client = await Client.join(server, session, token=made.stdout.strip())
            assert (await history(client)).get("code") == code


async def test_his_3_history_survives_the_death_of_a_node():
    with serve_nodes(history="chat", **WINDOWS) as nodes:
        first, second, third = nodes.nodes
        session, other = first.project.session(), first.project.session()
        ada = await Client.join(first, session)
        sent = await say(ada, *map(str, range(150)))
        bob = await Client.join(first, other)
        await say(bob, "asleep")
        await bob.leave()
        durable.kill(first)
        page = second.rest("GET", second.session_path(session, "/message?limit=200")).json()
        assert [message["seq"] for message in page["messages"]] == sent
        eve = await Client.join(third, other, options={"history": {"last": 5}})
        assert texts(await eve.expect("history")) == ["asleep"]
