"""`signalbox chat` and `listen` in a session with users and moderators."""

import json

import pytest

from server_process import Command
from signalbox_client import Client
from test_chat_terminal import Terminal


@pytest.fixture
def settings(server, session):
    return {"api_key": server.project.key, "api_secret": server.project.secret, "server": server.url}


def moderate(server, session, **action):
    answer = server.rest("POST", server.session_path(session, "/moderation"), action)
    assert answer.status == 200, answer
    return answer.json()["seq"]


async def test_usr_3_chat_lists_a_user_with_two_terminals_once(server, session, settings):
    async with await Client.join(server, session, data="Bob") as bob:
        with Terminal(session, "--user", "u-17", "--name", "Ada", columns=100, **settings) as one:
            await one.shows("^-- You are in. One other is here: Bob")
            with Terminal(session, "--user", "u-17", "--name", "Ada", columns=100, **settings) as two:
                await two.shows("^-- You are in. One other is here: Bob")
                two.type("/who\r")
                await two.shows(r"^-- 2 here: Bob \(guest\), Ada \(you\)$")
                two.type("hello\r")
                await one.shows(r"^You \d\d:\d\d[AP]M\n  hello$")
                two.type("\x04")
                await two.ends(0)
            await bob.request("signal", type="TextChat", data="bye")
            await one.shows("^  bye$")
            assert "Ada is here" not in one.text and "Ada has left" not in one.text
            one.type("\x04")
            await one.ends(0)


async def test_mod_5_chat_tells_a_muted_user_why_and_until_when_and_keeps_the_line(server, session, settings):
    with Terminal(session, "--user", "u-17", "--name", "Ada", columns=120, **settings) as ada:
        await ada.shows("You are in")
        ada.type("half a line")
        moderate(server, session, action="mute", user="u-17", seconds=600, reason="Please stay on topic")
        await ada.shows(
            r"^-- you cannot write: a moderator has muted you until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: Please stay on topic$")
        ada.type("\r")
        await ada.shows("^-- not sent: a moderator has muted you")
        await ada.until(lambda it: "> half a line" in it.lines)
        # It ends without an event (MOD-2).
        moderate(server, session, action="mute", user="u-17", seconds=1)
        await ada.shows("^-- you can write again$")
        ada.type("\r")
        await ada.shows("^  half a line$")
        moderate(server, session, action="freeze")
        await ada.shows("^-- you cannot write: a moderator has frozen this session$")
        moderate(server, session, action="unfreeze")
        await ada.until(lambda it: it.lines.count("-- you can write again") == 2)
        moderate(server, session, action="ban", user="u-17", reason="No advertising")
        await ada.ends(1)
        assert "signalbox: a moderator has banned you from this session: No advertising" in ada.text
    with Terminal(session, "--user", "u-17", columns=120, **settings) as again:
        await again.ends(77)
        assert "signalbox: a moderator has banned you from this session: No advertising" in again.text


def test_mod_6_listen_prints_users_and_actions_to_a_moderator(server, session, settings):
    with Command("listen", session, "--role", "moderator", "--user", "mod", **settings) as listener:
        assert json.loads(listener.out.until("connected"))["connection"]["user"] == "mod"
        with Command("listen", session, "--user", "u-17", **settings) as other:
            other.out.until("connected")
            joined = json.loads(listener.out.until("userJoined"))
            assert (joined["user"], len(joined["connections"])) == ("u-17", 1)
            seq = moderate(server, session, action="mute", user="u-17", reason="Quiet")
            action = json.loads(listener.out.until("moderated"))
            assert action == {"event": "moderated", "seq": seq, "action": "mute", "user": "u-17", "reason": "Quiet"}
            restricted = json.loads(other.out.until("restricted"))
            assert restricted == {"event": "restricted", "kind": "mute", "reason": "Quiet"}
            moderate(server, session, action="unmute", ref=seq)
            assert json.loads(other.out.until("unrestricted")) == {"event": "unrestricted", "kind": "mute"}
            moderate(server, session, action="ban", user="u-17")
            ended = json.loads(other.out.until('"disconnected"'))
            assert ended == {"event": "disconnected", "reason": "forceDisconnected", "restriction": {"kind": "ban"}}
            assert other.wait() == 1
        assert json.loads(listener.out.until("userLeft"))["user"] == "u-17"
