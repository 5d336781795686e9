"""The commands of the program, as users and scripts call them."""

import asyncio
import base64
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading

import pytest

from credentials import Application, Project
from server_process import BINARY, DEADLINE, REPOSITORY, Command, Server, environment, run
from signalbox_client import Client
from waiting import free_port

# The exit codes of the program, from sysexits.h.
USAGE, UNREACHABLE, REFUSED = os.EX_USAGE, os.EX_UNAVAILABLE, os.EX_NOPERM


def project_settings(server):
    return {"api_key": server.project.key, "api_secret": server.project.secret, "server": server.url}


@pytest.fixture(scope="module")
def settings(server):
    return project_settings(server)


def fails(result, code):
    """Requires the exit code and a message on standard error that is not a crash report. Returns the message."""
    assert result.returncode == code, result
    assert result.stdout == "", result
    lines = result.stderr.strip().splitlines()
    assert lines and lines[0].strip(), result
    assert "Fatal error" not in result.stderr and "Backtrace" not in result.stderr and "💣" not in result.stderr
    return result.stderr


def fails_in_one_line(result, code, *words):
    """Requires a message of one line: for a fault outside the command line, the usage text would not help."""
    message = fails(result, code).strip()
    assert len(message.splitlines()) == 1, message
    for word in words:
        assert word in message, message


def content(command):
    """What a signal needs, and no other command takes."""
    return ["--data", "x"] if command == "signal" else []


# serve


@pytest.mark.parametrize(
    "arguments, variables, word",
    [
        (["--port", "http"], {}, "port"),
        ([], {"session_connections": "1000001"}, "sessionConnections"),
        (["--host", "0.0.0.0"], {}, "loopback"),
        (["--dev", "--api-key", "100", "--api-secret", "s"], {}, "dev"),
        (["--token-expiry", "never"], {}, "Use keep or end."),
        (["--nonsense"], {}, "nonsense"),
        (["surplus"], {}, "surplus"),
        (["--web-root", "/nonexistent-folder"], {}, "nonexistent-folder"),
    ],
    ids=str,
)
def test_serve_refuses_a_wrong_setting_with_64_and_names_it(arguments, variables, word):
    if "--port" not in arguments and "port" not in variables:
        arguments = ["--port", "0", *arguments]
    result = run("serve", *arguments, **variables)
    assert word.lower() in fails(result, USAGE).splitlines()[0].lower(), result.stderr


def test_serve_refuses_a_configuration_file_that_is_a_folder_or_not_utf_8(tmp_path):
    fails(run("serve", "--config", tmp_path), USAGE)
    file = tmp_path / "settings.json"
    file.write_bytes(b'{"host":"\xff"}')
    fails(run("serve", "--config", file), USAGE)


def test_serve_in_development_mode_prints_credentials_that_work(dev_server):
    line = dev_server.out.until("export SIGNALBOX_API_KEY=")
    words = dict(word.split("=", 1) for word in line.split() if "=" in word)
    made = run("session", "create", env=environment() | words)
    assert made.returncode == 0, made
    session = made.stdout.strip()
    sent = run("signal", session, "--server", dev_server.url, "--type", "a", env=environment() | words)
    assert (sent.returncode, sent.stdout.strip().isdigit()) == (0, True), sent


# session, token, credentials


async def test_a_token_of_the_token_command_is_accepted_for_a_session_of_the_session_command(server, settings):
    session = run("session", "create", **settings)
    assert session.returncode == 0 and session.stderr == "" and session.stdout.count("\n") == 1, session
    session = session.stdout.strip()
    assert run("session", **settings).stdout.strip() != session
    for form, starts, role in (("t1", "T1==", "subscriber"), ("t1", "T1==", "moderator"), ("jwt", "ey", "publisheronly")):
        arguments = [session, "--role", role, "--data", "name=Zoë & co +~1%\n😀", "--format", form, "--expires-in", "60"]
        token = run("token", *arguments, **settings)
        assert token.returncode == 0 and token.stdout.startswith(starts), token
        async with await Client.join(server, session, token=token.stdout.strip()) as client:
            assert client.connected["role"] == role
            assert client.me["data"] == "name=Zoë & co +~1%\n😀"


@pytest.fixture(scope="module")
def hosting(tmp_path_factory):
    """A server of a project, of another one with two secrets, and of an application; and its folder."""
    folder = tmp_path_factory.mktemp("hosting")
    application, first, second = Application(), Project("200", "the first secret"), Project("201", "the new secret")
    (folder / "public.pem").write_text(application.public_pem)
    (folder / "private.pem").write_text(application.private_pem)
    (folder / "settings.json").write_text(json.dumps({
        "projects": [
            {"apiKey": first.key, "secrets": [first.secret]},
            {"apiKey": second.key, "secrets": [second.secret, "the old secret"]},
        ],
        "applications": [{"applicationId": application.key, "publicKeyFile": "public.pem"}],
    }))  # fmt: skip
    with Server("--config", folder / "settings.json", project=application) as server:
        server.owners = {
            "project": (first, ["--api-key", first.key, "--api-secret", first.secret]),
            "new secret": (second, ["--api-key", second.key, "--api-secret", second.secret]),
            "old secret": (second, ["--api-key", second.key, "--api-secret", "the old secret"]),
            "application": (
                application, ["--application-id", application.key, "--private-key-file", folder / "private.pem"]
            ),
        }
        server.folder = folder
        yield server


def claims_of(token):
    head, body, _ = token.split(".")
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, body)]


@pytest.mark.parametrize("owner", ["old secret", "application"])
async def test_every_command_works_for_every_project_and_application(hosting, owner):
    owner, names = hosting.owners[owner]
    made = run("session", "create", *names)
    assert (made.returncode, made.stderr) == (0, ""), made
    session = made.stdout.strip()
    assert owner.key in base64.urlsafe_b64decode(session[2:] + "==").decode().split("~")

    credentials = run("credentials", *names)
    assert credentials.returncode == 0, credentials
    assert hosting.rest("POST", "/session/create", token=credentials.stdout.strip(), project=owner).status == 200

    async with await Client.join(hosting, session, project=owner) as ada:
        for form in ("app",) if isinstance(owner, Application) else ("t1", "jwt"):
            token = run("token", session, *names, "--format", form, "--role", "moderator", "--data", "Zoë & co")
            assert token.returncode == 0, token
            token = token.stdout.strip()
            async with await Client.join(hosting, session, token=token, key=owner.key) as bob:
                assert (bob.connected["role"], bob.me["data"]) == ("moderator", "Zoë & co")
                await ada.expect("connectionCreated")
            await ada.expect("connectionDestroyed")
        sent = await asyncio.to_thread(
            run, "signal", session, *names, "--type", "t", "--name", "Tool", "--role", "moderator", server=hosting.url
        )
        assert (sent.returncode, sent.stderr) == (0, "") and sent.stdout.strip().isdigit(), sent
        assert (await ada.expect("connectionCreated"))["connection"]["data"] == "Tool"
        await ada.expect("signal", type="t")
        await ada.expect("connectionDestroyed", reason="clientDisconnected")
        with Command("listen", session, *names, server=hosting.url) as listen:
            await asyncio.to_thread(listen.out.until, '"connected"')
            await ada.expect("connectionCreated")
            await ada.signal(type="received")
            await asyncio.to_thread(listen.out.until, '"received"')
            listen.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(listen.wait) == 0
        await ada.expect("connectionDestroyed", reason="clientDisconnected")
        chat = await asyncio.to_thread(run, "chat", session, *names, input="hello\n", server=hosting.url)
        assert chat.returncode == 0, chat
        (event,) = await messages(ada, 1)
        assert chat_text(event) == "hello"


def test_token_contains_the_claims_that_sdks_write(hosting):
    _, names = hosting.owners["project"]
    session = run("session", *names).stdout.strip()
    t1 = run("token", session, *names, "--expires-in", "60").stdout.strip()
    assert t1.startswith("T1==") and base64.b64decode(t1[4:]).startswith(b"partner_id=200&sig=")
    head, claims = claims_of(run("token", session, *names, "--format", "jwt", "--expires-in", "60").stdout.strip())
    assert head == {"alg": "HS256", "typ": "JWT"}
    assert {
        "iss": "200", "ist": "project", "session_id": session, "role": "publisher", "scope": "session.connect"
    }.items() <= claims.items()
    assert claims["exp"] - claims["iat"] == 60 and "connection_data" not in claims

    application, names = hosting.owners["application"]
    session = run("session", *names).stdout.strip()
    for form in ([], ["--format", "app"]):
        head, claims = claims_of(run("token", session, *names, *form, "--data", "d").stdout.strip())
        assert head == {"alg": "RS256", "typ": "JWT"}
        assert {
            "application_id": application.key, "session_id": session, "role": "publisher", "scope": "session.connect",
            "subject": "video", "connection_data": "d", "acl": {"paths": {"/session/**": {}}},
        }.items() <= claims.items()  # fmt: skip
        assert claims["exp"] - claims["iat"] == 86_400 and claims["jti"]


async def test_an_application_is_read_from_the_environment_and_a_project_comes_first(hosting):
    application, (_, _, _, key_file) = hosting.owners["application"]
    variables = {"application_id": application.key, "private_key_file": key_file, "server": hosting.url}
    session = run("session", **variables).stdout.strip()
    async with await Client.join(hosting, session) as ada:
        sent = await asyncio.to_thread(run, "signal", session, "--type", "t", **variables)
        assert sent.returncode == 0, sent
        await ada.expect("connectionCreated")
        await ada.expect("signal", type="t")
        # With a given token, the command needs no credentials to sign with.
        token = run("token", session, **variables).stdout.strip()
        assert run("signal", session, "--data", "x", token=token, server=hosting.url).returncode == 0
        # With both in the environment the project signs, and it cannot sign for a session of the application.
        both = variables | {"api_key": "200", "api_secret": "the first secret"}
        assert run("session", **both).stdout.strip() != ""
        assert claims_of(run("credentials", **both).stdout.strip())[1]["iss"] == "200"
        fails(await asyncio.to_thread(run, "signal", session, "--type", "t", **both), USAGE)
        # The command line comes before the environment.
        named = ["--application-id", application.key, "--private-key-file", key_file]
        assert (await asyncio.to_thread(run, "signal", session, "--data", "x", *named, **both)).returncode == 0


@pytest.mark.parametrize("part, words", [
    (["--application-id", "ID"], "--private-key-file"), (["--private-key-file", "KEY"], "--application-id"),
    (["--application-id", "ID", "--private-key-file", "KEY", "--api-key", "200"], "--api-key"),
    (["--application-id", "nonsense", "--private-key-file", "KEY"], "UUID"),
    (["--application-id", "ID", "--private-key-file", "PUBLIC"], "private key"),
    (["--application-id", "ID", "--private-key-file", "NOTHING"], "cannot be read"),
], ids=["only an id", "only a key", "with an API key", "id is not a UUID", "public key", "missing file"])  # fmt: skip
def test_an_incomplete_application_is_64_and_the_message_names_what_is_missing(hosting, part, words):
    application, _ = hosting.owners["application"]
    values = {
        "ID": application.key, "KEY": hosting.folder / "private.pem", "PUBLIC": hosting.folder / "public.pem",
        "NOTHING": hosting.folder / "nothing.pem",
    }  # fmt: skip
    arguments = [values.get(each, each) for each in part]
    result = run("signal", application.session(), *arguments, "--data", "x", server=hosting.url)
    assert words in fails(result, USAGE), result


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["token"], []), (["token", "SESSION", "--role", "admin"], ["admin"]), (["nonsense"], ["nonsense"]),
        (["token", "SESSION", "--expires-in", "2592001"], ["lifetime"]), (["session", "destroy"], ["destroy"]),
        (["signal", "SESSION"], ["--data"]), (["signal", "SESSION", "--data", "a" * 8193], ["8192"]),
        (["signal", "lobby", "--data", "x", "--server", "ftp://x"], ["ftp://x"]),
        (["signal", "a/b", "--data", "x"], ["neither a session id nor a room"]),
        (["token", "lobby"], ['"lobby" is not a session id', "session create"]),
    ],
    ids=lambda each: " ".join(each)[:50],
)  # fmt: skip
def test_wrong_usage_is_64_and_says_what_is_wrong(server, settings, arguments, words):
    session = server.project.session()
    message = fails(run(*[session if each == "SESSION" else each for each in arguments], **settings), USAGE)
    assert all(word in message for word in words), message


def test_without_credentials_no_token_is_created(server):
    for arguments in (["session", "create"], ["token", server.project.session()], ["credentials"]):
        fails(run(*arguments), USAGE)


def test_an_unreachable_server_is_69(server, settings):
    port = free_port()
    session = server.project.session()
    for command in ("signal", "listen", "chat"):
        result = run(command, session, *content(command), input="", **settings | {"server": f"http://127.0.0.1:{port}"})
        fails_in_one_line(result, UNREACHABLE)
    # The program requests a room by HTTP.
    fails_in_one_line(run("signal", "lobby", "--data", "x", "--server", f"http://127.0.0.1:{port}"), UNREACHABLE)


def test_another_service_on_the_port_is_69(server, settings):
    """The service accepts connections and closes them."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept_and_close():
        while True:
            try:
                listener.accept()[0].close()
            except OSError:
                return

    threading.Thread(target=accept_and_close, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    result = run("signal", server.project.session(), "--data", "x", **settings | {"server": url})
    listener.close()
    fails_in_one_line(result, UNREACHABLE)


def test_a_refusal_by_the_server_is_77(server, settings):
    session = server.project.session()
    forged = server.project.token(session, secret="another")
    for command in ("signal", "listen", "chat"):
        fails_in_one_line(run(command, session, "--token", forged, *content(command), input="", **settings), REFUSED)
    fails_in_one_line(run("signal", session, "--data", "x", **settings | {"api_secret": "another"}), REFUSED)
    fails_in_one_line(run("signal", session, "--data", "x", "--role", "publisheronly", **settings), REFUSED)
    malformed = run("signal", session, "--data", "x", "--token", "T1==nonsense", **settings)
    fails_in_one_line(malformed, REFUSED, "signalbox token SESSION")


# signal


async def test_signal_prints_its_seq(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        result = await asyncio.to_thread(
            run, "signal", session, "--type", "greeting", "--data", "hé😀\nllo", "--name", "Cli", **settings
        )
        assert (result.returncode, result.stdout, result.stderr) == (0, "3\n", "")
        created = await ada.expect("connectionCreated", seq=2)
        assert created["connection"]["data"] == "Cli"
        await ada.expect("signal", seq=3, type="greeting", data="hé😀\nllo")
        await ada.expect("connectionDestroyed", seq=4, reason="clientDisconnected")
        result = await asyncio.to_thread(run, "signal", session, "--data", "psst", "--to", ada.id, **settings)
        assert (result.returncode, result.stdout) == (0, "6\n")
        await ada.expect("connectionCreated")
        await ada.expect("signal", data="psst", to=ada.id)
        result = await asyncio.to_thread(run, "signal", session, "--data", "x", "--to", "nobody", **settings)
        fails_in_one_line(result, 1)


# listen


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_listen_prints_json_lines_and_ends_cleanly(server, settings, how):
    session = server.project.session()
    async with await Client.join(server, session, data="Ada") as ada:
        with Command("listen", session, "--name", "Listener", **settings) as listen:

            async def next_event():
                line = await asyncio.to_thread(listen.out.next)
                event = json.loads(line)
                assert isinstance(event["event"], str)
                return event

            assert (await next_event())["event"] == "connected"
            created = await ada.expect("connectionCreated")
            await ada.signal(type="t", data='line\nbreak "quoted" \u2028 \x1b[31m 😀')
            event = await next_event()
            while event["event"] != "signal":
                event = await next_event()
            assert event["type"] == "t" and event["data"] == 'line\nbreak "quoted" \u2028 \x1b[31m 😀'
            assert ada.id in json.dumps(event)
            listen.process.send_signal(how)
            await ada.expect(
                "connectionDestroyed", connectionId=created["connection"]["connectionId"], reason="clientDisconnected"
            )
            assert await asyncio.to_thread(listen.wait) == 0


async def test_listen_reports_a_forced_disconnect_and_ends(server, settings):
    session = server.project.session()
    async with await Client.join(server, session, role="moderator") as ada:
        with Command("listen", session, **settings) as listen:
            created = await ada.expect("connectionCreated")
            await ada.request("forceDisconnect", connectionId=created["connection"]["connectionId"])
            last = json.loads(await asyncio.to_thread(listen.out.until, "forceDisconnected"))
            assert isinstance(last["event"], str)
            assert await asyncio.to_thread(listen.wait) == 1


async def test_listen_disconnects_when_it_is_stopped_however_early(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        for how in [signal.SIGINT, signal.SIGTERM] * 4:
            with Command("listen", session, **settings) as listen:
                await asyncio.to_thread(listen.out.until, '"connected"')
                listen.process.send_signal(how)
                await ada.expect("connectionCreated")
                await ada.expect("connectionDestroyed", reason="clientDisconnected")
                assert await asyncio.to_thread(listen.wait) == 0


async def test_signal_always_disconnects(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(asyncio.to_thread(run, "signal", session, "--type", "a", **settings))
        reasons = []
        while len(reasons) < 5:
            event = await ada.next()
            if event["ev"] == "connectionDestroyed":
                reasons.append(event["reason"])
        assert reasons == ["clientDisconnected"] * 5


async def test_listen_ends_when_its_output_is_closed(server, settings):
    """As in `signalbox listen … | head -1`."""
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        with Command("listen", session, reads_output=False, **settings) as listen:
            await ada.expect("connectionCreated")
            await ada.request("signal", type="a")
            await ada.expect("signal")
            await ada.expect("ack")
            await ada.expect("connectionDestroyed")
            assert await asyncio.to_thread(listen.wait) == 128 + signal.SIGPIPE, "an exit, not a crash"


async def test_listen_ends_with_a_failure_when_the_connection_is_lost():
    """With an exit code of 0 a script would assume that it received everything."""
    with Server(resume_seconds=1, recovery_seconds=0) as server:
        with Command("listen", server.project.session(), **project_settings(server)) as listen:
            await asyncio.to_thread(listen.out.until, "connected")
            server.process.kill()
            assert await asyncio.to_thread(listen.wait) in (1, UNREACHABLE)


# chat


def chat_text(event):
    """The text of a chat signal (CHAT-1, CHAT-2)."""
    return event["data"] if event["type"] == "TextChat" else json.loads(event["data"])["text"]


async def messages(client, count):
    """The next chat messages of other clients. Presence and typing signals are skipped."""
    found = []
    while len(found) < count:
        event = await client.next()
        if event["ev"] == "signal" and event["from"] != client.id and event.get("type") in ("TextChat", "text-chat"):
            found.append(event)
    return found


async def test_chat_sends_piped_input_line_by_line_and_then_disconnects(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        text = "hello\n\nsecond é😀\n  spaces  \nno newline at the end"
        result = await asyncio.to_thread(run, "chat", session, "--name", "Pipe", input=text, **settings)
        assert result.returncode == 0, result
        received = await messages(ada, 4)
        assert [chat_text(each).strip() for each in received] == [
            "hello", "second é😀", "spaces", "no newline at the end"
        ]
        await ada.expect("connectionDestroyed", reason="clientDisconnected")


# What a terminal carries out instead of showing it: control characters, line ends, and marks of direction (UAX 9).
CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "a\x1b[2Jb\x9b2Jc\u202ed\u2067e\u2028f"


async def test_listen_escapes_what_controls_a_terminal_and_keeps_the_values(server, settings):
    session = server.project.session()
    with Command("listen", session, **settings) as listen:
        await asyncio.to_thread(listen.out.until, "connected")
        async with await Client.join(server, session, data=HOSTILE) as ada:
            await ada.request("signal", type="chat", data=HOSTILE)
            lines = [await asyncio.to_thread(listen.out.until, part) for part in ("connectionCreated", '"signal"')]
    assert not [line for line in lines if CONTROLS.search(line)], lines
    created, signal = (json.loads(line) for line in lines)
    assert created["connection"]["data"] == signal["data"] == HOSTILE


async def test_admin_shows_connection_data_that_cannot_control_a_terminal(server, settings):
    session = server.project.session()
    credentials = {"api_key": settings["api_key"], "api_secret": settings["api_secret"], "admin_url": server.url}
    async with await Client.join(server, session, data=HOSTILE):
        shown = await asyncio.to_thread(run, "admin", "session", session, **credentials)
        exact = await asyncio.to_thread(run, "admin", "session", session, "--json", **credentials)
    for output in (shown.stdout, exact.stdout):
        assert output and not CONTROLS.search(output.replace("\n", "")), ascii(output)
    assert json.loads(exact.stdout)["connections"]["items"][0]["data"] == HOSTILE


@pytest.mark.parametrize("arguments", [["signal", "lobby", "--data", "x"], ["health"], ["admin", "stats"]])
def test_the_answer_of_a_hostile_server_cannot_control_a_terminal(arguments):
    class Hostile(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"code": 400, "message": HOSTILE + "\nforged", "status": HOSTILE + "\nforged"}).encode()
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as hostile:
        threading.Thread(target=hostile.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{hostile.server_port}"
        refused = run(*arguments, **({"admin_url": url} if arguments[0] == "admin" else {"server": url}))
        hostile.shutdown()
    assert refused.returncode != 0 and "forged" in refused.stderr, refused
    assert not CONTROLS.search(refused.stderr.rstrip("\n")), ascii(refused.stderr)


async def test_chat_shows_messages_without_their_escape_sequences(server, settings):
    session = server.project.session()
    async with await Client.join(server, session, data="Ada") as ada:
        with Command("chat", session, "--name", "Terminal", **settings) as chat:
            created = await ada.expect("connectionCreated")
            assert "Terminal" in created["connection"]["data"]

            async def send_chat(text, type="TextChat"):
                data = text if type == "TextChat" else json.dumps({
                    "text": text, "sender": {"id": ada.id, "alias": "A\x1b[2Jda"}, "sentOn": 1
                })
                await ada.request("signal", type=type, data=data)

            await send_chat("plain")
            line = await asyncio.to_thread(chat.out.until, "plain")
            assert line.endswith(": plain") and "Ada" in line, line
            await send_chat(
                "nasty \x1b[31mred\x1b]0;title\x07 \x9b2J bell\x07 back\x08 del\x7f cr\rover end", "text-chat"
            )
            line = await asyncio.to_thread(chat.out.until, "end")
            await send_chat("two\nlines")
            await send_chat("bidi \u202e\u2066\u200f\u061c\u2028 end2")
            await asyncio.to_thread(chat.out.until, "end2")
            for line in chat.out.seen:
                assert not CONTROLS.search(line.replace("\t", "")), ascii(line)
            # In the other direction.
            chat.process.stdin.write("from the terminal\n")
            (event,) = await messages(ada, 1)
            assert chat_text(event) == "from the terminal"
            chat.process.stdin.close()
            assert await asyncio.to_thread(chat.wait) == 0


async def test_chat_reports_a_line_that_is_too_long_and_sends_the_next(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        result = await asyncio.to_thread(run, "chat", session, input="x" * 20000 + "\nshort\n", **settings)
        (event,) = await messages(ada, 1)
        assert chat_text(event) == "short"
        assert result.stderr.strip(), "no message about the long line"
        assert (await ada.signal())[1][-1]["ev"] == "signal"


@pytest.mark.waiting
async def test_a_tool_gives_up_on_a_frozen_server(server):
    """The server accepts the connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        url = f"http://127.0.0.1:{frozen.getsockname()[1]}"
        project = {"api_key": "100", "api_secret": "s", "server": url}
        session, room = await asyncio.gather(
            asyncio.to_thread(run, "signal", server.project.session(), "--data", "x", **project),
            asyncio.to_thread(run, "signal", "lobby", "--data", "x", server=url))
        fails_in_one_line(session, UNREACHABLE, "10 seconds")
        fails_in_one_line(room, UNREACHABLE, "cannot be reached")


def test_room_prints_the_session_of_a_room_and_names_what_is_wrong(dev_server, server, settings):
    printed = run("room", "lobby", server=dev_server.url)
    assert (printed.returncode, printed.stderr) == (0, ""), printed
    assert printed.stdout == dev_server.room("lobby")["sessionId"] + "\n"
    fails_in_one_line(run("room", "a/b", server=dev_server.url), USAGE, "a room")
    fails_in_one_line(run("room", "lobby", server=server.url), REFUSED, "not in development mode")


@pytest.mark.parametrize("command", [
    ["room", "lobby"], ["signal", "lobby", "--data", "x"], ["link", "lobby", "--name", "Bob"],
])  # fmt: skip
def test_wrong_credentials_for_a_room_are_77_also_where_none_are_needed(dev_server, command):
    refused = run(*command, server=dev_server.url, api_key="100", api_secret="wrong")
    fails_in_one_line(refused, REFUSED, "leave out the key and the secret")


def test_a_link_with_wrong_credentials_is_refused(server):
    session = server.project.session()
    made = run("link", session, "--name", "Bob", server=server.url, api_key=server.project.key, api_secret="wrong")
    assert made.returncode == REFUSED and not made.stdout and "refuses the credentials" in made.stderr, made


@pytest.mark.parametrize("arguments, words", [
    ([], "usage: hello-signalbox KEY SESSION TOKEN [SERVER]"), (["100", "lobby", "token", "ftp://x"], "ftp://x"),
])  # fmt: skip
def test_the_example_prints_a_sentence_for_wrong_arguments(arguments, words):
    program = pathlib.Path(BINARY).resolve().parent / "hello-signalbox"
    result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=DEADLINE)
    assert result.returncode in (1, USAGE) and words in result.stderr, result
    assert "Fatal error" not in result.stderr and len(result.stderr.strip().splitlines()) == 1, result


def test_each_variable_that_the_help_names_has_its_effect(server):
    """A wrong value in the variable causes the error of the option."""
    named = set(re.findall(r"SIGNALBOX_[A-Z_]+", run("--experimental-dump-help").stdout))
    session = server.project.session()
    other = {"api_key": "200", "api_secret": "s"}
    effects = {
        "SIGNALBOX_PORT": (["serve"], {"port": "x"}),
        "SIGNALBOX_API_KEY": (["session"], {"api_key": "a key"}),
        "SIGNALBOX_API_SECRET": (["session"], {"api_secret": "s"}),
        "SIGNALBOX_APPLICATION_ID": (["session"], {"application_id": "x"}),
        "SIGNALBOX_PRIVATE_KEY_FILE": (["session"], {"application_id": "x", "private_key_file": "/nonexistent"}),
        "SIGNALBOX_SERVER": (["signal", session, "--data", "x"], other | {"server": "ftp://x"}),
        "SIGNALBOX_TOKEN": (["signal", "lobby", "--data", "x"], {"token": "T1==a"}),
        "SIGNALBOX_API_SECRET_FILE": (["session"], {"api_key": "200", "api_secret_file": "/nonexistent"}),
        "SIGNALBOX_ADMIN_URL": (["admin", "stats"], {"admin_url": "ftp://x"}),
        "SIGNALBOX_ADMIN_TOKEN": (["admin", "stats"], {"admin_token": "a", "admin_token_file": "/nonexistent"}),
        "SIGNALBOX_ADMIN_TOKEN_FILE": (["admin", "stats"], {"admin_token_file": "/nonexistent"}),
    }  # fmt: skip
    assert named <= set(effects), "the test does not know a variable"
    for name in named:
        arguments, variables = effects[name]
        assert run(*arguments, **variables).returncode == USAGE, name


def test_the_version_is_that_of_the_changelog_and_each_command_has_help():
    shown = run("--version")
    assert (shown.returncode, shown.stderr) == (0, "")
    heading = re.search(r"^## (\S+)", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert heading == shown.stdout.strip()
    for arguments in (["--help"], ["session", "create", "--help"]):
        result = run(*arguments)
        assert result.returncode == 0 and result.stdout and not result.stderr, result
