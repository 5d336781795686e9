"""One server for several projects and applications: which credentials and tokens it accepts for which session."""

import asyncio
import json
import time

import pytest
from opentok import Client as OpenTok

from credentials import Application, Project, jwt
from server_process import Server
from signalbox_client import Client


class Owners:
    """The projects and applications of the server's configuration file, and one that it does not name."""

    ada = Project("100", "the first project's new secret, long")
    ada_before = Project("100", "the first project's old secret, long")
    bob = Project("101", "the second project's secret")
    video = Application()
    audio = Application()
    stranger = Application()
    all = {
        "project": ada,
        "old secret": ada_before,
        "second project": bob,
        "application": video,
        "second application": audio,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("projects")
    applications = {"video": Owners.video, "audio": Owners.audio}
    for name, application in applications.items():
        (folder / f"{name}.pem").write_text(application.public_pem)
        (folder / f"{name}.key.pem").write_text(application.private_pem)
    (folder / "settings.json").write_text(json.dumps({
        "projects": [
            {"apiKey": Owners.ada.key, "secrets": [Owners.ada.secret, Owners.ada_before.secret]},
            {"apiKey": Owners.bob.key, "secrets": [Owners.bob.secret]},
        ],
        "applications": [
            {"applicationId": each.key, "publicKeyFile": f"{name}.pem"} for name, each in applications.items()
        ],
    }))  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Server("--config", folder / "settings.json", project=Owners.ada, log_level="trace") as server:
        yield server


def routes(owner, session, connection):
    """Each REST route: its method, path, body, and the status while the connection exists."""
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


@pytest.mark.parametrize("name", Owners.all)
async def test_rest_1_the_credentials_of_each_project_and_application_are_accepted_on_each_route(server, name):
    owner = Owners.all[name]
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
        "of an application that is not served": Owners.stranger.credentials(),
        "forged": Owners.stranger.jwt(application_id=application.key),
        "expired": application.credentials(iat=now - 1000, exp=now - 500),
        "not valid yet": application.credentials(iat=now + 500, exp=now + 600),
        "without exp, 16 minutes old": application.credentials(iat=now - 960, exp=None),
        "without exp and iat": application.credentials(iat=None, exp=None),
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
    session = Owners.video.session()
    async with await Client.join(server, session, project=Owners.video) as client:
        for method, path, body, _ in routes(Owners.video, session, client.id):
            for what, text in wrong_bearers(Owners.video, session).items():
                answer = server.request(method, path, body, {"Authorization": f"Bearer {text}"})
                assert answer.status == 403, (what, method, path, answer)
                assert answer.json()["code"] == 403 and answer.json()["message"]
            for authorization in (Owners.video.credentials(), "Basic " + Owners.video.credentials(), "Bearer", ""):
                assert server.request(method, path, body, {"Authorization": authorization}).status == 403
            # Each kind of credentials has its own header.
            assert server.request(method, path, body, {"X-OPENTOK-AUTH": Owners.video.credentials()}).status == 403
            assert server.request(
                method, path, body, {"Authorization": "Bearer " + Owners.ada.credentials()}
            ).status == 403
        assert len((await client.signal())[1]) == 1, "the client received one of the signals"


async def test_rest_1_the_scheme_bearer_is_case_insensitive(server):
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert server.request(
            "POST", "/session/create", b"", {"Authorization": f"{scheme} {Owners.video.credentials()}"}
        ).status == 200


@pytest.mark.parametrize("mine, theirs", [("ada", "bob"), ("ada", "video"), ("video", "ada"), ("video", "audio")])
async def test_rest_1_credentials_do_not_reach_a_session_of_another_project(server, mine, theirs):
    mine, theirs = getattr(Owners, mine), getattr(Owners, theirs)
    session = theirs.session()
    async with await Client.join(server, session, project=theirs) as victim:
        for method, path, body, _ in routes(theirs, session, victim.id):
            if path == "/session/create":
                continue
            # With the path of the owner, and with the own path and the session of the owner.
            assert server.request(method, path, body, mine.headers()).status == 403, (method, path)
            if f"/session/{session}" in path and not path.endswith("/mute"):
                smuggled = path.replace(theirs.key, mine.key)
                answer = server.request(method, smuggled, body, mine.headers())
                assert answer.status == 403, (method, smuggled, answer)
        assert len((await victim.signal())[1]) == 1, "the client received one of the signals"


async def test_the_opentok_sdk_signs_with_the_private_key_of_an_application(server, folder):
    """PyPI's opentok accepts an application's id and the path of its private key instead of key and secret."""
    sdk = OpenTok(Owners.video.key, str(folder / "video.key.pem"))
    sdk.endpoints.api_url = server.url  # in this mode the SDK accepts no api_url
    session = (await asyncio.to_thread(sdk.create_session)).session_id
    token = sdk.generate_token(session, data="Zoë", initial_layout_class_list=["a", "b"])
    token = token.decode() if isinstance(token, bytes) else token
    async with await Client.join(server, session, token=token, key=Owners.video.key) as client:
        assert client.me["data"] == "Zoë"
        await asyncio.to_thread(sdk.send_signal, session, {"type": "t"})
        await client.expect("signal", type="t")
        await asyncio.to_thread(sdk.force_disconnect, session, client.id)
        await client.expect("disconnected", reason="forceDisconnected")


# The obsolete header X-TB-PARTNER-AUTH


def partner(key, secret):
    return {"X-TB-PARTNER-AUTH": f"{key}:{secret}"}


async def test_rest_1_partner_auth_is_refused_by_default(server):
    session = Owners.ada.session()
    async with await Client.join(server, session) as client:
        for method, path, body, _ in routes(Owners.ada, session, client.id):
            answer = server.request(method, path, body, partner(Owners.ada.key, Owners.ada.secret))
            assert answer.status == 403, (method, path, answer)
        assert len((await client.signal())[1]) == 1, "the client received one of the signals"


@pytest.fixture(scope="module")
def partner_auth_server(folder):
    with Server(
        "--config", folder / "settings.json", "--allow-partner-auth", project=Owners.ada, log_level="trace"
    ) as server:
        yield server


@pytest.mark.parametrize(
    "owner", [Owners.ada, Owners.ada_before, Owners.bob], ids=["new secret", "old secret", "second project"]
)
async def test_rest_1_partner_auth_is_accepted_on_each_route_when_enabled(partner_auth_server, owner):
    session = owner.session()
    async with await Client.join(partner_auth_server, session, project=owner) as client:
        for method, path, body, status in routes(owner, session, client.id):
            answer = partner_auth_server.request(method, path, body, partner(owner.key, owner.secret))
            assert answer.status == status, (method, path, answer)
        assert [(await client.next()).get("type") for _ in range(2)] == ["a", "b"]
        await client.expect("disconnected", reason="forceDisconnected")


async def test_rest_1_wrong_partner_auth_is_refused_when_enabled(partner_auth_server):
    session = Owners.ada.session()
    async with await Client.join(partner_auth_server, session) as client:
        for method, path, body, _ in routes(Owners.ada, session, client.id):
            for key, secret in [
                (Owners.ada.key, "wrong"), (Owners.ada.key, ""), ("", Owners.ada.secret), ("999", Owners.ada.secret),
                (Owners.ada.key, Owners.bob.secret), (Owners.ada.key, Owners.ada.secret + " x"),
                (Owners.ada.key, Owners.ada.secret.upper()),
                (Owners.video.key, Owners.video.public_pem.replace("\n", "")),
            ]:  # fmt: skip
                answer = partner_auth_server.request(method, path, body, partner(key, secret))
                assert answer.status == 403, (method, path, key, secret, answer)
            if path != "/session/create":
                assert partner_auth_server.request(
                    method, path, body, partner(Owners.bob.key, Owners.bob.secret)
                ).status == 403
            # Of several credentials in a request, the first kind counts.
            both = partner(Owners.ada.key, Owners.ada.secret) | {"X-OPENTOK-AUTH": "wrong"}
            assert partner_auth_server.request(method, path, body, both).status == 403
        assert len((await client.signal())[1]) == 1, "the client received one of the signals"
