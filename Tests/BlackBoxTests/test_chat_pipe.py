"""`signalbox chat` between two pipes, and the names that it and `signalbox history` show (CHAT-4)."""

import asyncio
import json
import subprocess

import pytest

from server_process import BINARY, DEADLINE, Command, Server, environment, run
from signalbox_client import Client


@pytest.fixture(scope="module")
def keeping():
    """A server that keeps chats, and permits few signals."""
    with Server("--signal-rate", "200", "--signal-burst", "40", history="text-chat,TextChat") as server:
        yield server


@pytest.fixture
def settings(keeping):
    return {"api_key": keeping.project.key, "api_secret": keeping.project.secret, "server": keeping.url}


def chat(text, alias=None):
    return json.dumps({"text": text, "sender": {"id": "x"} | ({"alias": alias} if alias else {}), "sentOn": 1})


def chat_text(event):
    return json.loads(event["data"])["text"]


async def say(server, session, text, alias, **token):
    async with await Client.join(server, session, token=server.project.token(session, **token)) as client:
        assert (await client.signal(type="text-chat", data=chat(text, alias)))[0]["ev"] == "ack"


async def test_chat_4_chat_and_history_show_the_same_names(keeping, settings):
    session = keeping.project.session()
    async with await Client.join(keeping, session) as ada:
        with Command("chat", session, "--name", "Terminal", **settings) as command:
            await ada.expect("connectionCreated")
            await say(keeping, session, "I am Ada", "Ada")
            await say(keeping, session, "wire the money", "Boss", data="Mallory", user="u-9")
            await say(keeping, session, "no data", "Boss", user="nina")
            await say(keeping, session, "none of you", "Server")
            path = keeping.session_path(session, "/signal")
            for data in (chat("no name"), chat("a name", "Desk")):
                assert keeping.rest("POST", path, {"type": "text-chat", "data": data}).status == 204
            assert (await ada.signal(type="TextChat", data="the end"))[0]["ev"] == "ack"
            await asyncio.to_thread(command.out.until, "the end")
            shown = [line for line in command.out.seen if not line.startswith("--")]
            command.process.stdin.close()
            assert await asyncio.to_thread(command.wait) == 0
    names = [line.split(": ")[0] for line in shown]
    assert names[0] == "Ada", "nobody else had this name"
    assert names[1:3] == ["Mallory", "nina"] and names[4:6] == ["the server", "Desk"]
    assert names[3].startswith("Guest "), shown
    for arguments in ([], ["--all"]):
        kept = await asyncio.to_thread(run, "history", session, *arguments, **settings)
        assert [line.split(" ", 2)[2] for line in kept.stdout.splitlines()] == shown, kept


async def test_a_pipe_waits_for_the_rate_and_loses_no_line(keeping, settings):
    session = keeping.project.session()
    async with await Client.join(keeping, session) as ada:
        lines = [f"line {number}" for number in range(150)]
        process = await asyncio.to_thread(
            subprocess.run, [BINARY, "chat", session], input="\n".join(lines), capture_output=True, text=True,
            timeout=DEADLINE, env=environment(**settings),
        )
        assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
        got = []
        while len(got) < len(lines):
            event = await ada.next()
            if event.get("type") == "text-chat":
                got.append(chat_text(event))
        assert got == lines


@pytest.mark.parametrize("arguments, expected", [([], ["Ada: now"]), (["--history"], ["Ada: before", "Ada: now"])])
async def test_a_pipe_gets_what_arrives_and_the_history_only_if_it_asks(keeping, settings, arguments, expected):
    session = keeping.project.session()
    async with await Client.join(keeping, session, data="Ada") as ada:
        assert (await ada.signal(type="TextChat", data="before"))[0]["ev"] == "ack"
        with Command("chat", session, *arguments, **settings) as command:
            await ada.expect("connectionCreated")
            if arguments:
                await asyncio.to_thread(command.out.until, "before")
            assert (await ada.signal(type="TextChat", data="now"))[0]["ev"] == "ack"
            await asyncio.to_thread(command.out.until, "now")
            # By the time that the server answers these, it has answered the request for the history.
            for text in ("mine", "mine again"):
                command.process.stdin.write(f"{text}\n")
                assert chat_text(await ada.expect("signal")) == text
            command.process.stdin.close()
            assert await asyncio.to_thread(command.wait) == 0
            assert command.out.to_end() == expected
