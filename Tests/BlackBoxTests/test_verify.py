"""`signalbox verify`: the promises, judged from what real clients saw of real servers."""

import json
import pathlib
import time

from server_process import Command, environment, run


def verify(*options):
    result = run("verify", "--json", *options, timeout=120)
    return result.returncode, json.loads(result.stdout)


def test_g1_g2_g3_nothing_is_lost_doubled_or_out_of_order_over_a_network_that_is_cut():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 6, "--stops", 1)
    assert status == 0 and report["violations"] == [] and report["settled"] is True
    assert report["lost"] == report["duplicated"] == report["reordered"] == report["lossesTold"] == 0
    assert report["resumed"] > 0 and report["acknowledged"] > 200


def test_res_15_a_server_that_is_told_to_end_and_started_anew_loses_nothing():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 2, "--stops", 0, "--restarts", 3)
    assert status == 0 and report["violations"] == [] and report["settled"] is True
    assert report["lost"] == report["duplicated"] == report["reordered"] == report["lossesTold"] == 0
    assert report["recovered"] == 0 and report["resumed"] >= 6, "all of them"


def test_g4_a_killed_server_is_told_as_a_loss():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 2, "--stops", 0, "--kills", 1, "--restarts", 1)
    assert status == 0 and report["violations"] == []
    assert report["lossesTold"] > 0


def test_verify_leaves_no_server_behind_even_when_it_is_killed(tmp_path):
    with Command("verify", "--signals", "1000000", "--stops", "0", env=environment() | {"TMPDIR": str(tmp_path)}) as command:
        children = pathlib.Path(f"/proc/{command.process.pid}/task/{command.process.pid}/children")
        server = wait_for(lambda: [int(each) for task in children.parent.parent.iterdir() for each in (task / "children").read_text().split()])[0]
        wait_for(lambda: b"serve" in pathlib.Path(f"/proc/{server}/cmdline").read_bytes())
        command.process.kill()
        command.wait()
    wait_for(lambda: not is_running(server))


def is_running(pid):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_for(condition, seconds=15):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_g1_numbers_that_make_no_sense_are_refused():
    assert run("verify", "--members", 1).returncode == 64
