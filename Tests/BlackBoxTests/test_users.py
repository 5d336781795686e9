"""Users in tokens, in connections, in lists and in webhooks (docs/PROTOCOL.md, section 17)."""

import urllib.parse

import pytest

from administration import Admin
from credentials import Project
from server_process import Server, run
from signalbox_client import Client
from webhook_receiver import Receiver

# The same unusual user everywhere: quotes, a character beyond 16 bits, and one that is an end of a line for JavaScript.
USER = 'Zoë "😀" \u2028'


@pytest.mark.parametrize("form", ["t1", "jwt"])
async def test_usr_1_usr_2_the_user_of_a_token_is_in_every_object_of_a_connection(server, session, form):
    make = server.project.token if form == "t1" else server.project.jwt_token
    async with (
        await Client.join(server, session) as guest,
        await Client.join(server, session, token=make(session, user=USER)) as ada,
        await Client.join(server, session, options={"connectionEventsSuppressed": True}) as quiet,
    ):
        assert ada.me["user"] == USER
        assert "user" not in guest.me
        created = await guest.expect("connectionCreated")
        assert created["connection"]["user"] == USER
        assert [each.get("user") for each in ada.connected["connections"]] == [None, USER]
        await ada.request("signal", data="x")
        assert (await quiet.expect("signal"))["connection"]["user"] == USER
        listed = server.rest("GET", server.session_path(session, "/connection")).json()["items"]
        assert [each.get("user", "no user") for each in listed] == ["no user", USER, "no user"]


async def test_rest_4_the_token_of_a_room_names_its_user(dev_server):
    room = dev_server.room("users", user=USER)
    project = Project(room["apiKey"], "unknown here")
    async with await Client.join(dev_server, room["sessionId"], token=room["token"], project=project) as client:
        assert client.me["user"] == USER
    for user in ("", "a" * 129, "a\x01"):
        query = urllib.parse.urlencode({"user": user})
        answer = dev_server.request("GET", f"/room/users?{query}")
        assert answer.status == 400, (user, answer)


async def test_usr_1_the_tools_make_tokens_with_users(server, session):
    settings = {"api_key": server.project.key, "api_secret": server.project.secret}
    for form in ("t1", "jwt"):
        made = run("token", session, "--user", USER, "--format", form, **settings)
        assert made.returncode == 0, made.stderr
        async with await Client.join(server, session, token=made.stdout.strip()) as client:
            assert client.me["user"] == USER
    refused = run("token", session, "--user", "a" * 129, **settings)
    assert refused.returncode == 64
    assert "128 UTF-16 units" in refused.stderr
    link = run("link", session, "--name", "Ada", "--user", "u-17", "--with-token", "--server", server.url, **settings)
    token = urllib.parse.parse_qs(urllib.parse.urlsplit(link.stdout.strip()).fragment)["token"][0]
    async with await Client.join(server, session, token=token) as client:
        assert client.me["user"] == "u-17"


async def test_usr_2_webhooks_and_the_admin_interface_name_the_user():
    with Receiver() as receiver, Server("--admin-port", "0", webhook_url=receiver.url) as server:
        admin = Admin(server)
        session = server.project.session()
        async with await Client.join(server, session, token=server.project.token(session, user=USER)):
            receiver.expect("sessionCreated")
            (created,) = receiver.expect("connectionCreated")
            assert created.event["connection"]["user"] == USER
            (listed,) = admin.get(f"sessions/{session}/connections")["items"]
            assert listed["user"] == USER
            found = admin.get("sessions?" + urllib.parse.urlencode({"search": USER.upper()}))
            assert [each["sessionId"] for each in found["items"]] == [session]
            shown = run("admin", "connections", "--url", admin.url)
            assert "USER" in shown.stdout and "Zoë" in shown.stdout
