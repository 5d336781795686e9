"""The feed of a project by pull: docs/PROTOCOL.md, section 22, in memory, with a state folder, and on nodes."""

import asyncio
import contextlib
import http.client
import json
import time

import pytest

import durable
from server_process import DEADLINE, Server
from signalbox_client import Client
from test_changes import change, erase, join, serve
from test_history import WINDOWS, say
from waiting import until

ALL = {"history": "chat", "changes": "edit,erase", "feed": True, "unread_seconds": 1, **WINDOWS}


@pytest.fixture(scope="module", params=["memory", "folder", "nodes"])
def server(request, tmp_path_factory):
    with serve(request.param, tmp_path_factory, ALL) as server:
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


class Reader:
    """A backend that reads the feed, and keeps its offset."""

    def __init__(self, server, offset="-1", **query):
        self.server, self.offset, self.query = server, offset, query
        if offset == "now":
            self.read()

    def get(self, **query):
        query = {"offset": self.offset, **self.query, **query}
        path = f"/v2/project/{self.server.project.key}/feed?" + "&".join(f"{k}={v}" for k, v in query.items())
        return self.server.rest("GET", path)

    def read(self, **query):
        """The next events; none if nothing comes in time."""
        answer = self.get(**query)
        assert answer.status in (200, 204), answer
        self.offset = answer.headers["Stream-Next-Offset"]
        return answer.json() if answer.status == 200 else []

    async def until(self, is_last, session=None):
        """The events of a session up to one."""
        found = []
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            for event in await asyncio.to_thread(self.read, live="long-poll"):
                if session in (None, event.get("sessionId")):
                    found.append(event)
                    if is_last(event):
                        return found
        raise TimeoutError(found)


def messages(events):
    return [(event["seq"], event.get("data")) for event in events if event["event"] == "signal"]


async def test_feed_1_messages_presence_and_erasures_come_in_the_order_of_the_session(server, session):
    reader = Reader(server, "now")
    ada = await join(server, session, "u-ada")
    bob = await join(server, session, "u-bob")
    seqs = await say(ada, "one", "two")
    answer = await change(ada, seqs[0], "three")
    erased = await erase(bob, seqs[1])
    assert erased["ev"] == "error"
    await erase(ada, seqs[1])
    await bob.leave()
    events = await reader.until(lambda event: event["event"] == "connectionDestroyed", session)
    assert [event["event"] for event in events] == [
        "connectionCreated", "connectionCreated", "signal", "signal", "change", "erased", "connectionDestroyed",
    ]  # fmt: skip
    created, _, first, second, edited, erasure, destroyed = events
    assert created["connection"] == ada.me and created["seq"] == 1 and abs(created["time"] / 1000 - time.time()) < 60
    # The content is that of the time of delivery: edited and erased meanwhile, or not yet.
    assert first["data"] in ("one", "three") and first["connection"] == ada.me and first["type"] == "chat"
    assert second.get("data") == "two" or second["erased"] is True
    assert (edited["seq"], edited["data"], edited["changed"]) == (seqs[0], "three", answer["seq"])
    assert erasure["ref"] == seqs[1] and erasure["seq"] > answer["seq"]
    assert destroyed["connection"] == bob.me and destroyed["reason"] == "clientDisconnected"
    assert reader.read() == []


async def test_feed_3_a_reader_goes_on_where_it_was_page_by_page(server, session):
    start = Reader(server, "now")
    ada = await Client.join(server, session)
    seqs = await say(ada, *(f"text {number}" for number in range(120)))
    whole = Reader(server, start.offset)
    everything = await whole.until(lambda event: event.get("seq") == seqs[-1], session)
    assert messages(everything) == [(seq, f"text {number}") for number, seq in enumerate(seqs)]
    parts, reader, offsets = [], Reader(server, start.offset, limit=10), [start.offset]
    while reader.offset != whole.offset:
        events = reader.read()
        assert events and len(events) <= 100, "an entry has at most 100 events"
        parts += [event for event in events if event["sessionId"] == session]
        offsets.append(reader.offset)
    assert parts == everything
    assert offsets == sorted(set(offsets)), "later offsets are greater as text"
    answer = reader.get()
    assert answer.json() == [] and answer.headers["Stream-Up-To-Date"] == "true"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_feed_3_a_waiting_reader_gets_what_comes_at_once(server, session):
    reader = Reader(server, "now")
    ada = await Client.join(server, session)
    await reader.until(lambda event: event["event"] == "connectionCreated", session)
    waiting = asyncio.create_task(reader.until(lambda event: event["event"] == "signal", session))
    (seq,) = await say(ada, "now")
    begin = time.monotonic()
    assert messages(await waiting) == [(seq, "now")]
    assert time.monotonic() - begin < 5


async def test_feed_4_an_offset_of_another_feed_is_gone(server):
    answer = Reader(server, "0000000000000001").get()
    assert answer.status == 410 and "offset=-1" in answer.json()["message"]
    assert Reader(server, "7000000000000000").get().status == 410


@pytest.mark.parametrize(
    "query", ["offset=x", "offset=", "offset=-2", "offset=%2B000000000000001", "limit=0", "limit=x", "live=yes",
              "limit=1001"])  # fmt: skip
def test_feed_3_bad_queries_are_refused(server, query):
    answer = server.rest("GET", f"/v2/project/{server.project.key}/feed?{query}")
    assert answer.status == 400 and answer.json()["code"] == 400, answer


def test_feed_3_only_the_project_reads_its_feed(server):
    path = f"/v2/project/{server.project.key}/feed"
    assert server.request("GET", path).status == 403
    assert server.request("POST", path).status == 405


async def test_feed_1_without_the_setting_there_is_none():
    with Server(history="chat") as server:
        answer = Reader(server).get()
        assert answer.status == 404 and "--feed" in answer.json()["message"]


async def test_feed_4_trimmed_messages_are_a_gap():
    with Server(history="chat", feed=True, history_messages=3) as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        reader = Reader(server)
        seqs = await say(ada, *"abcdef")
        events = reader.read()
        assert messages(events) == [(seq, text) for seq, text in zip(seqs[3:], "def", strict=True)]
        gaps = [(event["from"], event["through"]) for event in events if event["event"] == "gap"]
        assert {seq for first, last in gaps for seq in range(first, last + 1)} >= set(seqs[:3])


async def test_feed_3_a_restart_and_a_kill_lose_no_event_and_no_offset(tmp_path):
    texts = []
    with durable.serve(tmp_path / "state", **ALL) as server:
        session = server.project.session()
        reader = Reader(server)
        ada = await Client.join(server, session)
        for number in range(3):
            texts.append(f"before {number}")
            await say(ada, texts[-1])
        await reader.until(lambda event: event.get("data") == texts[-1])
        # These wait for the history when the server ends.
        texts.append("just before the end")
        await say(ada, texts[-1])
        durable.kill(server)
    with durable.serve(tmp_path / "state", **ALL) as server:
        reader.server = server
        events = await reader.until(lambda event: event.get("data") == texts[-1])
        assert [data for _, data in messages(events)] == texts[3:]
        late = await Client.join(server, session)
        await say(late, "after")
        events = await reader.until(lambda event: event.get("data") == "after")
        everything = await Reader(server).until(lambda event: event.get("data") == "after")
        assert [data for _, data in messages(everything)] == [*texts, "after"]


async def test_feed_2_moderation_is_told(server, session):
    reader = Reader(server, "now")
    await join(server, session, "u-ada")
    path = server.session_path(session, "/moderation")
    answer = server.rest("POST", path, {"action": "mute", "user": "u-ada", "seconds": 60, "reason": "Please wait"})
    assert answer.status == 200, answer
    *_, event = await reader.until(lambda event: event["event"] == "moderated", session)
    assert event["seq"] == answer.json()["seq"] and event["user"] == "u-ada" and event["reason"] == "Please wait"
    assert json.dumps(event).count("u-ada") == 1


async def test_feed_6_what_is_unread_is_told_once_until_the_user_comes_back(server, session):
    reader = Reader(server, "now")
    ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
    await say(ada, "bob has this one")
    await bob.leave()
    seqs = await say(ada, "one", "two")
    told = (await reader.until(lambda event: event["event"] == "user.unread", session))[-1]
    assert (told["user"], told["count"], told["seq"]) == ("u-bob", 2, seqs[-1])
    await say(ada, "not told again")
    back = await join(server, session, "u-bob")
    await back.leave()
    (seq,) = await say(ada, "told anew")
    events = await reader.until(lambda event: event["event"] == "user.unread", session)
    assert (events[-1]["user"], events[-1]["count"], events[-1]["seq"]) == ("u-bob", 1, seq)
    assert sum(event["event"] == "user.unread" for event in events) == 1, "once while the user was away"


def server_sent_events(server, query):
    """The server-sent events of a feed, as (name, JSON)."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
    path = f"/v2/project/{server.project.key}/feed?live=sse&{query}"
    connection.request("GET", path, headers=server.project.headers(None))
    answer = connection.getresponse()
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
    assert answer.headers["Cache-Control"] == "no-store"
    name = None
    with contextlib.closing(connection):
        while line := answer.readline().decode().rstrip("\n"):
            name, line = line.removeprefix("event: "), answer.readline().decode()
            yield name, json.loads(line.removeprefix("data: "))
            assert answer.readline() == b"\n"


async def test_feed_3_server_sent_events_come_as_they_happen(server, session):
    reader = Reader(server, "now")
    ada = await Client.join(server, session)
    node = getattr(server, "nodes", [server])[0]
    stream = server_sent_events(node, f"offset={reader.offset}&reader=sse-test")

    async def following(event):
        found = []
        while not any(item.get("data") == event for item in found):
            name, value = await asyncio.to_thread(next, stream)
            if name == "data":
                found += [item for item in value if item["sessionId"] == session]
            else:
                assert name == "control" and value["streamNextOffset"] >= reader.offset
                reader.offset = value["streamNextOffset"]
        return found

    for text in ("one", "two"):
        (seq,) = await say(ada, text)
        found = await following(text)
        assert messages(found) == [(seq, text)]
    stream.close()


async def test_operators_see_who_is_behind():
    with Server("--admin-port", "0", **ALL) as server:
        ada = await Client.join(server, server.project.session())
        await say(ada, "one")
        reader = Reader(server, reader="a-backend", limit=1)
        reader.read()
        await say(ada, "two")
        answer = server.rest("GET", "/admin/v1/feeds").json()
        (row,) = answer["items"]
        assert (row["name"], row["kind"], row["events"], row["hasMore"]) == ("a-backend", "pull", 1, False), answer
        assert row["waitingEntries"] == 2 and 0 <= row["waitingSeconds"] < 60
        reader.read()
        reader.read()
        assert server.rest("GET", "/admin/v1/feeds").json()["items"][0]["waitingEntries"] == 0


@pytest.mark.parametrize("kind", ["memory", "folder"])
async def test_feed_3_a_long_page_and_a_long_way_to_the_next_event_cost_no_stack(kind, tmp_path_factory):
    with serve(kind, tmp_path_factory, ALL | {"signal_rate": 100_000, "signal_burst": 100_000}) as server:
        session = server.project.session()
        ada = await join(server, session, "u-ada")
        await say(ada, *map(str, range(3_000)))
        reader = Reader(server)
        events = []
        while len(messages(events)) < 3_000:
            events += await asyncio.to_thread(reader.read, limit=1_000, live="long-poll")
        assert [text for _, text in messages(events)] == list(map(str, range(3_000)))
        # Every entry between is of something that is gone.
        offset = reader.offset
        (seq,) = await say(ada, "changed often")
        for number in range(3_000):
            await change(ada, seq, str(number))
        assert server.rest("DELETE", server.session_path(session, f"/message?through={seq}")).status == 204
        reader = Reader(server, offset, limit=1)
        told = await reader.until(lambda event: event["event"] == "erased", session)
        assert [(event["event"], event.get("from")) for event in told] == [("gap", seq), ("erased", None)]


async def test_feed_6_what_comes_while_a_client_is_lost_is_unread(server, session):
    reader = Reader(server, "now")
    ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
    await say(ada, "bob has this one")
    bob.socket.transport.abort()
    nodes = getattr(server, "nodes", [server])
    path = f"/admin/v1/sessions/{session}"
    await until(lambda: any(node.rest("GET", path).json().get("detached") for node in nodes), "the loss of the socket")
    (seq,) = await say(ada, "bob does not get this one")
    told = (await reader.until(lambda event: event["event"] == "user.unread", session))[-1]
    assert (told["user"], told["count"], told["seq"]) == ("u-bob", 1, seq)
