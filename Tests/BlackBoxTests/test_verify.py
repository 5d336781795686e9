"""`signalbox verify`: the promises, checked against the events that real clients received from real servers."""

import json
import os
import pathlib
import time

from server_process import DEADLINE, Command, environment, run


def verify(*options):
    result = run("verify", "--json", *options, timeout=200)
    return result.returncode, json.loads(result.stdout)


def test_g_1_g_2_g_3_nothing_is_lost_duplicated_or_reordered_over_a_failing_network():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 6, "--stops", 1)
    assert status == 0 and report["violations"] == [] and report["settled"] is True
    assert report["lost"] == report["duplicated"] == report["reordered"] == report["lossesTold"] == 0
    assert report["resumed"] > 0 and report["acknowledged"] > 200


def test_res_15_a_server_that_is_stopped_and_restarted_loses_nothing():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 2, "--stops", 0, "--restarts", 3)
    assert status == 0 and report["violations"] == [] and report["settled"] is True
    assert report["lost"] == report["duplicated"] == report["reordered"] == report["lossesTold"] == 0
    assert report["recovered"] == 0 and report["resumed"] >= 6, "every client resumes"


def test_g_4_clients_of_a_killed_server_are_told_of_the_loss():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 2, "--stops", 0, "--kills", 1, "--restarts", 1)
    assert status == 0 and report["violations"] == []
    assert report["lossesTold"] > 0


def test_verify_leaves_no_server_behind_even_when_it_is_killed(tmp_path):
    with Command(
        "verify", "--signals", "1000000", "--stops", "0", env=environment() | {"TMPDIR": str(tmp_path)}
    ) as command:
        children = pathlib.Path(f"/proc/{command.process.pid}/task/{command.process.pid}/children")
        server = wait_until(
            lambda: [
                int(each) for task in children.parent.parent.iterdir() for each in (
                    task / "children"
                ).read_text().split()
            ]
        )[0]
        wait_until(lambda: b"serve" in pathlib.Path(f"/proc/{server}/cmdline").read_bytes())
        command.process.kill()
        command.wait()
    wait_until(lambda: not is_running(server))


def is_running(pid):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=DEADLINE):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "the condition is still false"
        time.sleep(0.02)
    return found


def test_verify_refuses_fewer_than_two_members():
    refused = run("verify", "--members", 1)
    assert refused.returncode == os.EX_USAGE and "members" in refused.stderr, refused
