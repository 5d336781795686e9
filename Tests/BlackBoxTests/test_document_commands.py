"""The shell blocks of the documents work as pasted, with the output that the text promises. README.md has its own test.

The server is in development mode, on a port that the test writes into the blocks in place of 8080. `swift run` starts
the example that is already built, and `pidof` finds the test's server only.
"""

import os
import pathlib
import re
import subprocess

import pytest

from server_process import BINARY, DEADLINE, REPOSITORY, Command, environment

TEXT_CHAT = "Sources/rules/TextChat/TextChat.docc"

FOLDERS = ("docs", "docs/decisions", "docs/operations", "web-test-client", TEXT_CHAT, "Tests")

# Document, number of the block, input, and the pattern that the whole output matches.
RUN = [
    (f"{TEXT_CHAT}/TextChat.md", 0, "", r"sent\n"),
    (f"{TEXT_CHAT}/SmallChat.md", 1, "", r"(-- the beginning --\n)?-- \d{4}-\d\d-\d\d --\n> Hello\n"),
    ("docs/opentok-swift.md", 0, "hello\n", r"(?s)\* connected\n.*\* disconnected\n"),
    ("docs/CONFIGURATION.md", 0, "", ""),
]
FOLDERS = ("docs", "docs/decisions", "docs/operations", "web-test-client", TEXT_CHAT, "Tests")
# Run by another test.
ELSEWHERE = {
    (f"{TEXT_CHAT}/SmallChat.md", 0): "test_small_chat.py",
    ("docs/operations/administration.md", 0): "test_administration_begins_with_the_command_of_the_document",
    ("docs/operations/metrics.md", 0): "test_administration_begins_with_the_command_of_the_document",
    ("web-test-client/README.md", 0): "test_web_package.py",
    ("docs/SCALING.md", 0): "test_scaling_the_commands_of_the_page",
    **{("docs/backend.md", number): "test_backends.py" for number in (0, 2, 3, 4)},
    ("docs/backend.md", 1): "test_webhooks_begin_with_the_command_of_the_document",
    ("docs/backend.md", 5): "test_webhooks_begin_with_the_command_of_the_document",
    ("docs/operations/administration.md", 0): "test_administration_begins_with_the_command_of_the_document",
    ("docs/operations/metrics.md", 0): "test_administration_begins_with_the_command_of_the_document",
}
# Pages whose blocks test_operations_pages.py and test_bench.py run on machines of their own.
OPERATIONS = [f"docs/operations/{name}.md" for name in ("upgrade", "backup", "incidents", "proxies", "capacity")]
# The page from the package to live figures: Tests/PackageTests/test_install.py runs its blocks one after the other.
INSTALL = "docs/operations/install.md"


def blocks(document):
    return re.findall(r"^```sh\n(.*?)^```$", (REPOSITORY / document).read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def shell(tmp_path, dev_server):
    built = pathlib.Path(BINARY).resolve().parent
    scripts = {
        "swift": f'[ "$1" = run ] || exit 64\nshift\nprogram=$1\nshift\nexec "{built}/$program" "$@" {{server}}',
        "signalbox": f'exec "{built}/signalbox" "$@"',
        "signalbox-lab": f'exec "{built}/signalbox-lab" "$@"',
        "pidof": f'[ "$1" = signalbox ] && echo {dev_server.pid}',
    }
    for name, text in scripts.items():
        # The sample of OpenTok's names reads the server from the environment.
        server = '$([ "$program" = opentok-text-chat ] || echo "$SIGNALBOX_SERVER")'
        (tmp_path / name).write_text("#!/usr/bin/env bash\n" + text.replace("{server}", server) + "\n")
        (tmp_path / name).chmod(0o755)

    def shell(commands, input):
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands.replace("http://127.0.0.1:8080", dev_server.url)],
            input=input, capture_output=True, text=True, timeout=DEADLINE,
            env=environment(server=dev_server.url) | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        )  # fmt: skip

    return shell


@pytest.mark.parametrize("document, number, input, output", RUN, ids=lambda each: str(each)[:40])
def test_a_block_of_a_document_works_as_pasted(shell, document, number, input, output):
    result = shell(blocks(document)[number], input)
    assert result.returncode == 0, result
    assert re.fullmatch(output, result.stdout), result


def test_the_reload_of_the_document_is_logged(shell, dev_server):
    assert shell(blocks("docs/CONFIGURATION.md")[0], "").returncode == 0
    dev_server.err.until("reloaded the settings")


@pytest.mark.parametrize("number", [1, 5], ids=["push", "session monitoring"])
def test_webhooks_begin_with_the_command_of_the_document(number):
    words = blocks("docs/backend.md")[number].split()
    assert words[0] == "signalbox"
    with Command(*words[1:], "--port", "0") as server:
        server.out.until("is ready")


@pytest.mark.parametrize("document", ["administration.md", "metrics.md"])
def test_administration_begins_with_the_command_of_the_document(document):
    *words, port = blocks(f"docs/operations/{document}")[0].splitlines()[0].split()
    assert words == ["signalbox", "serve", "--admin-port"] and port.isdigit()
    with Command(*words[1:], "0", "--port", "0", "--ephemeral") as server:
        server.out.until("administration is at")


def test_every_block_of_every_document_is_known():
    documents = [
        str(path.relative_to(REPOSITORY)) for folder in FOLDERS
        for path in sorted((REPOSITORY / folder).glob("*.md"))
    ]  # fmt: skip
    found = {(document, number) for document in documents for number in range(len(blocks(document)))}
    operating = {(document, number) for document in OPERATIONS for number in range(len(blocks(document)))}
    installing = {(INSTALL, number) for number in range(len(blocks(INSTALL)))}
    assert found == {each[:2] for each in RUN} | set(ELSEWHERE) | operating | installing
