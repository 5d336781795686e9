"""The commands, as a person or a script uses them."""

import asyncio
import base64
import json
import signal
import socket
import threading

import pytest

from credentials import Application, Project
from server_process import WEB_ROOT, Command, Server, environment, run
from signalbox_client import Client

USAGE, UNREACHABLE, REFUSED = 64, 69, 77


def project_settings(server):
    return {"api_key": server.project.key, "api_secret": server.project.secret, "server": server.url}


@pytest.fixture(scope="module")
def settings(server):
    return project_settings(server)


def fails(result, code):
    """The exit code, and something short on standard error that is no crash."""
    assert result.returncode == code, result
    assert result.stdout == "", result
    lines = result.stderr.strip().splitlines()
    assert lines and lines[0].strip(), result
    assert "Fatal error" not in result.stderr and "Backtrace" not in result.stderr and "💣" not in result.stderr
    return result.stderr


def fails_in_one_line(result, code, *words):
    """For what is wrong with the surroundings, not with the command's words: the usage text would be of no help."""
    said = fails(result, code).strip()
    assert len(said.splitlines()) == 1, said
    for word in words:
        assert word in said, said


# serve


def test_serve_prints_one_ready_line_with_the_port_that_it_chose(server):
    assert len(server.out.seen) >= 1
    assert server.out.seen[-1] == f"signalbox is ready at {server.url}/"
    assert server.port > 0


def test_serve_on_a_port_in_use_says_so(server):
    result = run("serve", "--port", server.port, **{k: v for k, v in project_settings(server).items() if k != "server"})
    assert result.returncode not in (0, -6, -11), result
    fails_in_one_line(result, result.returncode, str(server.port))
    assert result.returncode == 1, "design: 1 is failed"


@pytest.mark.parametrize(
    "arguments, variables, word",
    [
        (["--port", "65536"], {}, "port"),
        (["--port", "-1"], {}, "port"),
        (["--port", "http"], {}, "port"),
        ([], {"port": "99999"}, "PORT"),
        ([], {"port": "x"}, "PORT"),
        (["--api-key", "100"], {}, "secret"),
        (["--api-secret", "s"], {}, "key"),
        ([], {"api_key": "100"}, "ecret"),
        ([], {"api_key": "100", "api_secret": ""}, "ecret"),
        (["--dev", "--api-key", "100", "--api-secret", "s"], {}, "dev"),
        (["--dev"], {"api_key": "100", "api_secret": "s"}, "dev"),
        (["--host", "0.0.0.0"], {}, "loopback"),
        (["--host", "::"], {}, "loopback"),
        (["--dev", "--host", "0.0.0.0"], {}, "loopback"),
        (["--log-level", "loud"], {}, "log-level"),
        ([], {"log_level": "loud"}, "loud"),
        (["--session-connections", "0"], {}, "sessionConnections"),
        (["--session-connections", "many"], {}, "session-connections"),
        ([], {"session_connections": "1000001"}, "sessionConnections"),
        ([], {"session_connections": "many"}, "sessionConnections"),
        ([], {"dev": "maybe"}, "dev"),
        (["--nonsense"], {}, "nonsense"),
        (["surplus"], {}, "surplus"),
        (["--web-root", "/nonexistent-folder"], {}, "nonexistent-folder"),
        (["--config", "/nonexistent.json"], {}, "/nonexistent.json"),
    ],
    ids=str,
)
def test_serve_refuses_wrong_settings_with_64_and_says_which(arguments, variables, word):
    arguments = arguments if any(each == "--port" for each in arguments) or "port" in variables else ["--port", "0", *arguments]
    result = run("serve", *arguments, timeout=5, **variables)
    assert word.lower() in fails(result, USAGE).splitlines()[0].lower(), result.stderr


@pytest.mark.parametrize(
    "text, word",
    [
        ("", ""), ("nonsense", ""), ("[]", ""), ('{"port":0', ""), ('{"port":0,"surplus":1}', "surplus"), ('{"Port":0}', "Port"),
        ('{"port":"0"}', "port"), ('{"port":1.5}', "port"), ('{"port":-1}', "port"), ('{"port":65536}', "port"), ('{"port":null}', "port"),
        ('{"dev":"yes"}', "dev"), ('{"apiKey":100,"apiSecret":"s"}', "apiKey"), ('{"apiKey":"100"}', "ecret"),
        ('{"host":5}', "host"), ('{"logLevel":"debug"}', "logLevel"), ('{"port":0,"port":0}', ""), ('{"webRoot":[]}', "webRoot"),
    ],
)  # fmt: skip
def test_serve_refuses_wrong_files_with_64_and_says_what(tmp_path, text, word):
    file = tmp_path / "settings.json"
    file.write_text(text)
    result = run("serve", "--config", file, timeout=5)
    said = fails(result, USAGE)
    assert word.lower() in said.lower() and len(said.strip().splitlines()) <= 4, said


def test_serve_refuses_a_file_that_is_a_folder_or_not_utf_8(tmp_path):
    fails(run("serve", "--config", tmp_path, timeout=5), USAGE)
    file = tmp_path / "settings.json"
    file.write_bytes(b'{"host":"\xff"}')
    fails(run("serve", "--config", file, timeout=5), USAGE)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def test_serve_the_command_line_beats_the_environment_which_beats_the_file(tmp_path):
    in_file, in_environment, on_the_line = free_ports(3)
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"host": "127.0.0.1", "port": in_file, "apiKey": "100", "apiSecret": "s", "webRoot": str(WEB_ROOT)}))
    for arguments, variables, port in [
        (["--config", file], {}, in_file),
        ([], {"config": file}, in_file),
        (["--config", file], {"port": in_environment}, in_environment),
        (["--config", file, "--port", on_the_line], {"port": in_environment}, on_the_line),
    ]:
        with Command("serve", *arguments, **variables) as command:
            assert command.out.until("ready").endswith(f":{port}/")


def test_serve_in_development_mode_prints_credentials_that_work(dev_server):
    line = dev_server.out.until("export SIGNALBOX_API_KEY=")
    words = dict(word.split("=", 1) for word in line.split() if "=" in word)
    made = run("session", "create", env=environment() | words)
    assert made.returncode == 0, made
    session = made.stdout.strip()
    sent = run("signal", session, "--server", dev_server.url, "--type", "a", env=environment() | words)
    assert (sent.returncode, sent.stdout.strip().isdigit()) == (0, True), sent


# session, token, credentials


async def test_session_and_token_open_the_door(server, settings):
    session = run("session", "create", **settings)
    assert session.returncode == 0 and session.stderr == "" and session.stdout.count("\n") == 1, session
    session = session.stdout.strip()
    assert run("session", **settings).stdout.strip() != session
    for form, starts in (("t1", "T1=="), ("jwt", "ey")):
        for role in ("subscriber", "publisher", "moderator", "publisheronly"):
            arguments = [session, "--role", role, "--data", "name=Zoë & co +~1%\n😀", "--format", form, "--expires-in", "60"]
            token = run("token", *arguments, **settings)
            assert token.returncode == 0 and token.stdout.startswith(starts), token
            async with await Client.join(server, session, token=token.stdout.strip()) as client:
                assert client.connected["role"] == role
                assert client.me["data"] == "name=Zoë & co +~1%\n😀"


@pytest.fixture(scope="module")
def hosting(tmp_path_factory):
    """A server of a project, of another whose secret is being changed, and of an application; and its folder."""
    folder = tmp_path_factory.mktemp("hosting")
    application, first, second = Application(), Project("200", "the first secret"), Project("201", "the new secret")
    (folder / "public.pem").write_text(application.public_pem)
    (folder / "private.pem").write_text(application.private_pem)
    (folder / "settings.json").write_text(json.dumps({
        "projects": [
            {"apiKey": first.key, "secrets": [first.secret]}, {"apiKey": second.key, "secrets": [second.secret, "the old secret"]},
        ],
        "applications": [{"applicationId": application.key, "publicKeyFile": "public.pem"}],
    }))  # fmt: skip
    with Server("--config", folder / "settings.json", project=application) as server:
        server.owners = {
            "project": (first, ["--api-key", first.key, "--api-secret", first.secret]),
            "new secret": (second, ["--api-key", second.key, "--api-secret", second.secret]),
            "old secret": (second, ["--api-key", second.key, "--api-secret", "the old secret"]),
            "application": (application, ["--application-id", application.key, "--private-key-file", folder / "private.pem"]),
        }
        server.folder = folder
        yield server


def claims_of(token):
    head, body, _ = token.split(".")
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, body)]


@pytest.mark.parametrize("owner", ["project", "new secret", "old secret", "application"])
async def test_every_command_works_for_every_owner(hosting, owner):
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
            await ada.signal(type="heard")
            await asyncio.to_thread(listen.out.until, '"heard"')
            listen.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(listen.wait) == 0
        await ada.expect("connectionDestroyed", reason="clientDisconnected")
        said = await asyncio.to_thread(run, "chat", session, *names, input="hello\n", server=hosting.url)
        assert said.returncode == 0, said
        (event,) = await messages(ada, 1)
        assert chat_text(event) == "hello"


def test_token_says_what_sdks_say(hosting):
    _, names = hosting.owners["project"]
    session = run("session", *names).stdout.strip()
    t1 = run("token", session, *names, "--expires-in", "60").stdout.strip()
    assert t1.startswith("T1==") and base64.b64decode(t1[4:]).startswith(b"partner_id=200&sig=")
    head, claims = claims_of(run("token", session, *names, "--format", "jwt", "--expires-in", "60").stdout.strip())
    assert head == {"alg": "HS256", "typ": "JWT"}
    assert {"iss": "200", "ist": "project", "session_id": session, "role": "publisher", "scope": "session.connect"}.items() <= claims.items()
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


async def test_an_application_signs_from_the_environment_and_a_project_comes_first(hosting):
    application, (_, _, _, key_file) = hosting.owners["application"]
    variables = {"application_id": application.key, "private_key_file": key_file, "server": hosting.url}
    session = run("session", **variables).stdout.strip()
    async with await Client.join(hosting, session) as ada:
        sent = await asyncio.to_thread(run, "signal", session, "--type", "t", **variables)
        assert sent.returncode == 0, sent
        await ada.expect("connectionCreated")
        await ada.expect("signal", type="t")
        # A token that is given needs nobody to sign.
        token = run("token", session, **variables).stdout.strip()
        assert run("signal", session, token=token, server=hosting.url).returncode == 0
        # With both in the environment the project signs, and a project is refused in an application's session.
        both = variables | {"api_key": "200", "api_secret": "the first secret"}
        assert run("session", **both).stdout.strip() != "" and claims_of(run("credentials", **both).stdout.strip())[1]["iss"] == "200"
        fails(await asyncio.to_thread(run, "signal", session, "--type", "t", **both), USAGE)
        # What the command line names comes before the environment.
        named = ["--application-id", application.key, "--private-key-file", key_file]
        assert (await asyncio.to_thread(run, "signal", session, *named, **both)).returncode == 0


@pytest.mark.parametrize("command", ["session", "token", "credentials", "signal", "listen", "chat"])
@pytest.mark.parametrize("half, words", [
    (["--application-id", "ID"], "--private-key-file"), (["--private-key-file", "KEY"], "--application-id"),
    (["--application-id", "ID", "--private-key-file", "KEY", "--api-key", "200"], "--api-key"),
    (["--application-id", "nonsense", "--private-key-file", "KEY"], "UUID"),
    (["--application-id", "ID", "--private-key-file", "PUBLIC"], "private key"),
    (["--application-id", "ID", "--private-key-file", "NOTHING"], "cannot be read"),
], ids=["id", "key", "both", "id no UUID", "public key", "no file"])  # fmt: skip
def test_half_an_application_is_64_and_says_what_is_missing(hosting, command, half, words):
    application, _ = hosting.owners["application"]
    values = {
        "ID": application.key, "KEY": hosting.folder / "private.pem", "PUBLIC": hosting.folder / "public.pem",
        "NOTHING": hosting.folder / "nothing.pem",
    }  # fmt: skip
    arguments = [values.get(each, each) for each in half]
    session = [] if command in ("session", "credentials") else [application.session()]
    result = run(command, *session, *arguments, input="", timeout=5, server=hosting.url)
    assert words in fails(result, USAGE), result


def test_an_application_signs_no_session_of_another(hosting):
    _, names = hosting.owners["application"]
    session = hosting.owners["project"][0].session()
    for command in ("token", "signal", "listen", "chat"):
        assert "no token" in fails(run(command, session, *names, input="", timeout=5, server=hosting.url), USAGE)


def test_a_forged_key_of_an_application_is_77(hosting, tmp_path):
    application, _ = hosting.owners["application"]
    (tmp_path / "other.pem").write_text(Application().private_pem)
    names = ["--application-id", application.key, "--private-key-file", tmp_path / "other.pem"]
    for command in ("signal", "listen", "chat"):
        fails_in_one_line(run(command, application.session(), *names, input="", server=hosting.url), REFUSED)


def test_credentials_open_rest(server, settings):
    credentials = run("credentials", **settings)
    assert credentials.returncode == 0, credentials
    assert server.rest("POST", "/session/create", token=credentials.stdout.strip()).status == 200


@pytest.mark.parametrize(
    "arguments",
    [
        ["token"], ["token", "nonsense"], ["token", "SESSION", "--role", "admin"], ["token", "SESSION", "--format", "xml"],
        ["token", "SESSION", "--expires-in", "0"], ["token", "SESSION", "--expires-in", "-5"], ["token", "SESSION", "--expires-in", "2592001"],
        ["token", "SESSION", "--expires-in", "x"], ["token", "SESSION", "--data", "a" * 1001], ["token", "SESSION", "more"],
        ["session", "destroy"], ["session", "create", "more"], ["nonsense"], ["signal"], ["listen"], ["chat"],
        ["signal", "SESSION", "--type", "a b"], ["signal", "SESSION", "--type", "a" * 129], ["signal", "SESSION", "--data", "a" * 8193],
        ["signal", "SESSION", "--to", ""], ["signal", "SESSION", "--server", "nonsense"], ["signal", "SESSION", "--server", "ftp://x/"],
        ["signal", "SESSION", "--role", "admin"], ["signal", "SESSION", "--name", "a" * 1001],
    ],
    ids=lambda arguments: " ".join(arguments)[:50],
)  # fmt: skip
def test_wrong_usage_is_64(server, settings, arguments):
    session = server.project.session()
    fails(run(*[session if each == "SESSION" else each for each in arguments], timeout=5, **settings), USAGE)


def test_without_credentials_tokens_are_not_made(server):
    for arguments in (["session", "create"], ["token", server.project.session()], ["credentials"]):
        fails(run(*arguments), USAGE)


def test_an_unreachable_server_is_69(server, settings):
    (port,) = free_ports(1)
    session = server.project.session()
    for command in ("signal", "listen", "chat"):
        result = run(command, session, input="", timeout=10, **settings | {"server": f"http://127.0.0.1:{port}"})
        fails_in_one_line(result, UNREACHABLE)
    # A room is asked for by HTTP.
    fails_in_one_line(run("signal", "lobby", "--server", f"http://127.0.0.1:{port}"), UNREACHABLE)


def test_something_that_is_no_signalbox_is_an_error_and_ends(server, settings):
    """A port on which somebody accepts and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    def hang_up():
        while True:
            try:
                listener.accept()[0].close()
            except OSError:
                return

    threading.Thread(target=hang_up, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    result = run("signal", server.project.session(), timeout=20, **settings | {"server": url})
    listener.close()
    fails_in_one_line(result, UNREACHABLE)


def test_refusals_are_77(server, settings):
    session = server.project.session()
    forged = server.project.token(session, secret="another")
    for command in ("signal", "listen", "chat"):
        fails_in_one_line(run(command, session, "--token", forged, input="", **settings), REFUSED)
    fails_in_one_line(run("signal", session, **settings | {"api_secret": "another"}), REFUSED)
    fails_in_one_line(run("signal", session, "--role", "publisheronly", **settings), REFUSED)


# signal


async def test_signal_prints_its_seq(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        result = await asyncio.to_thread(run, "signal", session, "--type", "greeting", "--data", "hé😀\nllo", "--name", "Cli", **settings)
        assert (result.returncode, result.stdout, result.stderr) == (0, "3\n", "")
        created = await ada.expect("connectionCreated", seq=2)
        assert created["connection"]["data"] == "Cli"
        await ada.expect("signal", seq=3, type="greeting", data="hé😀\nllo")
        await ada.expect("connectionDestroyed", seq=4, reason="clientDisconnected")
        result = await asyncio.to_thread(run, "signal", session, "--data", "psst", "--to", ada.id, **settings)
        assert (result.returncode, result.stdout) == (0, "6\n")
        await ada.expect("connectionCreated")
        await ada.expect("signal", data="psst", to=ada.id)
        result = await asyncio.to_thread(run, "signal", session, "--to", "nobody", **settings)
        fails_in_one_line(result, 1)


# listen


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_listen_prints_json_lines_and_ends_cleanly(server, settings, how):
    session = server.project.session()
    async with await Client.join(server, session, data="Ada") as ada:
        with Command("listen", session, "--name", "Ear", **settings) as listen:

            async def heard():
                line = await asyncio.to_thread(listen.out.next)
                event = json.loads(line)
                assert isinstance(event["event"], str)
                return event

            assert (await heard())["event"] == "connected"
            created = await ada.expect("connectionCreated")
            await ada.signal(type="t", data='line\nbreak "quoted" \u2028 \x1b[31m 😀')
            event = await heard()
            while event["event"] != "signal":
                event = await heard()
            assert event["type"] == "t" and event["data"] == 'line\nbreak "quoted" \u2028 \x1b[31m 😀'
            assert ada.id in json.dumps(event)
            listen.process.send_signal(how)
            await ada.expect("connectionDestroyed", connectionId=created["connection"]["connectionId"], reason="clientDisconnected")
            assert await asyncio.to_thread(listen.wait) == 0


async def test_listen_says_that_it_was_forced_out_and_ends(server, settings):
    session = server.project.session()
    async with await Client.join(server, session, role="moderator") as ada:
        with Command("listen", session, **settings) as listen:
            created = await ada.expect("connectionCreated")
            await ada.request("forceDisconnect", connectionId=created["connection"]["connectionId"])
            last = json.loads(await asyncio.to_thread(listen.out.until, "forceDisconnected"))
            assert isinstance(last["event"], str)
            assert await asyncio.to_thread(listen.wait) >= 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_listen_ended_by_hand_says_goodbye_however_early(server, settings, how):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        for _ in range(8):
            with Command("listen", session, **settings) as listen:
                await asyncio.to_thread(listen.out.until, '"connected"')
                listen.process.send_signal(how)
                await ada.expect("connectionCreated")
                await ada.expect("connectionDestroyed", reason="clientDisconnected")
                assert await asyncio.to_thread(listen.wait) == 0


async def test_signal_says_goodbye_every_time(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(asyncio.to_thread(run, "signal", session, "--type", "a", **settings))
        gone = []
        while len(gone) < 10:
            event = await ada.next()
            if event["ev"] == "connectionDestroyed":
                gone.append(event["reason"])
        assert gone == ["clientDisconnected"] * 10


async def test_listen_killed_is_told_as_a_lost_network(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        with Command("listen", session, **settings):
            await ada.expect("connectionCreated")
        await ada.expect("connectionDestroyed", reason="networkDisconnected")


async def test_listen_ends_when_nobody_reads_it_any_more(server, settings):
    """As in `signalbox listen … | head -1`."""
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        with Command("listen", session, reads_output=False, **settings) as listen:
            await ada.expect("connectionCreated")
            await ada.request("signal", type="a")
            await ada.expect("signal")
            await ada.expect("ack")
            await ada.expect("connectionDestroyed")
            await asyncio.to_thread(listen.wait)


async def test_listen_ends_with_a_failure_when_the_connection_is_lost():
    """0 is for what was asked for: a script has to learn that it no longer hears."""
    with Server(resume_seconds=1, recovery_seconds=0) as server:
        with Command("listen", server.project.session(), **project_settings(server)) as listen:
            await asyncio.to_thread(listen.out.until, "connected")
            server.process.kill()
            assert await asyncio.to_thread(listen.wait) in (1, UNREACHABLE)


# chat


def chat_text(event):
    """What a chat signal says (CHAT-1, CHAT-2)."""
    return event["data"] if event["type"] == "TextChat" else json.loads(event["data"])["text"]


async def messages(client, count):
    """The next chat messages; presence and typing are passed over."""
    got = []
    while len(got) < count:
        event = await client.next()
        if event["ev"] == "signal" and event["from"] != client.id and event.get("type") in ("TextChat", "text-chat"):
            got.append(event)
    return got


async def test_chat_piped_input_is_sent_line_by_line_and_then_it_leaves(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        text = "hello\n\nsecond é😀\n  spaces  \nno newline at the end"
        result = await asyncio.to_thread(run, "chat", session, "--name", "Pipe", input=text, **settings)
        assert result.returncode == 0, result
        got = await messages(ada, 4)
        assert [chat_text(each).strip() for each in got] == ["hello", "second é😀", "spaces", "no newline at the end"]
        await ada.expect("connectionDestroyed", reason="clientDisconnected")


async def test_chat_shows_what_others_say_and_neutralises_escape_sequences(server, settings):
    session = server.project.session()
    async with await Client.join(server, session, data="Ada") as ada:
        with Command("chat", session, "--name", "Terminal", **settings) as chat:
            created = await ada.expect("connectionCreated")
            assert created["connection"]["data"] == "Terminal" or "Terminal" in created["connection"]["data"]

            async def says(text, type="TextChat"):
                data = text if type == "TextChat" else json.dumps({"text": text, "sender": {"id": ada.id, "alias": "A\x1b[2Jda"}, "sentOn": 1})
                await ada.request("signal", type=type, data=data)

            await says("plain")
            line = await asyncio.to_thread(chat.out.until, "plain")
            assert line.endswith(": plain") and "Ada" in line, line
            await says("nasty \x1b[31mred\x1b]0;title\x07 \x9b2J bell\x07 back\x08 del\x7f cr\rover end", "text-chat")
            line = await asyncio.to_thread(chat.out.until, "end")
            await says("two\nlines")
            await says("bidi \u202e end2")
            await asyncio.to_thread(chat.out.until, "end2")
            for seen in chat.out.seen:
                assert not [c for c in seen if ord(c) < 32 and c != "\t" or 127 <= ord(c) < 160], ascii(seen)
            # And the other way.
            chat.process.stdin.write("from the terminal\n")
            (event,) = await messages(ada, 1)
            assert chat_text(event) == "from the terminal"
            chat.process.stdin.close()
            assert await asyncio.to_thread(chat.wait) == 0


async def test_chat_a_line_that_is_too_long_is_told_and_the_next_is_sent(server, settings):
    session = server.project.session()
    async with await Client.join(server, session) as ada:
        result = await asyncio.to_thread(run, "chat", session, input="x" * 20000 + "\nshort\n", **settings)
        (event,) = await messages(ada, 1)
        assert chat_text(event) == "short"
        assert result.stderr.strip(), "nothing said about the long line"
        assert (await ada.signal())[1][-1]["ev"] == "signal"


def test_help_and_version_are_0():
    for arguments in (["--help"], ["--version"], ["serve", "--help"], ["chat", "--help"], ["session", "create", "--help"]):
        result = run(*arguments)
        assert result.returncode == 0 and result.stdout and not result.stderr, result
