"""The article about a small chat: its code is the program's, its output is what the program prints."""

import pathlib
import re
import subprocess

import pytest

from server_process import BINARY, REPOSITORY

ARTICLE = (REPOSITORY / "Sources/TextChat/TextChat.docc/SmallChat.md").read_text()
SOURCE = (REPOSITORY / "Examples/SmallChat/SmallChat.swift").read_text()
PROGRAM = pathlib.Path(BINARY).with_name("small-chat")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", ARTICLE, re.MULTILINE | re.DOTALL)


def run(*arguments):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=20)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("block", [pytest.param(block, id=block.split("\n")[0].strip()) for block in blocks("swift")])
def test_code_of_the_article_is_in_the_program_line_by_line(block):
    assert "\n" + block in SOURCE


def test_every_block_of_the_article_says_what_it_is():
    assert set(re.findall(r"^```(\w*)\n.*?^```$", ARTICLE, re.MULTILINE | re.DOTALL)) == {"swift", "text", "sh"}


def test_output_of_the_article_is_what_the_program_prints():
    assert run() == "".join(blocks("text"))


def test_the_program_says_hello_in_a_real_session(server, session):
    printed = run(server.project.key, session, server.project.token(session), server.url).splitlines()
    assert re.fullmatch(r"-- \d{4}-\d\d-\d\d --", printed[0])
    assert printed[1:] == ["> Hello"]
