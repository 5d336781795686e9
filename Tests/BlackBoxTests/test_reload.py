"""SIGHUP: the server reads its settings again. SIGUSR1 and SIGUSR2 have no effect."""

import asyncio
import datetime
import json
import os
import shutil
import signal
import socket
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from administration import Admin
from credentials import Project
from server_process import DEADLINE, TLS, Server
from signalbox_client import Client, connect_line, reconnect
from waiting import until

RELOADED, REFUSED = r"reloaded the settings", r"refused to reload the settings"


def write(folder, **settings):
    path = folder / "settings.json"
    path.write_text(json.dumps(settings))
    return path


def projects(*secrets, key="100"):
    return [{"apiKey": key, "secrets": list(secrets)}]


def reload(server, expected=RELOADED):
    os.kill(server.pid, signal.SIGHUP)
    return server.err.until(expected)


def creates_a_session(server, project):
    return server.rest("POST", "/session/create", project=project).status == 200


async def joins(server, project):
    session = project.session()
    async with await Client.open(server) as client:
        await client.send(connect_line(server, session, apiKey=project.key, token=project.token(session)))
        return (await client.next())["ev"] == "connected"


async def test_his_8_a_history_that_is_switched_off_is_not_read_by_who_is_connected(tmp_path):
    config = write(tmp_path, history="chat")
    with Server("--config", config, state_dir=tmp_path / "state") as server:
        async with await Client.join(server, server.project.session()) as ada:
            await ada.signal(type="chat", data="kept")
            assert len((await ada.history())["messages"]) == 1
            write(tmp_path, history="none")
            assert "changed=history" in reload(server)
            assert (await ada.history())["code"] == 404


async def test_a_new_secret_is_accepted_and_the_old_one_refused_while_a_client_chats(tmp_path):
    old, new = Project("100", "old-secret"), Project("100", "new-secret")
    config = write(tmp_path, projects=projects("old-secret"))
    with Server("--config", config, project=old) as server:
        assert creates_a_session(server, old) and not creates_a_session(server, new)
        async with await Client.join(server, old.session()) as ada:
            write(tmp_path, projects=projects("new-secret", "old-secret"))
            assert "changed=projects" in reload(server)
            assert creates_a_session(server, old) and creates_a_session(server, new)
            assert await joins(server, old) and await joins(server, new)
            write(tmp_path, projects=projects("new-secret"))
            assert "changed=projects" in reload(server)
            assert not creates_a_session(server, old) and creates_a_session(server, new)
            assert not await joins(server, old) and await joins(server, new)
            answer, _ = await ada.signal(data="still here")
            assert answer["ev"] == "ack"
        assert server.stop() == 0
    assert not [line for line in server.err.seen if "-secret" in line]


async def test_labels_of_sessions_come_before_those_of_their_ids_and_can_be_changed(tmp_path):
    project = Project("100", "s")
    named, plain = project.session(), project.session()

    def labelled(**labels):
        sessions = [{"sessionId": {"named": named, "plain": plain}[each], "label": labels[each]} for each in labels]
        return write(tmp_path, projects=projects("s"), **({"sessions": sessions} if sessions else {}))

    config = labelled(named="Support 7")
    with Server("--config", config, "--admin-port", "0", project=project) as server:
        admin = Admin(server)

        def seen():
            return {each["sessionId"]: each["label"] for each in admin.get("sessions")["items"]}

        async with await Client.join(server, named), await Client.join(server, plain):
            assert seen() == {named: "Support 7", plain: None}
            assert [each["sessionId"] for each in admin.get("sessions?search=support")["items"]] == [named]
            labelled(plain="Réception")
            assert "changed=sessions" in reload(server)
            await until(lambda: seen() == {named: None, plain: "Réception"}, "the new label")
            assert admin.get(f"sessions/{plain}")["label"] == "Réception"


async def test_a_project_can_be_added_and_removed(tmp_path):
    first, second = Project("100", "a"), Project("200", "b")
    config = write(tmp_path, projects=projects("a"))
    with Server("--config", config, project=first) as server:
        assert not creates_a_session(server, second)
        write(tmp_path, projects=projects("a") + projects("b", key="200"))
        reload(server)
        assert creates_a_session(server, first) and creates_a_session(server, second)
        async with await Client.join(server, first.session()) as ada:
            write(tmp_path, projects=projects("b", key="200"))
            reload(server)
            assert not creates_a_session(server, first) and creates_a_session(server, second)
            assert (await ada.signal(data="stays"))[0]["ev"] == "ack"


async def test_a_broken_file_is_refused_and_everything_stays(tmp_path):
    project = Project("100", "a")
    config = write(tmp_path, projects=projects("a"), signalRate=1000)
    with Server("--config", config, project=project) as server:
        async with await Client.join(server, project.session()) as ada:
            for text, words in [
                ("{", "is not JSON"), ("[]", "not a JSON object"), ('{"projects": []}', "list that is not empty"),
                ('{"projects": [{"apiKey": "100", "secrets": ["b"]}], "signalRate": -1}', "signalRate is -1"),
                ('{"projects": [{"apiKey": "100", "secrets": ["b"]}], "signalrate": 1}', "Did you mean"),
                ('{"projects": [{"apiKey": "100", "secrets": ["b"]}], "tlsCert": "x"}', "--tls-key"),
            ]:
                config.write_text(text)
                line = reload(server, REFUSED)
                assert words in line and "nothing has changed" in line, line
            config.unlink()
            assert "cannot be read" in reload(server, REFUSED)
            assert creates_a_session(server, project)
            assert (await ada.signal(data="x"))[0]["ev"] == "ack"


async def test_limits_and_the_log_level_change(tmp_path):
    project = Project("100", "a")
    settings = {"projects": projects("a"), "signalRate": 0, "logLevel": "notice"}
    config = write(tmp_path, **settings)
    # No --log-level: the command line would override the file.
    with Server("--config", config, project=project, log_level=None) as server:
        async with await Client.join(server, project.session()) as ada:
            for _ in range(20):
                assert (await ada.signal(data="x"))[0]["ev"] == "ack"
            write(tmp_path, **settings | {"signalRate": 1, "signalBurst": 2, "logLevel": "debug"})
            line = reload(server)
            assert "changed=signalRate, signalBurst, logLevel" in line, line
            # However slow the machine is, some of these come within a second.
            codes = [(await ada.signal(data="x"))[0].get("code") for _ in range(100)]
            assert codes[0] is None and 429 in codes, codes
            async with await Client.join(server, project.session()):
                server.err.until(" debug signalbox: .* connected")
        path, body = server.session_path(project.session(), "/signal"), {"type": "a", "data": "x"}
        assert server.rest("POST", path, body).status == 404
        write(tmp_path, **settings | {"requestRate": 1})
        assert "requestRate" in reload(server)
        # However slow the machine is, 50 requests come faster than one each second.
        assert 429 in [server.rest("POST", path, body).status for _ in range(50)]


async def test_what_needs_a_restart_is_named_and_stays(tmp_path):
    project = Project("100", "a")
    config = write(tmp_path, projects=projects("a"))
    with Server("--config", config, project=project) as server:
        write(tmp_path, projects=projects("b"), stateDir=str(tmp_path / "state"), resumeSeconds=7)
        assert "changed=projects" in reload(server)
        assert "settings=resumeSeconds, stateDir" in server.err.until("restart the server")
        assert creates_a_session(server, Project("100", "b")) and not (tmp_path / "state").exists()
        # Nothing changes a second time, and the same settings still wait for the restart.
        assert "changed=nothing" in reload(server)
        assert "settings=resumeSeconds, stateDir" in server.err.until("restart the server")


def certificate(folder, name, key):
    """Writes a self-signed certificate for 127.0.0.1."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1)).sign(key, hashes.SHA256())
    )  # fmt: skip
    (folder / "server.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "server.key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made


def served_certificate(server, ciphers=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if ciphers:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers)
    with socket.create_connection((server.host, server.port), DEADLINE) as tcp:
        with context.wrap_socket(tcp) as secure:
            return x509.load_der_x509_certificate(secure.getpeercert(binary_form=True))


class SecureServer(Server):
    """A server whose certificate files a test replaces."""

    def __init__(self, folder):
        files = ("--tls-cert", folder / "server.pem", "--tls-key", folder / "server.key.pem")
        super().__init__(*files, project=None)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE


async def test_a_new_certificate_is_served_to_new_connections_while_an_old_one_chats(tmp_path):
    for name in ("server.pem", "server.key.pem"):
        shutil.copy(TLS / name, tmp_path / name)
    with SecureServer(tmp_path) as server:
        first = served_certificate(server)
        async with await Client.join(server, server.project.session()) as ada:
            assert "changed=nothing" in reload(server)
            assert served_certificate(server) == first
            # Another key type: nothing of the old certificate may stay beside it.
            second = certificate(tmp_path, "elliptic", ec.generate_private_key(ec.SECP256R1()))
            assert "changed=the certificate" in reload(server)
            assert served_certificate(server) == second
            third = certificate(tmp_path, "rsa", rsa.generate_private_key(65537, 2048))
            reload(server)
            assert served_certificate(server) == served_certificate(server, "ECDHE+aRSA+AESGCM") == third
            # A key that does not match, and a file that is no certificate, change nothing.
            shutil.copy(TLS / "elsewhere.key.pem", tmp_path / "server.key.pem")
            assert "does not match" in reload(server, REFUSED)
            (tmp_path / "server.pem").write_text("nothing")
            assert "Cannot use the certificate" in reload(server, REFUSED)
            assert served_certificate(server) == third
            assert (await ada.signal(data="all along"))[0]["ev"] == "ack"


async def test_sigusr1_and_sigusr2_have_no_effect_and_the_sessions_are_kept(tmp_path):
    with Server("--state-dir", tmp_path) as server:
        session = server.project.session()
        ada = await Client.join(server, session)
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGUSR1):
            os.kill(server.pid, number)
        server.err.until(RELOADED)
        assert (await ada.signal(data="x"))[0]["ev"] == "ack"
        assert await asyncio.to_thread(server.stop) == 0
    with Server("--state-dir", tmp_path) as server:
        async with await reconnect(server, session, ada, after=1) as back:
            assert back.connected["outcome"] == "resumed"


async def test_development_mode_reloads_and_keeps_its_rooms():
    with Server(dev=True) as server:
        room = server.room("lobby")
        assert "changed=nothing" in reload(server)
        assert server.room("lobby")["sessionId"] == room["sessionId"]
