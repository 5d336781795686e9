"""Messages that change, in `signalbox chat` and `signalbox listen` (CHAT-12 to CHAT-14)."""

import asyncio
import json

import pytest

from server_process import Command, Server
from signalbox_client import Client
from test_chat_terminal import Terminal, next_signal


@pytest.fixture(scope="module")
def changing():
    with Server(history="text-chat,TextChat", changes="edit,erase") as server:
        yield server


@pytest.fixture
def session(changing):
    return changing.project.session()


@pytest.fixture
def settings(changing):
    return {"api_key": changing.project.key, "api_secret": changing.project.secret, "server": changing.url}


def data(text, **more):
    return json.dumps({"text": text, "sender": {"id": "x"}, "sentOn": 1, **more})


async def say(client, text, **more):
    answer, _ = await client.signal(type="text-chat", data=data(text, **more))
    return answer["seq"]


async def change(client, op, ref, **members):
    answer, _ = await client.answer(await client.request(op, ref=ref, **members))
    assert answer["ev"] == "ack"
    return answer["seq"]


async def following(client, ev):
    """The next event of this kind; a terminal sends typing signals, too."""
    while (event := await client.next())["ev"] != ev:
        pass
    return event


async def test_chat_13_chat_in_a_pipe_prints_a_changed_message_once_more(changing, session, settings):
    async with await Client.join(changing, session, data="Ada") as ada:
        with Command("chat", session, "--name", "Pipe", **settings) as command:
            await ada.expect("connectionCreated")
            first = await say(ada, "nine")
            await asyncio.to_thread(command.out.until, "Ada: nine")
            await change(ada, "change", first, rel="edit", data=data("ten"))
            await asyncio.to_thread(command.out.until, r"Ada: ten \(edited\)")
            await say(ada, "sure?", re=first)
            await asyncio.to_thread(command.out.until, r"Ada: \[Ada: ten\] sure\?")
            await change(ada, "erase", first)
            await asyncio.to_thread(command.out.until, r"Ada: \(deleted\)")
            command.process.stdin.close()
            assert await asyncio.to_thread(command.wait) == 0


async def test_chat_14_a_terminal_changes_the_last_message_although_it_is_on_its_way(changing, session, settings):
    async with await Client.join(changing, session, data="Ada") as ada:
        with Terminal(session, "--name", "Bob", **settings) as bob:
            await bob.shows("^-- You are in")
            bob.type("first\r")
            await next_signal(ada, "text-chat")
            # In one piece: no acknowledgement can come between the lines.
            bob.type("nine\r/edit ten\r")
            said = await next_signal(ada, "text-chat")
            edited = await following(ada, "change")
            assert (edited["ref"], json.loads(edited["data"])["text"]) == (said["seq"], "ten")
            bob.type(b"\x04")
            await bob.ends(0)


async def test_chg_2_listen_prints_a_change_as_a_line(changing, session, settings):
    async with await Client.join(changing, session, data="Ada") as ada:
        with Command("listen", session, **settings) as command:
            await ada.expect("connectionCreated")
            ref = await say(ada, "nine")
            seq = await change(ada, "change", ref, rel="edit", data=data("ten"))
            line = json.loads(await asyncio.to_thread(command.out.until, '"event":"change"'))
    assert line.pop("from")["data"] == "Ada"
    assert line == {"event": "change", "seq": seq, "ref": ref, "rel": "edit", "data": data("ten")}


async def test_chat_14_the_user_of_a_terminal_edits_answers_and_deletes(changing, session, settings):
    async with await Client.join(changing, session, data="Ada") as ada:
        with Terminal(session, "--name", "Bob", **settings) as bob:
            await bob.shows("^-- You are in")
            bob.type("/edit nothing yet\r")
            await bob.shows("^-- there is no message of yours that can be changed")
            asked = await say(ada, "when?")
            await bob.shows("^  when")
            bob.type("/reply nine\r")
            said = await next_signal(ada, "text-chat")
            content = json.loads(said["data"])
            del content["typingN"]
            assert (content["text"], content["re"]) == ("nine", asked)
            await bob.shows("^  > Ada: when")
            bob.type("/edit ten\r")
            edited = await following(ada, "change")
            assert json.loads(edited["data"]) == content | {"text": "ten"}
            await bob.shows(r"^  ten \(edited\)$")
            bob.type("/delete\r")
            assert (await following(ada, "erased"))["ref"] == said["seq"]
            await bob.shows(r"^  \(deleted\)$")
            bob.type(b"\x04")
            await bob.ends(0)

