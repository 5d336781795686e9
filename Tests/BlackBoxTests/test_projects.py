"""One server for several projects and applications: whose credentials and tokens open what."""

import asyncio
import json
import time

import pytest
from opentok import Client as OpenTok

from credentials import Application, Project, jwt
from server_process import Server
from signalbox_client import Client

SOMEBODY = "00000000-0000-4000-8000-000000000000"


class House:
    """What the configuration file of the server below names, and an owner that it does not name."""

    ada = Project("100", "the first project's new secret, long")
    ada_before = Project("100", "the first project's old secret, long")
    bob = Project("101", "the second project's secret")
    video = Application()
    audio = Application()
    stranger = Application()
    owners = {"project": ada, "old secret": ada_before, "second project": bob, "application": video, "second application": audio}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("projects")
    applications = {"video": House.video, "audio": House.audio}
    for name, application in applications.items():
        (folder / f"{name}.pem").write_text(application.public_pem)
        (folder / f"{name}.key.pem").write_text(application.private_pem)
    (folder / "settings.json").write_text(json.dumps({
        "projects": [
            {"apiKey": House.ada.key, "secrets": [House.ada.secret, House.ada_before.secret]},
            {"apiKey": House.bob.key, "secrets": [House.bob.secret]},
        ],
        "applications": [{"applicationId": each.key, "publicKeyFile": f"{name}.pem"} for name, each in applications.items()],
    }))  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Server("--config", folder / "settings.json", project=House.ada, log_level="trace") as server:
        yield server


def routes(owner, session, connection):
    """Every REST route: its method, path, body, and the status when somebody is there."""
    project = f"/v2/project/{owner.key}"
    path = f"{project}/session/{session}"
    return [
        ("POST", "/session/create", b"", 200),
        ("POST", f"{path}/signal", b'{"type":"a"}', 204),
        ("POST", f"{path}/connection/{connection}/signal", b'{"type":"b"}', 204),
        ("GET", f"{path}/connection", None, 200),
        ("GET", f"{path}/stream", None, 200),
        ("GET", f"{path}/stream/x", None, 404),
        ("POST", f"{path}/mute", b"{}", 501),
        ("POST", f"{project}/archive", b"{}", 501),
        ("POST", f"{project}/broadcast", b"{}", 501),
        ("DELETE", f"{path}/connection/{connection}", None, 204),
    ]


@pytest.mark.parametrize("name", House.owners)
async def test_rest_1_each_owners_credentials_open_each_route(server, name):
    owner = House.owners[name]
    session = owner.session()
    async with await Client.join(server, session, project=owner) as client:
        for method, path, body, status in routes(owner, session, client.id):
            answer = server.request(method, path, body, owner.headers())
            assert answer.status == status, (method, path, answer)
            if path == "/session/create":
                assert answer.json()[0]["partner_id"] == owner.key
        assert [(await client.next()).get("type") for _ in range(2)] == ["a", "b"]
        await client.expect("disconnected", reason="forceDisconnected")


def wrong_bearers(application, session):
    now = int(time.time())
    return {
        "of an application that is not served": House.stranger.credentials(),
        "forged": House.stranger.jwt(application_id=application.key),
        "expired": application.credentials(iat=now - 1000, exp=now - 500),
        "not good yet": application.credentials(iat=now + 500, exp=now + 600),
        "without exp": application.credentials(exp=None),
        "without an id": application.credentials(application_id=None),
        "ist account": application.credentials(ist="account"),
        "alg none": application.jwt({"alg": "none", "typ": "JWT"}),
        "HS256 with the public key as its secret": jwt(
            {"application_id": application.key, "iat": now, "exp": now + 180}, application.public_pem
        ),
        "RS512 by name": application.jwt({"alg": "RS512", "typ": "JWT"}),
        "a client's token": application.token(session, role="moderator"),
        "nonsense": "nonsense",
        "nothing": "",
    }


async def test_rest_1_wrong_bearer_credentials_are_403_on_each_route(server):
    session = House.video.session()
    async with await Client.join(server, session, project=House.video) as client:
        for method, path, body, _ in routes(House.video, session, client.id):
            for what, text in wrong_bearers(House.video, session).items():
                answer = server.request(method, path, body, {"Authorization": f"Bearer {text}"})
                assert answer.status == 403, (what, method, path, answer)
                assert answer.json()["code"] == 403 and answer.json()["message"]
            for authorization in (House.video.credentials(), "Basic " + House.video.credentials(), "Bearer", ""):
                assert server.request(method, path, body, {"Authorization": authorization}).status == 403
            # Each kind of credentials has its header.
            assert server.request(method, path, body, {"X-OPENTOK-AUTH": House.video.credentials()}).status == 403
            assert server.request(method, path, body, {"Authorization": "Bearer " + House.ada.credentials()}).status == 403
        assert len((await client.signal())[1]) == 1, "nothing of it was heard"


async def test_rest_1_bearer_is_a_word_in_any_letter_case(server):
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert server.request("POST", "/session/create", b"", {"Authorization": f"{scheme} {House.video.credentials()}"}).status == 200


OTHERS = [
    (mine, theirs)
    for mine, theirs in (("ada", "bob"), ("bob", "ada"), ("ada", "video"), ("video", "ada"), ("video", "audio"), ("audio", "video"))
]


@pytest.mark.parametrize("mine, theirs", OTHERS)
async def test_rest_1_nobodys_credentials_reach_anothers_session(server, mine, theirs):
    mine, theirs = getattr(House, mine), getattr(House, theirs)
    session = theirs.session()
    async with await Client.join(server, session, project=theirs) as victim:
        for method, path, body, _ in routes(theirs, session, victim.id):
            if path == "/session/create":
                continue
            # In the owner's own path, and in one's own path with the other's session.
            assert server.request(method, path, body, mine.headers()).status == 403, (method, path)
            if f"/session/{session}" in path and not path.endswith("/mute"):
                smuggled = path.replace(theirs.key, mine.key)
                answer = server.request(method, smuggled, body, mine.headers())
                assert answer.status == 403, (method, smuggled, answer)
        assert len((await victim.signal())[1]) == 1, "nothing of it was heard"


@pytest.mark.parametrize("mine, theirs", OTHERS)
async def test_tok_5_nobodys_token_opens_anothers_session(server, mine, theirs):
    mine, theirs = getattr(House, mine), getattr(House, theirs)
    session = theirs.session()
    token = mine.token(session, role="moderator")
    # Under the owner's key it is forged, under one's own the session is another's.
    assert (await Client.denied(server, session, token, key=theirs.key))["code"] == 1004
    assert (await Client.denied(server, session, token, key=mine.key))["code"] == 1005


async def test_tok_8_both_secrets_of_a_project_are_good_and_a_third_is_not(server):
    session = House.ada.session()
    for secret in (House.ada.secret, House.ada_before.secret):
        owner = Project(House.ada.key, secret)
        assert server.request("POST", "/session/create", b"", owner.headers()).status == 200
        for token in (owner.token(session, data="t1"), owner.jwt_token(session, data="jwt")):
            async with await Client.join(server, session, token=token, project=owner) as client:
                assert client.me["data"] in ("t1", "jwt")
    third = Project(House.ada.key, "a third secret")
    assert server.request("POST", "/session/create", b"", third.headers()).status == 403
    for token in (third.token(session), third.jwt_token(session)):
        assert (await Client.denied(server, session, token))["code"] == 1004


async def test_tok_8_an_application_takes_no_token_of_a_project_and_the_other_way(server):
    video, ada = House.video.session(), House.ada.session()
    keyed = Project(House.video.key, House.video.public_pem)
    for token in (keyed.token(video), keyed.jwt_token(video), House.ada.jwt_token(video)):
        assert (await Client.denied(server, video, token, key=House.video.key))["code"] == 1004
    disguised = House.video.token(ada, application_id=None, iss=House.ada.key, ist="project")
    assert (await Client.denied(server, ada, disguised))["code"] == 1004


async def test_opentok_3_4_the_opentok_sdk_signs_with_an_applications_key_file(server, folder):
    """PyPI opentok takes an application's id and the path of its key in place of key and secret."""
    sdk = OpenTok(House.video.key, str(folder / "video.key.pem"))
    sdk.endpoints.api_url = server.url  # in this mode the SDK takes no api_url
    session = (await asyncio.to_thread(sdk.create_session)).session_id
    token = sdk.generate_token(session, data="Zoë", initial_layout_class_list=["a", "b"])
    token = token.decode() if isinstance(token, bytes) else token
    async with await Client.join(server, session, token=token, key=House.video.key) as client:
        assert client.me["data"] == "Zoë"
        await asyncio.to_thread(sdk.send_signal, session, {"type": "t"})
        await client.expect("signal", type="t")
        await asyncio.to_thread(sdk.force_disconnect, session, client.id)
        await client.expect("disconnected", reason="forceDisconnected")


# X-TB-PARTNER-AUTH, obsolete


def partner(key, secret):
    return {"X-TB-PARTNER-AUTH": f"{key}:{secret}"}


async def test_rest_1_partner_auth_is_refused_unless_it_is_switched_on(server):
    session = House.ada.session()
    async with await Client.join(server, session) as client:
        for method, path, body, _ in routes(House.ada, session, client.id):
            answer = server.request(method, path, body, partner(House.ada.key, House.ada.secret))
            assert answer.status == 403, (method, path, answer)
        assert len((await client.signal())[1]) == 1, "nothing of it was heard"


@pytest.fixture(scope="module")
def old_fashioned(folder):
    with Server("--config", folder / "settings.json", "--allow-partner-auth", project=House.ada, log_level="trace") as server:
        yield server


@pytest.mark.parametrize("owner", [House.ada, House.ada_before, House.bob], ids=["new secret", "old secret", "second project"])
async def test_rest_1_partner_auth_opens_each_route_where_it_is_switched_on(old_fashioned, owner):
    session = owner.session()
    async with await Client.join(old_fashioned, session, project=owner) as client:
        for method, path, body, status in routes(owner, session, client.id):
            answer = old_fashioned.request(method, path, body, partner(owner.key, owner.secret))
            assert answer.status == status, (method, path, answer)
        assert [(await client.next()).get("type") for _ in range(2)] == ["a", "b"]
        await client.expect("disconnected", reason="forceDisconnected")


async def test_rest_1_partner_auth_is_refused_when_it_is_wrong(old_fashioned):
    session = House.ada.session()
    async with await Client.join(old_fashioned, session) as client:
        for method, path, body, _ in routes(House.ada, session, client.id):
            for key, secret in [
                (House.ada.key, "wrong"), (House.ada.key, ""), ("", House.ada.secret), ("999", House.ada.secret),
                (House.ada.key, House.bob.secret), (House.ada.key, House.ada.secret + " x"), (House.ada.key, House.ada.secret.upper()),
                (House.video.key, House.video.public_pem.replace("\n", "")),
            ]:  # fmt: skip
                answer = old_fashioned.request(method, path, body, partner(key, secret))
                assert answer.status == 403, (method, path, key, secret, answer)
            if path != "/session/create":
                assert old_fashioned.request(method, path, body, partner(House.bob.key, House.bob.secret)).status == 403
            # The first kind of credentials that a request shows has to be good.
            both = partner(House.ada.key, House.ada.secret) | {"X-OPENTOK-AUTH": "wrong"}
            assert old_fashioned.request(method, path, body, both).status == 403
        assert len((await client.signal())[1]) == 1, "nothing of it was heard"
