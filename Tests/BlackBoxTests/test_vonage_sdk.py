"""Vonage's Python SDK for video, unmodified, against this server. Only its `video_host` is set.

It uses https only, with the credentials of an application, and reads the certificate authority from the environment.
"""

import json

import pytest
from pydantic import ValidationError
from vonage_http_client.auth import Auth
from vonage_http_client.errors import ForbiddenError, HttpRequestError, NotFoundError
from vonage_http_client.http_client import HttpClient, HttpClientOptions
from vonage_video import Video
from vonage_video.models import (
    ArchiveMode,
    MediaMode,
    SessionOptions,
    SignalData,
    StreamLayout,
    StreamLayoutOptions,
    TokenOptions,
    TokenRole,
)

from credentials import Application
from sdk import call, two_clients
from server_process import DEADLINE, TLS, Server
from signalbox_client import Client

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with an application, over TLS."""
    application = Application()
    folder = tmp_path_factory.mktemp("vonage")
    (folder / "application.pem").write_text(application.public_pem)
    settings = folder / "settings.json"
    settings.write_text(
        json.dumps({"applications": [{"applicationId": application.key, "publicKeyFile": "application.pem"}]})
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("REQUESTS_CA_BUNDLE", str(TLS / "authority.pem"))
        with Server("--config", settings, project=application, tls=True) as server:
            yield server


def video(server, private_key):
    options = HttpClientOptions(video_host=f"localhost:{server.port}", timeout=DEADLINE)
    return Video(HttpClient(Auth(application_id=server.project.key, private_key=private_key), options))


@pytest.fixture
def vonage(server):
    return video(server, server.project.private_pem)


@pytest.fixture
def made(vonage):
    """A session that the SDK has created by REST."""
    return vonage.create_session().session_id


@pytest.mark.parametrize("options", [
    (), SessionOptions(), SessionOptions(media_mode=MediaMode.RELAYED), SessionOptions(e2ee=True),
    SessionOptions(media_mode=MediaMode.ROUTED, archive_mode=ArchiveMode.ALWAYS, location="12.34.56.78"),
], ids=["none", "default", "relayed", "e2ee", "archived"])  # fmt: skip
async def test_vonage_creates_sessions_with_and_without_options(server, vonage, options):
    options = (options,) if options else ()
    session = await call(vonage.create_session, *options)
    assert session.session_id.startswith(("1_", "2_"))
    async with await Client.join(server, session.session_id):
        # After a call with JSON, the SDK sends its form with the content type of JSON.
        await call(vonage.send_signal, session.session_id, SignalData(type="t", data="d"))
        again = await call(vonage.create_session, *options)
        assert vonage.http_client.last_request.headers["Content-Type"] == "application/json"
        assert again.session_id != session.session_id


@pytest.mark.parametrize("role", list(TokenRole))
async def test_vonages_client_tokens_are_accepted_over_wss(server, vonage, made, role):
    options = TokenOptions(
        session_id=made, role=role, connection_data="name=Zoë & co", initial_layout_class_list=["a", "b"]
    )
    token = vonage.generate_client_token(options)
    async with await Client.join(server, made, token=token.decode()) as client:
        assert client.connected["role"] == role.value
        assert client.me["data"] == "name=Zoë & co"
    bare = vonage.generate_client_token(TokenOptions(session_id=made))
    async with await Client.join(server, made, token=bare.decode()) as client:
        assert (client.connected["role"], client.me["data"]) == ("publisher", "")


async def test_vonage_signals_a_session_and_one_connection(server, vonage, made):
    ada, bob = await two_clients(server, made)
    async with ada, bob:
        # The SDK requires both, so an absent member is sent as an empty string. An empty type means none.
        for type, data in (("chat", "hello"), ("", "only data"), ("only-type", ""), ("", "")):
            await call(vonage.send_signal, made, SignalData(type=type, data=data))
            assert vonage.http_client.last_response.status_code == 204
            for client in (ada, bob):
                event = await client.expect("signal")
                assert (event["from"], event.get("type", ""), event["data"]) == (None, type, data)
        await call(vonage.send_signal, made, SignalData(type="chat", data="psst"), bob.id)
        await call(vonage.send_signal, made, SignalData(type="end", data=""))
        assert (await bob.expect("signal"))["data"] == "psst"
        assert (await bob.expect("signal"))["type"] == "end"
        assert (await ada.expect("signal"))["type"] == "end"


async def test_vonage_forces_a_client_to_disconnect(server, vonage, made):
    ada, bob = await two_clients(server, made)
    async with ada, bob:
        await call(vonage.disconnect_client, made, bob.id)
        assert vonage.http_client.last_response.status_code == 204
        assert (await ada.expect("connectionDestroyed"))["reason"] == "forceDisconnected"
        assert (await bob.expect("disconnected"))["reason"] == "forceDisconnected"
        with pytest.raises(NotFoundError):
            await call(vonage.disconnect_client, made, bob.id)


def test_vonage_finds_no_streams(vonage, made):
    assert vonage.list_streams(made) == []
    with pytest.raises(NotFoundError):
        vonage.get_stream(made, "a-stream")


def test_vonage_reports_501_for_media(vonage, made):
    layout = StreamLayoutOptions(items=[StreamLayout(id="a-stream", layout_class_list=["full"])])
    for act in (
        lambda: vonage.mute_all_streams(made), lambda: vonage.mute_stream(made, "a-stream"),
        lambda: vonage.change_stream_layout(made, layout),
    ):  # fmt: skip
        with pytest.raises(HttpRequestError) as caught:
            act()
        assert caught.value.response.status_code == 501


async def test_vonage_reports_a_wrong_private_key(server, vonage, made):
    stranger = video(server, Application().private_pem)
    signal = SignalData(type="t", data="d")
    async with await Client.join(server, made) as ada:
        for act in (
            stranger.create_session, lambda: stranger.send_signal(made, signal),
            lambda: stranger.send_signal(made, signal, ada.id),
            lambda: stranger.disconnect_client(made, ada.id), lambda: stranger.list_streams(made),
        ):  # fmt: skip
            with pytest.raises(ForbiddenError):
                await call(act)
        forged = stranger.generate_client_token(TokenOptions(session_id=made, role=TokenRole.MODERATOR))
        assert (await Client.denied(server, made, forged.decode()))["code"] == 1004
        assert len((await ada.signal())[1]) == 1, "the client received one of the signals"


async def test_vonage_reports_an_unknown_target(server, vonage, made):
    signal = SignalData(type="t", data="d")
    with pytest.raises(NotFoundError):
        await call(vonage.send_signal, made, signal)
    async with await Client.join(server, made):
        with pytest.raises(NotFoundError):
            await call(vonage.send_signal, made, signal, UNKNOWN)


@pytest.mark.parametrize("type, data, status", [
    ("t" * 129, "x", 413), ("t", "x" * 8193, 413), ("t", "😀" * 4097, 413), ("t", "😀" * 8192, 413), ("a b", "x", 400),
    ("é", "x", 400),
], ids=["type", "data", "emoji", "the SDK's own limit", "space", "letter"])  # fmt: skip
async def test_vonage_reports_a_refused_signal(server, vonage, made, type, data, status):
    async with await Client.join(server, made) as ada:
        # The SDK counts code points. A value that it refuses itself is built without its check, so that the server
        # refuses it.
        try:
            signal = SignalData(type=type, data=data)
        except ValidationError:
            signal = SignalData.model_construct(type=type, data=data)
        with pytest.raises(HttpRequestError) as caught:
            await call(vonage.send_signal, made, signal)
        assert caught.value.response.status_code == status
        assert caught.value.response.json()["code"] == status
        await call(vonage.send_signal, made, SignalData(type="t" * 128, data="😀" * 4096))
        assert (await ada.expect("signal"))["data"] == "😀" * 4096
