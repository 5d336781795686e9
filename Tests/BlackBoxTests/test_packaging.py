"""The files under packaging/, without making a package: the units, the settings, the container and the completions.

Tests/PackageTests makes the package, installs it and runs it.
"""

import contextlib
import http.server
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import threading

import pytest
import yaml

from server_process import BINARY, DEADLINE, REPOSITORY, environment, run

PACKAGING = REPOSITORY / "packaging"
UNIT = PACKAGING / "systemd/signalbox.service"
SOCKET = PACKAGING / "systemd/signalbox.socket"
DOCKERFILE = PACKAGING / "container/Dockerfile"
PAGE = REPOSITORY / "docs/operations/install.md"
# In the image debian:12-slim.
BASE = {"libc6", "libgcc-s1", "libstdc++6"}


def assignments(unit):
    """The values of each name in a unit, in order."""
    values = {}
    for line in unit.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            values.setdefault(name, []).append(value)
    return values


def tool(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, **options)


# MARK: systemd


def test_systemd_finds_no_fault_in_the_units(tmp_path):
    # The path of the checkout may have a blank, at which a unit's command ends.
    program = tmp_path / "signalbox"
    program.symlink_to(pathlib.Path(BINARY).resolve())
    text = UNIT.read_text()
    assert "ExecStart=/usr/bin/signalbox serve" in text
    (tmp_path / UNIT.name).write_text(text.replace("/usr/bin/signalbox", str(program)))
    shutil.copy(SOCKET, tmp_path)
    result = tool("systemd-analyze", "verify", "--man=no", tmp_path / UNIT.name, tmp_path / SOCKET.name)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_systemd_rates_the_sandbox_as_safe():
    result = tool("systemd-analyze", "security", "--offline=true", "--no-pager", UNIT)
    exposure = re.search(r"Overall exposure level for signalbox.service: ([\d.]+)", result.stdout)[1]
    assert float(exposure) <= 2.0
    assert f"rates it at {exposure}" in PAGE.read_text()


def test_the_sandbox_shows_the_boot_id():
    # After a crash, the server continues the sessions only if it knows that the machine went on.
    assert "ProcSubset" not in assignments(UNIT)


def test_systemd_waits_longer_than_the_longest_drain():
    table = (REPOSITORY / "docs/CONFIGURATION.md").read_text()
    longest = int(re.search(r"\| `drainSeconds` \| \d+ \| 0 to (\d+) \|", table)[1])
    # Beside the drain: three seconds for webhooks, two for the loop, and the disk.
    assert int(assignments(UNIT)["TimeoutStopSec"][0]) >= longest + 15
    for service in ("one", "two"):
        assert int(compose()["services"][service]["stop_grace_period"].removesuffix("s")) >= longest + 15


def test_systemd_does_not_repeat_a_start_with_a_wrong_setting():
    refused = set(assignments(UNIT)["RestartPreventExitStatus"][0].split())
    documented = dict(re.findall(r"^\| (\d+) \| (.*) \|$", (REPOSITORY / "docs/CONFIGURATION.md").read_text(), re.M))
    assert refused == {"64", "73", "78"} <= set(documented)


def test_the_socket_has_the_address_of_the_packaged_settings():
    settings = json.loads((PACKAGING / "signalbox.json").read_text())
    assert assignments(SOCKET)["ListenStream"] == [f"{settings['host']}:{settings['port']}"]


# MARK: the package


def test_the_packaged_settings_are_valid_with_a_secret_of_systemd(tmp_path):
    settings = json.loads((PACKAGING / "signalbox.json").read_text())
    assert settings["stateDir"] == "/var/lib/" + assignments(UNIT)["StateDirectory"][0]
    file = tmp_path / "signalbox.json"
    file.write_text(json.dumps(settings | {"stateDir": str(tmp_path / "state")}))
    [credential] = assignments(UNIT)["LoadCredential"]
    name, path = credential.split(":")
    assert f"SIGNALBOX_API_SECRET_FILE={path} signalbox config check" in settings["// check"]
    (tmp_path / name).write_text("a secret\n")
    result = run("config", "check", file, env=environment() | {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert (result.returncode, result.stdout, result.stderr) == (0, "the configuration is valid\n", "")
    result = run("config", "check", file)
    assert result.returncode == 78, "without the credential"


def test_every_link_of_a_packaged_page_leads_to_a_file_of_the_package(tmp_path):
    assert tool(REPOSITORY / "scripts/parts/stage-documents", tmp_path).returncode == 0
    pages = sorted(tmp_path.rglob("*.md"))
    assert {"CHANGELOG.md", "SECURITY.md", "CONFIGURATION.md", "install.md"} <= {page.name for page in pages}
    missing = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", page.read_text()):
            path = (page.parent / target).resolve()
            if not path.exists() or not path.is_relative_to(tmp_path.resolve()):
                missing.append(f"{page.relative_to(tmp_path)}: {target}")
    assert missing == []
    # debhelper renames a file of this name, unless it is told not to.
    assert "dh_installchangelogs -XCHANGELOG.md" in (PACKAGING / "debian/rules").read_text()


def test_his_1_servers_set_up_as_documented_keep_the_messages_of_chats():
    kept = [
        json.loads((PACKAGING / "signalbox.json").read_text())["history"],
        json.loads(run("config", "init").stdout)["history"],
        *[compose()["services"][name]["environment"]["SIGNALBOX_HISTORY"] for name in ("one", "two")],
    ]
    assert kept == ["text-chat,TextChat"] * 4


def test_chg_4_servers_set_up_as_documented_let_authors_edit_and_delete():
    permitted = [
        json.loads((PACKAGING / "signalbox.json").read_text())["changes"],
        json.loads(run("config", "init").stdout)["changes"],
        *[compose()["services"][name]["environment"]["SIGNALBOX_CHANGES"] for name in ("one", "two")],
    ]
    assert permitted == ["edit,erase,react"] * 4


def test_the_scripts_take_the_version_from_the_program():
    version = run("--version").stdout.strip()
    line = re.search(r"^version=\$\((.*)\)$", (REPOSITORY / "scripts/builds/package").read_text(), re.M)[1]
    assert tool("bash", "-c", line, cwd=REPOSITORY).stdout.strip() == version
    assert script("make-sbom").version() == version
    for path in PACKAGING.rglob("*"):
        assert not path.is_file() or version not in path.read_text(), f"{path} repeats the version"


def test_the_scripts_of_the_package_are_scripts():
    for name in ("signalbox.postinst", "signalbox.prerm", "signalbox.postrm"):
        text = (PACKAGING / "debian" / name).read_text()
        assert "\n#DEBHELPER#\n" in text and "\nset -e\n" in text
        assert tool("sh", "-n", PACKAGING / "debian" / name).returncode == 0


def test_a_package_without_a_maintainer_is_refused(tmp_path):
    nobody = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null",
              "GIT_DIR": str(tmp_path), "DEBFULLNAME": "Ada Builder"}  # fmt: skip
    result = tool(REPOSITORY / "scripts/build", "package", env=nobody)
    assert result.returncode == 64 and "Set DEBFULLNAME and DEBEMAIL" in result.stderr, result


def test_the_package_needs_the_plug_in_that_the_program_loads_by_itself():
    control = (PACKAGING / "debian/control").read_text()
    depends = re.search(r"^Depends: (.*)$", control, re.M)[1].split(", ")
    assert {*script("make-sbom").PLUG_INS.values(), "${shlibs:Depends}", "adduser"} <= set(depends)


@pytest.mark.parametrize(
    "shell, check",
    [
        ("bash", ["bash", "-euc", "source {file}; complete -p signalbox"]),
        ("zsh", ["zsh", "-n", "{file}"]),
        ("fish", ["fish", "--no-execute", "{file}"]),
    ],
)
def test_a_shell_reads_its_completions(shell, check, tmp_path):
    file = tmp_path / shell
    file.write_text(run("--generate-completion-script", shell).stdout)
    assert "config" in file.read_text() and "admin" in file.read_text()
    result = tool(*[each.format(file=file) for each in check])
    assert (result.returncode, result.stderr) == (0, "")


def test_bash_completes_a_command(tmp_path):
    (tmp_path / "completions").write_text(run("--generate-completion-script", "bash").stdout)
    script = """
        PATH=$1:$PATH; source "$2"
        COMP_WORDS=(signalbox conf) COMP_CWORD=1 COMP_LINE='signalbox conf' COMP_POINT=14
        _signalbox signalbox conf signalbox; echo "${COMPREPLY[@]}"
    """
    result = tool("bash", "-c", script, "-", pathlib.Path(BINARY).resolve().parent, tmp_path / "completions")
    assert result.stdout.split() == ["config"], result


# MARK: containers


def script(name):
    """A script of scripts/parts, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(REPOSITORY / "scripts/parts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def is_script(command):
    """Whether a command runs a script of the repository. scripts/build has one for each thing to build."""
    program, *arguments = shlex.split(command)
    paths = [program, f"scripts/builds/{arguments[0]}"] if program == "scripts/build" else [program]
    return all((REPOSITORY / path).is_file() and os.access(REPOSITORY / path, os.X_OK) for path in paths)


def instructions():
    """The instructions of the Dockerfile: name and arguments."""
    text = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.M))
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line]


def stages():
    found = []
    for name, arguments in instructions():
        if name == "FROM":
            found.append([])
        found[-1].append((name, arguments))
    return found


def compose():
    return yaml.safe_load((PACKAGING / "container/compose.yaml").read_text())


def test_the_dockerfile_copies_what_exists_and_runs_what_exists():
    build, _ = stages()
    for name, arguments in build:
        if name == "COPY":
            *sources, _ = arguments.split()
            assert all((REPOSITORY / source).exists() for source in sources), arguments
        if name == "RUN":
            for command in arguments.split(" && "):
                assert is_script(command), command
    # Nothing that the build needs is left out of the context.
    ignored = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text().splitlines()
    kept = tool("git", "ls-files", cwd=REPOSITORY).stdout.split()
    assert not [name for name in kept if name.split("/")[0] in ignored]


def test_the_image_is_that_of_a_user_without_a_shell_with_a_health_check():
    _, image = stages()
    last = {name: arguments for name, arguments in image}
    assert last["FROM"] == "scratch" and last["USER"] == "900:900"
    assert json.loads(last["ENTRYPOINT"]) == ["/usr/bin/signalbox"] and json.loads(last["CMD"]) == ["serve"]
    assert json.loads(last["HEALTHCHECK"].split("CMD ")[1]) == ["/usr/bin/signalbox", "health"]
    assert "RUN" not in last


def test_the_containers_have_settings_that_exist():
    for name in ("one", "two"):
        variables = compose()["services"][name]["environment"]
        secret = variables.pop("SIGNALBOX_API_SECRET_FILE")
        assert pathlib.PurePath(secret).name in compose()["services"][name]["secrets"]
        result = run(
            "config", "print", "--changed", "--json",
            env=environment() | variables | {"SIGNALBOX_API_SECRET": "a secret", "SIGNALBOX_HOST": "0.0.0.0"})
        assert result.returncode == 0 and not result.stderr, result
        for variable in variables:
            assert variable in result.stdout
    assert {"one", "two", "redis"} == set(compose()["services"])


def test_the_containers_have_the_ports_of_the_load_balancer():
    ports = [compose()["services"][name]["ports"][0].rsplit(":", 1)[0] for name in ("one", "two")]
    for address in ports:
        assert f" {address}\n" in (REPOSITORY / "docs/scaling/haproxy.cfg").read_text()


def test_redis_accepts_its_options(tmp_path):
    service = compose()["services"]["redis"]
    path = tmp_path / "socket"
    options = ["--port", "0", "--unixsocket", str(path), "--dir", str(tmp_path)]
    with subprocess.Popen([*service["command"], *options], stdout=subprocess.PIPE, text=True) as redis:
        try:
            for line in redis.stdout:
                if "ready to accept connections" in line.lower() or "The server is now ready" in line:
                    break
            ping = service["healthcheck"]["test"][1:]
            assert tool(ping[0], "-s", path, *ping[1:]).stdout == "PONG\n"
            stored = tool("redis-cli", "-s", path, "config", "get", "appendonly").stdout
            assert stored.split() == ["appendonly", "yes"]
        finally:
            redis.kill()


# MARK: signalbox health


def test_health_is_silent_about_a_healthy_server(server):
    for arguments in ([], ["--live"]):
        result = run("health", "--server", server.url, *arguments)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@contextlib.contextmanager
def sick_server(status, body):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/readyz" else 200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    "status, body, reason",
    [(503, b'{"status":"full"}', "full"), (404, b"<html>", "no Signalbox answers there")],
)
def test_health_names_what_is_wrong(status, body, reason):
    with sick_server(status, body) as url:
        result = run("health", server=url)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"signalbox: {url}/readyz is not healthy: {reason}\n"
        assert run("health", "--live", server=url).returncode == 0


def test_health_of_a_server_that_is_not_there():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        result = run("health", "--server", f"http://127.0.0.1:{bound.getsockname()[1]}")
    assert result.returncode == 69 and result.stderr.startswith("signalbox: cannot reach http://127.0.0.1:")


# MARK: the page


def test_the_commands_of_the_page_exist():
    """Those in the `sh` blocks are run by Tests/PackageTests. The others need Docker or a Swift build."""
    text = PAGE.read_text()
    for command in re.findall(r"(?:^    |`)(scripts/[^\n`]+)", text, re.M):
        assert is_script(command), command
    for path in re.findall(r"packaging/[\w./-]+", text):
        assert (REPOSITORY / path).exists() or path.endswith("api-secret"), path
    named = set(re.findall(r"signalbox ((?:admin|config|session)? ?[a-z]+)", text))
    for words in ("health", "config check", "session create", "admin stats", "admin sessions", "link", "signal"):
        assert run(*words.split(), "--help").returncode == 0
        assert any(each.startswith(words) or each == words for each in named), words
