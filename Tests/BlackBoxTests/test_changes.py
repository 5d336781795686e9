"""Messages that change: docs/PROTOCOL.md, section 20, on a server with a state folder, and on nodes."""

import asyncio
import contextlib

import pytest

import cluster
import durable
from server_process import Server
from signalbox_client import Client
from test_history import WINDOWS, Nodes, history, leave_asleep, say, texts, until_gone

BOTH = {"history": "chat", "changes": "edit,erase", **WINDOWS}


@contextlib.contextmanager
def serve(kind, tmp_path_factory, settings=BOTH):
    """A server in memory, one with a state folder, or two nodes."""
    if kind == "memory":
        with Server(**settings) as server:
            yield server
    elif kind == "folder":
        with Server(state_dir=tmp_path_factory.mktemp("history") / "state", **settings) as server:
            yield server
    else:
        with cluster.Redis("--appendfsync", "always") as redis, contextlib.ExitStack() as stack:
            yield Nodes([stack.enter_context(Server(redis=redis.url, **settings)) for _ in range(2)])


@pytest.fixture(scope="module", params=["memory", "folder", "nodes"])
def server(request, tmp_path_factory):
    with serve(request.param, tmp_path_factory) as server:
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


async def join(server, session, user=None, **members):
    token = server.project.jwt_token(session, user=user) if user else None
    return await Client.join(server, session, **({"token": token} if token else {}), **members)


async def event(client, ev, **members):
    """The next event of this kind, whatever comes before it."""
    while (found := await client.next())["ev"] != ev or found.get("ref") != members.get("ref", found.get("ref")):
        pass
    assert found.items() >= members.items(), found
    return found


async def change(client, ref, data, **members):
    """The answer to an edit."""
    answer, _ = await client.answer(await client.request("change", ref=ref, rel="edit", data=data, **members))
    return answer


async def erase(client, ref):
    answer, _ = await client.answer(await client.request("erase", ref=ref))
    return answer


async def test_chg_1_an_edit_reaches_everybody_and_every_later_page(server, session):
    ada = await join(server, session, "u-ada")
    bob = await join(server, session, options={"connectionEventsSuppressed": True})
    assert ada.connected["changes"] == ["edit", "erase"]
    (ref,) = await say(ada, "teh")
    answer = await change(ada, ref, "the")
    heard = await event(bob, "change", ref=ref)
    assert heard == {
        "ev": "change", "seq": answer["seq"], "ref": ref, "rel": "edit", "from": ada.id, "data": "the",
        "connection": ada.me,
    }  # fmt: skip
    late = await join(server, session, options={"history": {"last": 5}})
    (message,) = (await event(late, "history"))["messages"]
    assert (message["data"], message["type"], message["changed"]) == ("the", "chat", answer["seq"])
    assert 0 <= message["edited"] - message["time"] < 60_000 and message["connection"] == ada.me
    assert texts(await history(late)) == ["the"]
    typed = await change(ada, ref, "[1]", json=True)
    (message,) = (await history(late))["messages"]
    assert message["json"] is True and message["changed"] == typed["seq"]


async def test_chg_5_only_the_author_changes_a_message(server, session):
    ada = await join(server, session, "u-ada")
    bob = await join(server, session, "u-bob")
    moderator = await Client.join(server, session, role="moderator")
    subscriber = await Client.join(server, session, role="subscriber")
    (ref,) = await say(ada, "mine")
    for stranger in (bob, moderator, subscriber):
        assert (await change(stranger, ref, "stolen"))["code"] == 403
    assert (await erase(bob, ref))["code"] == 403
    assert (await change(ada, ref + 1_000, "x"))["code"] == 404
    assert (await change(ada, ref, "x" * 8_193))["code"] == 413
    for wrong in ({"rel": "append"}, {"rel": "edit", "data": 1}, {"ref": -1, "rel": "edit"}, {"rel": "erase"},
                  {"ref": 2**53 + 1, "rel": "edit"}, {"ref": 2**62, "rel": "edit"}):
        answer, _ = await ada.answer(await ada.request("change", **({"ref": ref} | wrong)))
        assert answer["code"] == 400, wrong
    # Another tab of the user is the author, too, and the connection that wrote may have gone.
    tab = await join(server, session, "u-ada")
    await ada.leave()
    assert (await change(tab, ref, "still mine"))["ev"] == "ack"
    assert texts(await history(bob)) == ["still mine"]


async def test_chg_6_the_author_deletes_and_it_is_final(server, session):
    ada = await join(server, session, "u-ada")
    bob = await join(server, session)
    one, two = await say(ada, "one", "two")
    await change(ada, one, "once")
    answer = await erase(ada, one)
    await event(bob, "erased", ref=one, seq=answer["seq"])
    assert (await change(ada, one, "back"))["code"] == 404
    assert texts(await history(bob)) == [None, "two"]
    (guest,) = await say(bob, "by a guest")
    assert (await erase(bob, guest))["ev"] == "ack"


async def test_chg_9_what_has_changed_is_a_short_list(server, session):
    ada = await join(server, session, "u-ada")
    refs = await say(ada, *map(str, range(100)))
    start = refs[-1]
    for ref in refs[:40]:
        await change(ada, ref, f"edited {ref}")
    await erase(ada, refs[5])
    page = await history(ada, changedAfter=start, limit=200)
    assert len(page["messages"]) == 40 and page["more"] is False and "all" not in page
    assert page["messages"][-1]["erased"] is True
    assert [message["seq"] for message in page["messages"][:6]] == refs[:5] + [refs[6]]
    first = await history(ada, changedAfter=start, limit=30)
    assert first["more"] is True and len(first["messages"]) == 30
    rest = await history(ada, changedAfter=first["changedThrough"])
    assert first["messages"] + rest["messages"] == page["messages"]
    assert (await history(ada, changedAfter=page["changedThrough"]))["messages"] == []
    path = server.session_path(session, f"/message?changedAfter={start}&limit=200")
    assert server.rest("GET", path).json()["messages"] == page["messages"]
    assert server.rest("GET", path + "&after=1").status == 400
    assert server.rest("DELETE", server.session_path(session, f"/message?through={refs[50]}")).status == 204
    page = await history(ada, changedAfter=start)
    assert page["all"] is True and page["messages"] == []


async def test_chg_8_a_room_that_has_slept_remembers_its_editions(server, session):
    ada = await join(server, session, "u-ada")
    one, two = await say(ada, "one", "two")
    await change(ada, one, "won")
    start = ada.connected["seq"]
    await leave_asleep(server, session, ada)
    eve = await join(server, session, "u-ada", options={"history": {}})
    assert texts(await event(eve, "history")) == ["won", "two"]
    assert (await change(eve, two, "too"))["ev"] == "ack", "it knows its authors still"
    page = await history(eve, changedAfter=start)
    assert texts(page) == ["won", "too"]


async def test_chg_4_without_the_setting_nothing_changes(tmp_path):
    with Server(history="chat", **WINDOWS) as server:
        session = server.project.session()
        ada = await join(server, session, "u-ada")
        assert ada.connected["changes"] == []
        (ref,) = await say(ada, "as it is")
        assert (await change(ada, ref, "x"))["code"] == 403
        assert (await erase(ada, ref))["code"] == 403
        assert texts(await history(ada)) == ["as it is"]
    with Server() as server:
        ada = await join(server, server.project.session())
        assert "changes" not in ada.connected
        assert (await change(ada, 1, "x"))["code"] == 404


async def test_c1_acknowledged_edits_survive_kill_9(tmp_path):
    folder = tmp_path / "state"
    with durable.serve(folder, **BOTH) as first:
        session = first.project.session()
        ada = await join(first, session, "u-ada")
        refs = await say(ada, *map(str, range(90)))
        for ref in refs[::3]:
            assert (await change(ada, ref, f"edited {ref}"))["ev"] == "ack"
        assert (await erase(ada, refs[3]))["ev"] == "ack"
        expected = [
            None if ref == refs[3] else f"edited {ref}" if index % 3 == 0 else str(index)
            for index, ref in enumerate(refs)
        ]
        assert texts(await history(ada, limit=200)) == expected
        durable.kill(first)
    with durable.serve(folder, **BOTH) as second:
        eve = await join(second, session, "u-ada", options={"history": {"last": 200}})
        assert texts(await event(eve, "history")) == expected
        assert (await change(eve, refs[0], "again"))["ev"] == "ack"


@pytest.mark.parametrize("restarts", [False, True])
async def test_chg_7_no_live_file_has_an_edition_of_a_deleted_message(tmp_path, restarts):
    folder = tmp_path / "state"
    secrets = ["the password is swordfish", "the password was halibut", "no password at all, herring"]

    def traces():
        contents = [file.read_bytes() for file in folder.iterdir() if file.is_file()]
        return [secret for secret in secrets if any(secret.encode() in content for content in contents)]

    with durable.serve(folder, **BOTH) as server:
        session = server.project.session()
        # Another session pins the command log, so that nothing is dropped by itself.
        other = await Client.join(server, server.project.session())
        await say(other, *map(str, range(20)), type="other")
        ada = await join(server, session, "u-ada")
        (ref,) = await say(ada, secrets[0])
        await change(ada, ref, secrets[1])
        # The archive gets the message in its second edition, and then a further one.
        await say(ada, *(f"filler {number}" for number in range(80)))
        await change(ada, ref, secrets[2])
        assert traces()
        assert (await erase(ada, ref))["ev"] == "ack"
        if not restarts:
            await until_gone(traces)
            return
        durable.kill(server)
    with durable.serve(folder, **BOTH):
        await until_gone(traces)


async def test_chg_4_of_several_nodes_the_one_that_started_last_counts():
    with cluster.Redis("--appendfsync", "always") as redis, contextlib.ExitStack() as stack:
        old = stack.enter_context(Server(redis=redis.url, history="chat", **WINDOWS))
        session = old.project.session()
        ada = await join(old, session, "u-ada")
        (ref,) = await say(ada, "before")
        new = stack.enter_context(Server(redis=redis.url, **{**BOTH, "history": "chat,notes"}))
        bob = await join(new, session, "u-bob")

        async def is_permitted():
            (later,) = await say(bob, "after")
            return (await change(bob, later, "x"))["ev"] == "ack"

        # The node that was started first serves the session until it stops.
        old.stop()
        async with asyncio.timeout(30):
            while not await is_permitted():
                pass
        (note,) = await say(bob, "a note", type="notes")
        assert note in [message["seq"] for message in (await history(bob))["messages"]]
        assert (await change(bob, ref, "x"))["code"] in (403, 404)
