"""Users and moderation: the reference client (Tests/ReferenceClient), and the real server."""

import asyncio

import pytest

from reference_sessions import answer, code_of, event, failure_of, joined
from server_process import DEADLINE, Server

from reference_client.client import RequestFailed
from reference_client.codes import ErrorCode
from reference_client.effects import Ended
from reference_client.messages.history import Erased
from reference_client.messages.moderation import BAN, FREEZE, MUTE, Moderated, Restricted, Restriction, Unrestricted
from reference_client.messages.server import ConnectionDestroyed, Signal
from reference_client.users import UserJoined, UserLeft


@pytest.fixture(scope="module")
def server():
    with Server(history="all") as server:
        yield server


@pytest.fixture
def session(server):
    return server.project.session()


def user(server, session, name, role="publisher"):
    return joined(server, session, role, user=name)


async def test_a_user_of_two_tabs(server, session):
    """USR-2, USR-3."""
    async with user(server, session, "ada") as ada:
        assert await event(ada, UserJoined) == UserJoined("ada")
        async with user(server, session, "bob") as first, user(server, session, "bob") as second, joined(server, session):
            assert await event(ada, UserJoined) == UserJoined("bob")
            await answer(second.signal(data="from the second"))
            await event(ada, Signal)
            own = (ada.session.connection.id,)
            ids = first.session.connection.id, second.session.connection.id
            assert ada.users == {"ada": own, "bob": ids}
            first.disconnect()
            assert (await event(ada, ConnectionDestroyed)).connection_id == ids[0]
            assert ada.users == {"ada": own, "bob": ids[1:]}
            second.disconnect()
            assert await event(ada, UserLeft) == UserLeft("bob")


async def test_a_mute(server, session):
    """MOD-1, MOD-2, MOD-4, MOD-5, MOD-6, ERR-1."""
    async with (
        user(server, session, "mo", role="moderator") as mo,
        user(server, session, "ada") as ada,
        user(server, session, "bob") as bob,
    ):
        assert await code_of(bob.moderate("mute", user="ada")) == ErrorCode.NOT_PERMITTED
        seq = await answer(mo.moderate("mute", user="ada", seconds=600, reason="Please stay on topic"))
        action = await event(mo, Moderated)
        assert (action.seq, action.action, action.user, action.by.user) == (seq, "mute", "ada", "mo")
        mute = Restriction(MUTE, action.until, "Please stay on topic")
        assert (await event(ada, Restricted)).restriction == mute
        assert ada.own_restrictions == [mute] and bob.own_restrictions == []

        failure = await failure_of(ada.signal(data="hello"))
        assert (failure.code, failure.restriction) == (ErrorCode.NOT_PERMITTED, mute)
        assert 0 < failure.retry_after <= 600_000
        async with user(server, session, "ada") as tab:
            assert tab.own_restrictions == [mute]

        (held,) = await answer(mo.restrictions())
        assert (held.kind, held.ref, held.user, held.by) == (MUTE, seq, "ada", action.by)
        await answer(mo.moderate("unmute", ref=seq))
        assert (await event(ada, Unrestricted)).kind == MUTE
        assert ada.own_restrictions == []
        await answer(ada.signal(data="hello"))


async def test_a_freeze_does_not_concern_moderators(server, session):
    """MOD-4, MOD-5."""
    async with user(server, session, "mo", role="moderator") as mo, user(server, session, "ada") as ada:
        await answer(mo.moderate("freeze"))
        assert (await event(ada, Restricted)).restriction == Restriction(FREEZE)
        assert (await event(mo, Restricted)).restriction == Restriction(FREEZE)
        assert (mo.own_restrictions, ada.own_restrictions) == ([], [Restriction(FREEZE)])
        assert await code_of(ada.signal(data="hello")) == ErrorCode.NOT_PERMITTED
        await answer(mo.signal(data="hello"))
        await answer(mo.moderate("unfreeze"))
        assert (await event(ada, Unrestricted)).kind == FREEZE
        await answer(ada.signal(data="hello"))


async def test_a_ban_that_erases(server, session):
    """MOD-1, MOD-3, MOD-8, HIS-9."""
    async with user(server, session, "mo", role="moderator") as mo, user(server, session, "ada") as ada:
        await answer(ada.signal("text-chat", "spam"))
        ada_id = ada.session.connection.id
        seq = await answer(mo.moderate("ban", connectionId=ada_id, reason="No advertising", eraseMessages=True))
        ban = Restriction(BAN, None, "No advertising")
        assert (await event(ada, Erased)).user == "ada"
        assert await event(ada, Ended) == Ended("forceDisconnected", ban)
        assert (await event(mo, Moderated)).erases_messages
        assert (await event(mo, ConnectionDestroyed)).connection_id == ada_id
        assert await event(mo, UserLeft) == UserLeft("ada")
        erased = await event(mo, Erased)
        assert (erased.user, erased.seq > seq) == ("ada", True)
        (message,) = (await answer(mo.history())).messages
        assert message.is_erased and message.sender.user == "ada"

        with pytest.raises(RequestFailed) as refusal:
            async with asyncio.timeout(DEADLINE), user(server, session, "ada"):
                pass
        assert (refusal.value.code, refusal.value.restriction) == (ErrorCode.BANNED, ban)
        await answer(mo.moderate("unban", user="ada"))
        async with user(server, session, "ada") as back:
            assert back.own_restrictions == []
