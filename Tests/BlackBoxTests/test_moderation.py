"""Moderation by REST and by the command line, and clients that will not stay away (docs/PROTOCOL.md, section 18)."""

import asyncio
import json
import os
import signal
import time

import pytest

from administration import Admin
from cluster import nodes
from server_process import Server, run
from signalbox_client import Client
from waiting import until


@pytest.fixture(scope="module")
def server():
    """With a history, and with windows that are long enough for whoever comes back."""
    with Server("--admin-port", "0", "--signal-rate", "0", history="all") as server:
        server.admin = Admin(server)
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


def post(server, session, **action):
    return server.rest("POST", server.session_path(session, "/moderation"), action)


def moderate(server, session, action, **members):
    """The seq of an action by REST, which has to succeed."""
    answer = post(server, session, action=action, **members)
    assert answer.status == 200, answer
    assert set(answer.json()) == {"seq"}
    return answer.json()["seq"]


def report(server, session):
    answer = server.rest("GET", server.session_path(session, "/moderation"))
    assert answer.status == 200, answer
    return answer.json()


def user(server, session, name, role="publisher", **fields):
    return Client.join(server, session, token=server.project.token(session, role, user=name, **fields))


async def seen(client, ev, **members):
    """The next event with these members; others are passed over."""
    while True:
        event = await client.next()
        if event["ev"] == ev and all(event.get(name) == value for name, value in members.items()):
            return event


async def connect(client, server, session, token, **members):
    """The answer to a connect."""
    request = await client.request("connect", apiKey=server.project.key, sessionId=session, token=token, **members)
    answer = await client.next()
    assert answer["id"] == request, answer
    return answer


def resume_of(client):
    return {
        "connectionId": client.id, "secret": client.connected["resume"]["secret"], "epoch": client.connected["epoch"],
        "after": client.connected["seq"],
    }  # fmt: skip


async def banned(server, session, token, **members):
    """Requires the server to refuse a connect because of a ban, and returns the restriction."""
    async with await Client.open(server) as client:
        error = await connect(client, server, session, token, **members)
        assert (error["ev"], error["code"], error["name"]) == ("error", 1570, "OT_USER_BANNED"), error
        assert (await client.closed())[0] == 4501
        return error


# What REST does


async def test_mod_7_mod_4_a_mute_by_rest_holds_for_every_tab_until_it_is_lifted(server, session):
    async with (
        await user(server, session, "u-17") as tab,
        await user(server, session, "u-17") as other_tab,
        await user(server, session, "u-3", "moderator") as moderator,
        await user(server, session, "u-18") as bob,
    ):
        seq = moderate(server, session, "mute", user="u-17", reason="Please stay on topic")
        told = await seen(moderator, "moderated", seq=seq)
        assert told == {"ev": "moderated", "seq": seq, "action": "mute", "user": "u-17", "reason": "Please stay on topic"}
        for client in (tab, other_tab):
            restricted = await seen(client, "restricted")
            assert restricted["seq"] > seq
            assert {name: restricted[name] for name in ("kind", "reason")} == {
                "kind": "mute", "reason": "Please stay on topic"
            }  # fmt: skip
            for members in ({"data": "x"}, {"data": "x", "to": bob.id}, {"data": "x", "onlineOnly": True}):
                answer, _ = await client.signal(**members)
                assert (answer["code"], answer["retryable"]) == (403, False), answer
                assert answer["restriction"] == {"kind": "mute", "reason": "Please stay on topic"}
        assert (await bob.signal(data="x"))[0]["ev"] == "ack"
        held = report(server, session)
        (restriction,) = held["restrictions"]
        assert (restriction["ref"], restriction["kind"], restriction["user"]) == (seq, "mute", "u-17")
        assert "by" not in restriction and abs(restriction["time"] / 1000 - time.time()) < 60
        (action,) = held["actions"]
        assert (action["seq"], action["action"], action["user"]) == (seq, "mute", "u-17")
        lifted = moderate(server, session, "unmute", ref=seq)
        await seen(moderator, "moderated", seq=lifted, action="unmute")
        await seen(tab, "unrestricted", kind="mute")
        assert (await tab.signal(data="x"))[0]["ev"] == "ack"
        assert report(server, session)["restrictions"] == []
        assert [each["action"] for each in report(server, session)["actions"]] == ["mute", "unmute"]


async def test_mod_7_a_freeze_by_rest_lets_only_moderators_and_rest_signal(server, session):
    async with (
        await user(server, session, "u-17") as ada,
        await user(server, session, "u-3", "moderator") as moderator,
    ):
        moderate(server, session, "freeze", reason="A break")
        await seen(ada, "restricted", kind="freeze", reason="A break")
        assert (await ada.signal(data="x"))[0]["code"] == 403
        assert (await moderator.signal(data="x"))[0]["ev"] == "ack"
        assert server.rest("POST", server.session_path(session, "/signal"), {"data": "x"}).status == 204
        async with await user(server, session, "u-18") as late:
            assert late.connected["restrictions"] == [{"kind": "freeze", "reason": "A break"}]
        moderate(server, session, "unfreeze")
        await seen(ada, "unrestricted", kind="freeze")
        assert (await ada.signal(data="x"))[0]["ev"] == "ack"


@pytest.mark.parametrize(
    "action",
    [
        {}, {"action": "mute", "user": "u", "seconds": 31_536_001}, {"action": "unmute", "user": "u", "ref": 1},
    ],
    ids=str,
)  # fmt: skip
async def test_mod_7_mod_1_a_malformed_action_gets_400(server, action):
    session = server.project.session()
    async with await Client.join(server, session):
        assert post(server, session, **action).status == 400
        assert report(server, session) == {"restrictions": [], "actions": []}


async def test_mod_7_what_is_not_there_gets_404_and_foreign_credentials_403(server, session):
    assert post(server, session, action="freeze").status == 404
    path = server.session_path(session, "/moderation")
    assert server.rest("GET", path).status == 404
    async with await Client.join(server, session):
        for action in ({"action": "unmute", "user": "u"}, {"action": "unban", "ref": 1}, {"action": "unfreeze"},
                       {"action": "ban", "connectionId": "nobody"}):  # fmt: skip
            assert post(server, session, **action).status == 404, action
        assert server.request("GET", path).status == 403
        assert server.rest("POST", path, {"action": "freeze"}, token=server.project.token(session, "moderator")).status == 403
        foreign = server.project.session(key="101")
        assert server.rest("GET", server.session_path(foreign, "/moderation")).status == 403
        assert server.rest("DELETE", path).status == 405


async def test_his_9_his_10_the_messages_of_a_user_are_erased_by_rest(server, session):
    name = "a/b c?😀"
    async with await user(server, session, name) as ada, await user(server, session, "u-18") as bob:
        for client, text in ((ada, "one"), (bob, "two"), (ada, "three")):
            assert (await client.signal(type="chat", data=text))[0]["ev"] == "ack"
        path = server.session_path(session, "/user/a%2Fb%20c%3F%F0%9F%98%80/message")
        assert server.rest("DELETE", path).status == 204
        await seen(bob, "erased", user=name)
        page = server.rest("GET", server.session_path(session, "/message")).json()["messages"]
        assert [each.get("data", "erased") for each in page] == ["erased", "two", "erased"]
        assert server.rest("DELETE", server.session_path(session, "/user/" + "a" * 129 + "/message")).status == 400
        assert server.rest("DELETE", server.session_path(session, "/user/a%0Ab/message")).status == 400


# The command line


async def test_the_tool_moderates_by_the_admin_listener_and_by_the_credentials_of_a_project(server, session):
    credentials = ("--url", server.url, "--api-key", server.project.key, "--api-secret", server.project.secret)
    async with await user(server, session, "u-17") as ada, await Client.join(server, session) as guest:
        for access in (("--url", server.admin.url), credentials):

            async def admin(*arguments, status=0):
                # The clients answer pings meanwhile.
                done = await asyncio.to_thread(run, "admin", *arguments, *access)
                assert done.returncode == status, done
                return done.stdout + done.stderr

            assert "seq" in await admin("mute", session, "u-17", "--seconds", 600, "--reason", "Please stay on topic")
            await seen(ada, "restricted", kind="mute")
            shown = await admin("restrictions", session)
            assert "user u-17" in shown and "Please stay on topic" in shown and "a backend" in shown
            await admin("unmute", session, "u-17")
            await seen(ada, "unrestricted", kind="mute")
            if access is credentials:
                break
            assert "nothing is restricted" in await admin("restrictions", session)
            await admin("freeze", session)
            await seen(ada, "restricted", kind="freeze")
            held = json.loads(await admin("restrictions", session, "--json"))
            await admin("undo", session, held["restrictions"][0]["ref"])
            await seen(ada, "unrestricted", kind="freeze")
            assert "may have ended" in await admin("unfreeze", session, status=1)
            assert "no restriction" in await admin("undo", session, 1, status=1)
            await admin("mute", session, status=64)
            await admin("mute", session, "u-17", "--connection", ada.id, status=64)
            assert "31536000" in await admin("mute", session, "u-17", "--seconds", 31_536_001, status=1)
        await asyncio.to_thread(run, "admin", "ban", session, "--connection", guest.id, "--url", server.admin.url)
        code, events = await guest.closed()
        assert code == 4502
        assert run("admin", "freeze", session, "--url", "http://127.0.0.1:1").returncode == 69
        wrong = run("admin", "freeze", session, "--url", server.url, "--api-key", "100", "--api-secret", "wrong")
        assert wrong.returncode == 77


async def test_the_log_names_the_action_the_session_the_user_and_not_the_reason():
    with Server(log_format="json") as server:
        session = server.project.session()
        async with await user(server, session, "u-17"):
            moderate(server, session, "mute", user="u-17", reason="a text for the user")
            line = server.err.until("moderated a session")
            assert "a text for the user" not in line
            logged = json.loads(line)
            assert {"u-17", "mute", session} <= {str(value) for value in logged.values()} | {
                str(value) for value in logged.get("metadata", {}).values()
            }


# Clients that will not stay away


async def test_mod_3_a_banned_client_comes_back_by_no_way(server, session):
    token = server.project.token(session, user="u-17")
    tab = await Client.join(server, session, token=token)
    away = await user(server, session, "u-17")
    departed = await user(server, session, "u-17")
    async with await user(server, session, "u-18") as bob:
        old = resume_of(tab)
        # It has a newer secret; the old one is of no use to anybody.
        tab.socket.transport.abort()
        async with await Client.open(server) as resumed:
            answer = await connect(resumed, server, session, token, resume=old)
            assert answer["outcome"] == "resumed"
            resumed.connected = answer
            await departed.request("disconnect")
            await departed.closed()
            away.socket.transport.abort()
            seq = moderate(server, session, "ban", user="u-17", reason="Enough")
            code, events = await resumed.closed()
            assert code == 4502
            (goodbye,) = [event for event in events if event["ev"] == "disconnected"]
            assert goodbye == {
                "ev": "disconnected", "reason": "forceDisconnected", "reconnect": False,
                "restriction": {"kind": "ban", "reason": "Enough"},
            }  # fmt: skip
        gone = {(await seen(bob, "connectionDestroyed", reason="forceDisconnected"))["connectionId"] for _ in range(2)}
        assert gone == {tab.id, away.id}
        newer = server.project.token(session, user="u-17", create_time=int(time.time()) + 20)
        moderator = server.project.token(session, "moderator", user="u-17")
        jwt = server.project.jwt_token(session, user="u-17", data="another name")
        for used in (token, newer, moderator, jwt):
            error = await banned(server, session, used)
            assert error["restriction"] == {"kind": "ban", "reason": "Enough"}
            for resume in (old, resume_of(resumed), resume_of(away), resume_of(departed)):
                await banned(server, session, used, resume=resume)
        # Another user of the same project may come, and another session knows nothing of the ban.
        async with await user(server, session, "u-19"):
            pass
        async with await user(server, server.project.session(), "u-17"):
            pass
        moderate(server, session, "unban", ref=seq)
        async with await Client.join(server, session, token=token) as back:
            assert back.connected["outcome"] == "new" and back.id not in {tab.id, away.id, departed.id}


async def test_mod_1_a_member_cannot_moderate_whatever_it_writes(server, session):
    async with await user(server, session, "u-17") as member, await user(server, session, "u-18") as victim:
        for forged in (
            {"action": "ban", "user": "u-18"}, {"action": "mute", "connectionId": victim.id}, {"action": "freeze"},
            {"action": "freeze", "by": {"connectionId": victim.id}, "role": "moderator"},
        ):  # fmt: skip
            answer, _ = await member.answer(await member.request("moderate", **forged))
            assert (answer["ev"], answer["code"]) == ("error", 403), answer
        answer, _ = await member.answer(await member.request("restrictions"))
        assert answer["code"] == 403
        answer, _ = await member.answer(await member.request("erase", user="u-18"))
        assert answer["code"] == 403
        assert (await victim.signal(data="x"))[0]["ev"] == "ack"
        assert report(server, session) == {"restrictions": [], "actions": []}


async def test_mod_9_a_ban_survives_kill_9_and_the_end_of_the_session(tmp_path):
    folder = tmp_path / "state"
    with Server(state_dir=folder, resume_seconds=0, recovery_seconds=0) as server:
        session = server.project.session()
        token = server.project.token(session, user="u-17")
        async with await Client.join(server, session, token=token) as ada:
            seq = moderate(server, session, "ban", user="u-17")
            await ada.closed()
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    with Server(state_dir=folder, resume_seconds=0, recovery_seconds=0) as server:
        await banned(server, session, token)
        assert [each["ref"] for each in report(server, session)["restrictions"]] == [seq]


async def test_mod_3_mod_8_a_ban_holds_on_every_node():
    with nodes(2) as (_, (first, second)):
        session = first.project.session()
        token = first.project.token(session, user="u-17")
        async with (
            await Client.join(first, session, token=token) as tab,
            await Client.join(second, session, token=token) as other_tab,
            await user(second, session, "u-18") as bob,
        ):
            moderate(first, session, "ban", user="u-17")
            for client in (tab, other_tab):
                assert (await client.closed())[0] == 4502
                await seen(bob, "connectionDestroyed", connectionId=client.id, reason="forceDisconnected")
            for node in (first, second):
                for resume in (resume_of(tab), resume_of(other_tab)):
                    await banned(node, session, token, resume=resume)
                await banned(node, session, token)
        moderate(second, session, "unban", user="u-17")

        async def may_come():
            async with await Client.open(first) as client:
                return (await connect(client, first, session, token))["ev"] == "connected"

        await until(lambda: [each["action"] for each in report(first, session)["actions"]][-1:] == ["unban"], "the other node")
        assert await may_come()
