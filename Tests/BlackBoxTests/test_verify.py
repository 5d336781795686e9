"""`signalbox verify`: the promises, judged from what real clients saw of real servers."""

import json

from server_process import run


def verify(*options):
    result = run("verify", "--json", *options, timeout=120)
    return result.returncode, json.loads(result.stdout)


def test_g1_g2_g3_nothing_is_lost_doubled_or_out_of_order_over_a_network_that_is_cut():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 6, "--stops", 1)
    assert status == 0 and report["violations"] == [] and report["settled"] is True
    assert report["lost"] == report["duplicated"] == report["reordered"] == report["lossesTold"] == 0
    assert report["resumed"] > 0 and report["acknowledged"] > 200


def test_g4_a_killed_or_restarted_server_is_told_as_a_loss():
    status, report = verify("--signals", 300, "--sessions", 2, "--cuts", 2, "--stops", 0, "--kills", 1, "--restarts", 1)
    assert status == 0 and report["violations"] == []
    assert report["lossesTold"] > 0


def test_g1_numbers_that_make_no_sense_are_refused():
    assert run("verify", "--members", 1).returncode == 64
