"""The pages about TextChat agree with their example programs: the same code, the same output."""

import pathlib
import re
import subprocess

import pytest

from server_process import BINARY, DEADLINE, REPOSITORY

ARTICLE = (REPOSITORY / "Sources/rules/TextChat/TextChat.docc/SmallChat.md").read_text()
SOURCE = (REPOSITORY / "Examples/SmallChat/SmallChat.swift").read_text()
FRONT_PAGE = (REPOSITORY / "Sources/rules/TextChat/TextChat.docc/TextChat.md").read_text()
FIRST_CHAT = (REPOSITORY / "Examples/FirstChat/FirstChat.swift").read_text()
PROGRAM = pathlib.Path(BINARY).with_name("small-chat")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", ARTICLE, re.MULTILINE | re.DOTALL)


def run(*arguments):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("block", [pytest.param(block, id=block.split("\n")[0].strip()) for block in blocks("swift")])
def test_each_code_block_of_the_article_is_in_the_program(block):
    assert "\n" + block in SOURCE


def test_each_block_of_the_article_names_its_language():
    assert set(re.findall(r"^```(\w*)\n.*?^```$", ARTICLE, re.MULTILINE | re.DOTALL)) == {"swift", "text", "sh"}


def test_the_output_in_the_article_is_what_the_program_prints():
    assert run() == "".join(blocks("text"))


def test_the_program_sends_hello_to_a_real_session(server, session):
    printed = run(server.project.key, session, server.project.token(session), server.url).splitlines()
    assert re.fullmatch(r"-- \d{4}-\d\d-\d\d --", printed[0])
    assert printed[1:] == ["> Hello"]


def test_the_front_page_has_the_whole_first_program():
    block, *_ = re.findall(r"^```swift\n(.*?)^```$", FRONT_PAGE, re.MULTILINE | re.DOTALL)
    assert block == re.sub(r"^(//.*\n)+", "", FIRST_CHAT)


def test_the_first_program_sends_to_a_real_session(server, session):
    token = server.project.token(session)
    result = subprocess.run(
        [PROGRAM.with_name("first-chat"), server.project.key, session, token, server.url],
        capture_output=True, text=True, timeout=DEADLINE,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "sent\n"


def test_the_first_program_without_a_session_says_how_it_is_used():
    result = subprocess.run([PROGRAM.with_name("first-chat")], capture_output=True, text=True, timeout=DEADLINE)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "usage: first-chat KEY SESSION TOKEN [SERVER]\n"
