"""Reactions: docs/PROTOCOL.md, CHG-11 to CHG-15, on a server with a state folder, and on nodes."""

import asyncio

import pytest

import durable
from test_changes import change, event, join, serve
from test_history import WINDOWS, history, leave_asleep, say, until_gone

ALL = {"history": "chat", "changes": "all", **WINDOWS}


@pytest.fixture(scope="module", params=["memory", "folder", "nodes"])
def server(request, tmp_path_factory):
    with serve(request.param, tmp_path_factory, ALL) as server:
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


async def react(client, ref, *keys):
    """The answer to a reaction."""
    answer, _ = await client.answer(await client.request("react", ref=ref, keys=list(keys)))
    return answer


def counts(message):
    return {each["key"]: each["count"] for each in message.get("reactions", [])}


async def test_chg_11_12_13_reactions_reach_everybody_every_device_and_every_later_page(server, session):
    ada = await join(server, session, "u-ada")
    phone = await join(server, session, "u-ada")
    bob = await join(server, session, "u-bob")
    assert ada.connected["changes"] == ["edit", "erase", "react"]
    (ref,) = await say(bob, "cake?")
    answer = await react(ada, ref, "👍")
    assert answer["ev"] == "ack" and "seq" not in answer
    told = await bob.expect("reactions", ref=ref)
    assert counts(told) == {"👍": 1}
    own = await event(phone, "reacted", ref=ref)
    assert own["ev"] == "reacted" and own["keys"] == ["👍"]
    # Within the same second: told together, a second later.
    await react(bob, ref, "👍", "🎉")
    await react(ada, ref, "🎉")
    told = await event(phone, "reactions", ref=ref)
    assert counts(told) == {"👍": 1, "🎉": 2} or counts(await event(phone, "reactions", ref=ref)) == {"👍": 1, "🎉": 2}
    late = await join(server, session, "u-ada", options={"history": {"last": 5}})
    page = await event(late, "history")
    (message,) = page["messages"]
    assert counts(message) == {"👍": 1, "🎉": 2} and message["reacted"] > ref
    assert page["mine"] == [{"ref": ref, "keys": ["🎉"]}]
    await change(bob, ref, "cake!")
    page = await history(late, last=5)
    assert counts(page["messages"][0]) == {"👍": 1, "🎉": 2} and page["messages"][0]["data"] == "cake!"
    guest = await join(server, session)
    assert "mine" not in await history(guest, last=5)
    assert (await react(guest, ref, "👍"))["code"] == 403


async def test_chg_11_refusals(server, session):
    ada = await join(server, session, "u-ada")
    (ref,) = await say(ada, "hello")
    assert (await react(ada, ref, "x" * 33))["code"] == 413
    for wrong in ({"keys": [""]}, {"keys": ["\u200b"]}, {"keys": "👍"}, {"keys": [1]}, {"keys": ["a b"]},
                  {"keys": [str(number) for number in range(9)]}, {"ref": -1}, {"ref": 2**53 + 1}):
        answer, _ = await ada.answer(await ada.request("react", **({"ref": ref, "keys": ["👍"]} | wrong)))
        assert answer["code"] == 400, wrong
    assert (await react(ada, ref + 1_000, "👍"))["code"] == 404


async def test_chg_14_who_has_reacted(server, session):
    users = [await join(server, session, f"u-{number}") for number in range(3)]
    (ref,) = await say(users[0], "hello")
    for number, user in enumerate(users):
        await react(user, ref, "👍", *(["🎉"] if number == 2 else []))
    await users[0].request("reactors", ref=ref)
    answer = await event(users[0], "reactors")
    assert answer["reactors"] == [
        {"key": "👍", "count": 3, "users": ["u-0", "u-1", "u-2"]}, {"key": "🎉", "count": 1, "users": ["u-2"]},
    ]  # fmt: skip
    await users[0].request("reactors", ref=ref, key="🎉")
    answer = await users[0].expect("reactors")
    assert [each["key"] for each in answer["reactors"]] == ["🎉"]


async def test_chg_15_his_9_erased_users_and_messages_leave_no_reaction(server, session):
    ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
    one, two = await say(bob, "one", "two")
    for ref in (one, two):
        await react(ada, ref, "👍", "ada-was-here")
        await react(bob, ref, "👍")
    await asyncio.wait_for(until(lambda page: [counts(each).get("👍") for each in page] == [2, 2], bob), 10)
    assert server.rest("DELETE", server.session_path(session, "/message?user=u-ada")).status == 204
    assert server.rest("DELETE", server.session_path(session, f"/message/{two}")).status == 204
    page = await asyncio.wait_for(
        until(lambda page: counts(page[0]) == {"👍": 1} and "reactions" not in page[1], bob), 10)
    assert page[1]["erased"] is True


async def until(condition, client):
    """The messages of the newest page, once they are as expected."""
    while not condition(page := (await history(client, last=5))["messages"]):
        pass
    return page


async def test_chg_13_a_room_that_has_slept_remembers_its_reactions(server, session):
    ada = await join(server, session, "u-ada")
    (ref,) = await say(ada, "hello")
    await react(ada, ref, "👍")
    await leave_asleep(server, session, ada)
    path = server.session_path(session, "/message?limit=5")
    assert counts(server.rest("GET", path).json()["messages"][0]) == {"👍": 1}
    eve = await join(server, session, "u-eve", options={"history": {}})
    assert counts((await event(eve, "history"))["messages"][0]) == {"👍": 1}
    await react(eve, ref, "👍")
    assert counts(await event(eve, "reactions", ref=ref)) == {"👍": 2}


async def test_c1_an_acknowledged_reaction_survives_kill_9(tmp_path):
    with durable.serve(tmp_path / "state", **ALL) as first:
        session = first.project.session()
        ada = await join(first, session, "u-ada")
        (ref,) = await say(ada, "hello")
        await react(ada, ref, "👍")
        # To be told a second later: by the next server.
        assert (await react(ada, ref, "🎉"))["ev"] == "ack"
        durable.kill(first)
    with durable.serve(tmp_path / "state", **ALL) as second:
        bob = await join(second, session, "u-bob")
        page = await asyncio.wait_for(until(lambda page: counts(page[0]) == {"🎉": 1}, bob), 10)
        assert page[0]["reacted"] > ref


async def test_chg_15_no_live_file_has_the_keys_of_an_erased_user(tmp_path):
    folder = tmp_path / "state"

    def traces():
        return [file for file in folder.iterdir() if file.is_file() and b"key-of-ada" in file.read_bytes()]

    with durable.serve(folder, **ALL) as server:
        session = server.project.session()
        ada, bob = await join(server, session, "u-ada"), await join(server, session, "u-bob")
        (ref,) = await say(bob, "hello")
        await react(ada, ref, "key-of-ada-1")
        await react(ada, ref, "key-of-ada-2")
        while counts(await event(bob, "reactions", ref=ref)) != {"key-of-ada-2": 1}:
            pass
        # The archive gets them.
        await say(bob, *(f"filler {number}" for number in range(80)))
        assert traces()
        assert server.rest("DELETE", server.session_path(session, "/message?user=u-ada")).status == 204
        await until_gone(traces)
