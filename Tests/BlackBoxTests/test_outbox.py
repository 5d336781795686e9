"""The outbox of the Swift chat, in a program that is killed: each message arrives once, and in order.

`OUTBOX_KILLS=1000` kills so often; `OUTBOX_SEED` repeats a run's moments as far as the machine's pace allows.
"""

import os
import pathlib
import random
import re
import subprocess

import pytest

from server_process import BINARY, DEADLINE, Server

PROGRAM = pathlib.Path(BINARY).with_name("signalbox-tools")
KILLS = int(os.environ.get("OUTBOX_KILLS", "20"))
SEED = int(os.environ.get("OUTBOX_SEED", random.randrange(1_000_000)))


class Writer:
    """One run of the program."""

    def __init__(self, server, session, file, first, count):
        arguments = [file, server.project.key, session, server.project.token(session), server.url, first, count]
        self.process = subprocess.Popen(
            [PROGRAM, "outbox-writer", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def end(self, after):
        """Lets the program run for some seconds, kills it if it has not ended by then, and returns its output."""
        try:
            output, _ = self.process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, _ = self.process.communicate()
        assert "not sent" not in output, output
        return output


def messages(server, session):
    """The texts of the whole history, oldest first."""
    texts, after = [], 0
    while True:
        page = server.rest("GET", server.session_path(session, f"/message?after={after}&limit=200")).json()
        texts += [re.search(r"message (\d+)", message["data"])[1] for message in page["messages"]]
        if not page["more"]:
            return [int(text) for text in texts]
        after = page["messages"][-1]["seq"]


@pytest.mark.skipif(not PROGRAM.exists(), reason="signalbox-tools is not built")
def test_each_message_of_a_killed_program_arrives_once_and_in_order(tmp_path):
    moments = random.Random(SEED)
    file = tmp_path / "outbox"
    # The windows are longer than the test: only the claim of the former connection can end it.
    with Server(history="text-chat", resume_seconds=86400, recovery_seconds=86400) as server:
        session = server.project.session()
        written, runs, kills = [], 0, 0
        # The time of a whole run, so that the kills hit every part of it.
        whole = 0.5
        while kills < KILLS:
            runs += 1
            output = Writer(server, session, file, runs * 10, 6).end(moments.uniform(0.005, whole))
            written += [int(found) for found in re.findall(r"^written (\d+)$", output, re.MULTILINE)]
            if output.endswith("sent\n"):
                whole = max(whole * 0.8, 0.05)
            else:
                kills += 1
                whole = min(whole * 1.1, 2)
        output = Writer(server, session, file, 0, 0).end(DEADLINE)
        assert output == "sent\n", (SEED, output)
        arrived = messages(server, session)
        assert sorted(set(written) - set(arrived)) == [], f"lost, seed {SEED}"
        assert len(arrived) == len(set(arrived)), f"doubled, seed {SEED}"
        assert arrived == sorted(arrived), f"out of order, seed {SEED}"
        assert len(written) >= KILLS
