"""What development mode keeps for the next server, and the credentials that it leaves for the tools."""

import json
import pathlib
import shutil
import stat
import subprocess

import pytest

from server_process import BINARY, WEB_ROOT, Command, Server, environment, run
from waiting import free_port


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def home(tmp_path):
    """The environment of a user with a state folder of their own."""
    return environment() | {"XDG_STATE_HOME": str(tmp_path / "state")}


class Development(Server):
    """A server in development mode on a given port."""

    def __init__(self, port, *arguments, env):
        super().__init__("--port", port, *arguments, dev=True, env=env)


def folder(home):
    return pathlib.Path(home["XDG_STATE_HOME"]) / "signalbox"


def tool(home, server, *arguments, input=None):
    return run(*arguments, env=home | {"SIGNALBOX_SERVER": server.url}, input=input)


def test_a_restart_on_the_same_port_keeps_the_rooms_and_the_secret(home, port):
    with Development(port, env=home) as server:
        server.out.until(f"rooms are kept for the next server in {folder(home)}/{port}")
        room = server.room("lobby")
        with Command("listen", "lobby", env=home | {"SIGNALBOX_SERVER": server.url}) as listen:
            listen.out.until('"connected"')
            assert tool(home, server, "signal", "lobby", "--data", "before").returncode == 0
            assert server.stop() == 0
            with Development(port, env=home) as server:
                assert server.room("lobby")["sessionId"] == room["sessionId"]
                assert tool(home, server, "signal", "lobby", "--data", "after").returncode == 0
                listen.out.until('"data": ?"after"')
            outcomes = [json.loads(line).get("outcome") for line in listen.out.seen]
            assert [each for each in outcomes if each] == ["resumed"], listen.out.seen


def test_ephemeral_keeps_nothing(home, port):
    rooms = []
    for _ in range(2):
        with Development(port, "--ephemeral", env=home) as server:
            rooms.append(server.room("lobby")["sessionId"])
            assert server.stop() == 0
    assert rooms[0] != rooms[1]
    assert list(folder(home).iterdir()) == []


def test_a_folder_that_cannot_be_used_is_named_and_the_state_is_in_memory(home, port):
    with Development(port, env=home) as server:
        server.stop()
    secret = folder(home) / str(port) / "development.secret"
    secret.chmod(0o644)
    with Development(port, env=home) as server:
        assert str(secret) in server.out.until("kept in memory for this run: cannot use ")
        assert server.room("lobby")
        server.stop()
    secret.chmod(0o600)
    with subprocess.Popen(["flock", "--nonblock", secret.parent, "cat"], stdin=subprocess.PIPE) as holder:
        # `flock` has the lock when `cat` runs.
        while not (pathlib.Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().strip()):
            pass
        with Development(port, env=home) as server:
            server.out.until("kept in memory for this run: the state folder .* is in use by another server")
            server.stop()
        holder.stdin.close()


def test_without_a_home_folder_development_mode_still_runs(port):
    nowhere = {name: value for name, value in environment().items() if name not in ("HOME", "XDG_STATE_HOME")}
    with Development(port, env=nowhere) as server:
        server.out.until("the tools do not find these credentials by themselves: HOME is not set")
        assert server.room("lobby")


def test_only_the_owner_can_read_the_credentials_and_they_go_with_the_server(home, port):
    with Development(port, env=home) as server:
        left = folder(home) / f"{port}.credentials"
        assert stat.S_IMODE(left.stat().st_mode) == 0o600
        assert stat.S_IMODE(left.parent.stat().st_mode) == 0o700
        server.stop()
        assert not left.exists()


def test_every_tool_finds_the_credentials(home, port):
    with Development(0, env=home) as server:
        session = tool(home, server, "session", "create").stdout.strip()
        assert session.startswith("1_")
        token = tool(home, server, "token", session, "--format", "jwt").stdout.strip()
        assert token.startswith("ey")
        assert tool(home, server, "signal", session, "--type", "a").stdout == "2\n"
        assert tool(home, server, "signal", session, "--type", "a", "--token", token).returncode == 0
        assert tool(home, server, "chat", session, input="hello\n").returncode == 0
        credentials = tool(home, server, "credentials").stdout.strip()
        answer = server.request("POST", "/session/create", b"", {"X-OPENTOK-AUTH": credentials})
        assert answer.status == 200, answer


def test_credentials_of_another_server_or_project_are_not_used(home, port):
    with Development(0, env=home) as server, Server() as other:
        for arguments, url in [
            (["session", "create"], other.url), (["session", "create"], "http://192.0.2.1:1"),
            (["session", "create"], server.url.replace("127.0.0.1", "192.0.2.1")),
        ]:  # fmt: skip
            refused = run(*arguments, "--server", url, env=home)
            assert refused.returncode == 64 and "credentials are missing" in refused.stderr, refused
        foreign = other.project.session(key="200")
        refused = tool(home, server, "signal", foreign, "--data", "x")
        assert refused.returncode == 64 and "a session id needs credentials" in refused.stderr, refused


@pytest.mark.parametrize("spoil, reason", [
    (lambda file: file.chmod(0o644), "not a private file"),
    (lambda file: file.write_text("nonsense"), "has no credentials that a server wrote"),
    (lambda file: (file.rename(file.parent / "other"), file.symlink_to(file.parent / "other")), "not a private file"),
], ids=["readable by others", "not JSON", "a link"])  # fmt: skip
def test_a_spoilt_file_of_credentials_is_refused_with_its_path(home, spoil, reason):
    with Development(0, env=home) as server:
        left = folder(home) / f"{server.port}.credentials"
        spoil(left)
        refused = tool(home, server, "session", "create")
        assert refused.returncode == 64 and str(left) in refused.stderr and reason in refused.stderr, refused


def test_a_secret_of_another_server_in_the_terminal_is_named(server):
    refused = run("signal", server.project.session(), "--data", "x", api_key="100", api_secret="another", server=server.url)
    assert refused.returncode == 77 and "Check SIGNALBOX_API_SECRET in this terminal" in refused.stderr, refused


# The page, wherever the server is started


@pytest.fixture
def installed(tmp_path):
    """The program alone in a folder of its own."""
    program = tmp_path / "bin/signalbox"
    program.parent.mkdir()
    shutil.copy2(BINARY, program)
    return program


def serve(program, cwd):
    process = subprocess.Popen(
        [program, "serve", "--port", "0"], cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )
    lines = [process.stdout.readline().strip()]
    while not lines[-1].startswith("export "):
        lines.append(process.stdout.readline().strip())
    return process, lines


def test_a_program_has_the_page_and_the_library_inside(installed):
    """A copied file is enough: the server needs no folder."""
    process, lines = serve(installed, "/")
    try:
        url = lines[0].removeprefix("signalbox is ready at ")
        assert not any("no page" in line for line in lines)
        for path, name in (("", "page.html"), ("opentok.js", "opentok.js"), ("signalbox-chat.js", "signalbox-chat.js")):
            sent = subprocess.run(["curl", "-sSf", url + path], capture_output=True, check=True).stdout
            assert sent == (WEB_ROOT / "dist" / name).read_bytes(), path
    finally:
        process.terminate()
        process.wait()
