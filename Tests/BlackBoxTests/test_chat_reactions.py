"""Reactions and read markers, in `signalbox chat` and `signalbox listen` (CHAT-15, CHAT-16)."""

import asyncio
import json

import pytest

from server_process import Command, Server
from signalbox_client import Client
from test_chat_changes import following, say
from test_chat_terminal import Terminal


@pytest.fixture(scope="module")
def reacting():
    with Server(history="text-chat,TextChat", changes="edit,erase,react", read_markers="shared") as server:
        yield server


@pytest.fixture
def session(reacting):
    return reacting.project.session()


@pytest.fixture
def settings(reacting):
    return {"api_key": reacting.project.key, "api_secret": reacting.project.secret, "server": reacting.url}


async def join(server, session, name):
    token = server.project.token(session, data=name, user=name.lower())
    return await Client.join(server, session, token=token)


async def react(client, ref, *keys):
    answer, _ = await client.answer(await client.request("react", ref=ref, keys=list(keys)))
    assert answer["ev"] == "ack"


async def mark_read(client, through):
    answer, _ = await client.answer(await client.request("read", through=through))
    assert answer["ev"] == "ack"


async def test_chg_12_listen_prints_reactions_and_read_markers_as_lines(reacting, session, settings):
    async with await join(reacting, session, "Ada") as ada:
        with Command("listen", session, "--user", "ada", **settings) as command:
            await ada.expect("connectionCreated")
            ref = await say(ada, "nine")
            await react(ada, ref, "👍")
            line = json.loads(await asyncio.to_thread(command.out.until, '"event":"reacted"'))
            assert line.pop("seq") > ref
            assert line == {"event": "reacted", "ref": ref, "keys": ["👍"]}
            line = json.loads(await asyncio.to_thread(command.out.until, '"event":"reactions"'))
            assert line.pop("seq") > ref
            assert line == {"event": "reactions", "ref": ref, "reactions": [{"key": "👍", "count": 1}]}
            await mark_read(ada, ref)
            line = json.loads(await asyncio.to_thread(command.out.until, '"event":"read"'))
            assert line == {"event": "read", "user": "ada", "through": ref}


async def test_chat_15_the_user_of_a_terminal_reacts_and_sees_reactions(reacting, session, settings):
    async with await join(reacting, session, "Ada") as ada:
        with Terminal(session, "--name", "Bob", "--user", "bob", **settings) as bob:
            await bob.shows("^-- You are in")
            bob.type("/react 👍\r")
            await bob.shows("^-- there is no such message")
            first = await say(ada, "when?")
            second = await say(ada, "where?")
            await bob.shows("^  where")
            bob.type("/react 2 ❤\r")
            told = await following(ada, "reactions")
            assert (told["ref"], told["reactions"]) == (first, [{"key": "❤️", "count": 1}])
            await react(ada, second, "🎉")
            await bob.shows(r"^-- Ada: where\? \[🎉 1\]")
            bob.type("/react 2 ❤\r")
            await bob.shows(r"^-- Ada: when\? \[no reactions\]")
            bob.type(b"\x04")
            await bob.ends(0)


async def test_chat_16_a_terminal_marks_what_it_shows_and_shows_who_has_read(reacting, session, settings):
    async with await join(reacting, session, "Ada") as ada:
        before = await say(ada, "before")
        with Terminal(session, "--name", "Bob", "--user", "bob", **settings) as bob:
            await bob.shows("^  before")
            assert (await following(ada, "read")) == {"ev": "read", "user": "bob", "through": before}
            bob.type("hello\r")
            said = await following(ada, "signal")
            while said["type"] != "text-chat":
                said = await following(ada, "signal")
            await mark_read(ada, said["seq"])
            await bob.shows("^seen by Ada")
            bob.type(b"\x04")
            await bob.ends(0)
