"""`signalbox-lab verify`: the promises, checked against the events that real clients received from real servers."""

import json
import os
import pathlib
import signal
import socket

import pytest
from server_process import BINARY, DEADLINE, LAB, Command, environment, run
from waiting import wait_for


def verify(*options):
    result = run("verify", "--json", "--bare", *options, timeout=200, program=LAB)
    return result.returncode, json.loads(result.stdout)


# Becomes the server, which ends as soon as nobody reads its output.
STRICT = """#!/usr/bin/env python3
import os, select, signal, sys
server = os.pidfd_open(os.getpid())
if os.fork() == 0:
    reader = select.poll()
    reader.register(1, 0)
    reader.poll()
    signal.pidfd_send_signal(server, signal.SIGKILL)
    os._exit(0)
os.execv("{binary}", ["{binary}", *sys.argv[1:]])
"""


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_g_1_g_2_g_3_res_15_log_7_nothing_is_lost_over_a_failing_network_kills_and_an_upgrade(tmp_path):
    """Each client resumes, verify reads the output of its servers to the end, and its report is one page that loads
    nothing."""
    started, page = tmp_path / "started", tmp_path / "report.html"
    strict = program(tmp_path / "strict", STRICT.format(binary=BINARY))
    newer = program(tmp_path / "newer", f'#!/bin/sh\necho $$ >>"{started}"\nexec "{BINARY}" "$@"\n')
    status, report = verify(
        "--signals", 300, "--sessions", 2, "--cuts", 6, "--stops", 1, "--kills", 2, "--restarts", 2, "--guests", 2,
        "--server", strict, "--upgrade", newer, "--report", page)
    assert status == 0 and report["violations"] == [] and report["settled"] is True, report
    assert report["lost"] == report["duplicated"] == report["reordered"] == report["lossesTold"] == 0
    assert report["resumed"] >= 6 and report["acknowledged"] > 200
    assert len(started.read_text().split()) >= 2, "each restart, and not the first start"
    text = page.read_text()
    assert text.count("<svg") >= 2 and "http" not in text and "<script" not in text
    assert text.endswith("</html>\n")


def test_g_4_clients_of_a_killed_server_without_a_state_folder_are_told_of_the_loss():
    status, report = verify(
        "--in-memory", "--signals", 300, "--sessions", 2, "--cuts", 2, "--stops", 0, "--kills", 2
    )
    assert status == 0 and report["violations"] == []
    assert report["lossesTold"] > 0


def test_his_3_4_6_and_9_mod_3_8_and_9_pages_and_restrictions_hold_through_kills_and_sleep():
    """H1, H2, H3, M1, C1, C2, C3: readers get every kept message, in both directions, as its author has edited it, also
    from a session that slept, that was restored from a backup, or that continues an older copy. Muted and banned users try to get around it on every way;
    one session sleeps because of a ban alone."""
    status, report = verify(
        "--signals", 1000, "--sessions", 1, "--kills", 2, "--cuts", 4, "--readers", 2, "--erasures", 3, "--bans", 8,
        "--sleeps", 1, "--archives", 1, "--restores", 1, "--changes", 8)
    assert status == 0, report
    assert report["violations"] == []
    assert report["messagesRead"] > 100
    assert report["erasuresTold"] > 0
    assert report["edits"] > 0 and report["editsTold"] > 0 and report["changeLists"] > 0
    assert report["actionsTold"] > 0 and report["restricted"] > 0
    assert report["banDelays"]["all"]["count"] > 0


def test_h_1_his_5_9_log_35_nodes_have_every_message_that_another_one_has_acknowledged_also_when_redis_forgets():
    status, report = verify("--nodes", 3, "--signals", 100, "--sessions", 1, "--archives", 1, "--changes", 8)
    assert status == 0, report
    assert report["violations"] == []
    assert report["messagesRead"] > 1000 and report["erasuresTold"] > 0 and report["edits"] > 0


def test_feed_1_feed_4_feed_5_hang_and_die_as_they_may_the_consumers_of_a_feed_get_everything_in_order_over_kills():
    """F1, F2: one reads, and one gets posts. Both are in trouble for a third of the time."""
    status, report = verify(
        "--feed", "--signals", 1500, "--sessions", 2, "--kills", 3, "--restarts", 1, "--leaves", 4, "--guests", 4,
        "--erasures", 4, "--changes", 8, "--bans", 4, "--consumer-downtime", 30)
    assert status == 0, report
    assert report["violations"] == []
    for consumer in report["feed"].values():
        assert consumer["events"] > 200 and consumer["troubles"] > 0 and consumer["downtimeMilliseconds"] > 0
        assert consumer["newBeginnings"] == 0, "the feed outlives its servers"
    assert report["feed"]["push"]["doubles"] > 0, "what has no answer comes again"


def test_verify_leaves_no_server_behind_even_when_it_is_killed(tmp_path):
    with Command(
        "verify", "--bare", "--signals", "1000000", program=LAB, env=environment() | {"TMPDIR": str(tmp_path)}
    ) as command:
        children = pathlib.Path(f"/proc/{command.process.pid}/task/{command.process.pid}/children")
        server = wait_for(
            lambda: [
                int(each) for task in children.parent.parent.iterdir() for each in (
                    task / "children"
                ).read_text().split()
            ],
            "the server",
        )[0]
        wait_for(lambda: b"serve" in pathlib.Path(f"/proc/{server}/cmdline").read_bytes(), "its program")
        command.process.kill()
        command.wait()
    wait_for(lambda: not is_running(server), "the end of the server")


def is_running(pid):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_the_program_of_the_server_says_where_its_commands_have_gone():
    for words in (["verify", "--bare"], ["bench", "http://127.0.0.1:8080"]):
        moved = run(*words)
        assert moved.returncode == os.EX_USAGE and f"signalbox-lab {words[0]}" in moved.stderr, moved


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--members", 1], "members"),
        (["--bare", "--upgrade", BINARY], "--upgrade"),
        (["--nodes", 3, "--restores", 1], "--restores"),
        (["--feed", "--in-memory"], "--in-memory"),
        (["--consumer-downtime", 10], "--feed"),
    ],
)
def test_verify_refuses_a_plan_that_cannot_run(options, words):
    refused = run("verify", *options, program=LAB)
    assert refused.returncode == os.EX_USAGE and words in refused.stderr, refused
    assert refused.stderr.count("\n") == 1, refused


@pytest.mark.parametrize("path", ["/dev/full", "/no/such/folder/report.html"])
def test_verify_checks_the_file_of_its_report_before_the_run(path):
    refused = run("verify", "--report", path, program=LAB)
    assert refused.returncode == os.EX_CANTCREAT and path in refused.stderr, refused
    assert refused.stderr.count("\n") == 1, refused


def test_verify_says_why_a_server_cannot_be_started(tmp_path):
    missing = run("verify", "--server", tmp_path / "none", program=LAB)
    assert missing.returncode == os.EX_UNAVAILABLE and "none" in missing.stderr, missing
    missing = run("verify", "--upgrade", tmp_path / "none", program=LAB)
    assert missing.returncode == os.EX_UNAVAILABLE and "none" in missing.stderr, missing
    other = run("verify", "--server", "/bin/true", program=LAB)
    assert other.returncode == os.EX_UNAVAILABLE and other.stderr.count("\n") == 1, other
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run("verify", "--port", taken.getsockname()[1], program=LAB)
    assert refused.returncode == os.EX_UNAVAILABLE and refused.stderr.count("\n") == 1, refused


def test_verify_that_is_interrupted_leaves_no_server_and_no_folder(tmp_path):
    with Command(
        "verify", "--bare", "--signals", "1000000", program=LAB, env=environment() | {"TMPDIR": str(tmp_path)}
    ) as command:
        wait_for(lambda: list(tmp_path.glob("signalbox-verify-*/state")), "the folder")
        servers = wait_for(lambda: children_of(command.process.pid), "the server")
        command.process.send_signal(signal.SIGINT)
        assert command.process.wait(DEADLINE) == 128 + signal.SIGINT
    assert not any(is_running(server) for server in servers)
    assert list(tmp_path.iterdir()) == []


def test_verify_that_is_interrupted_ends_a_server_that_does_not_get_ready(tmp_path):
    program = tmp_path / "silent"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    folder = tmp_path / "state"
    folder.mkdir()
    with Command("verify", "--server", program, program=LAB, env=environment() | {"TMPDIR": str(folder)}) as command:
        servers = wait_for(lambda: children_of(command.process.pid), "the server")
        wait_for(lambda: b"sleep" in pathlib.Path(f"/proc/{servers[0]}/cmdline").read_bytes(), "its program")
        command.process.send_signal(signal.SIGINT)
        assert command.process.wait(DEADLINE) == 128 + signal.SIGINT
    assert not any(is_running(server) for server in servers)
    assert list(folder.iterdir()) == []


def children_of(pid):
    return [
        int(each) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
        for each in (task / "children").read_text().split()
    ]
