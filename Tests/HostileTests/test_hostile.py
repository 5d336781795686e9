"""G5: whatever a client does, the others are served, and the server gives its memory and descriptors back.

No result depends on the speed of the machine. See docs/SECURITY-MODEL.md for the limit behind each attack.
"""

import os
import pathlib
import time

import pytest

from attacks import ATTACKS, KEEPING, SECURE
from processes import Attack, Bystander

from server_process import DEADLINE, Server

# More than one attack holds at a time, and less than an attack without a bound would take.
# ThreadSanitizer keeps a shadow of all memory, several times as large, so scripts/sanitize sets a factor for it.
MEMORY_BOUND = (64 << 20) * int(os.environ.get("SIGNALBOX_MEMORY_FACTOR", 1))
SIGNAL_COUNT = 8
# Pieces of each member, for floods that the server reads long after their end: at 200 lines per second, one piece of
# `lines_of_pongs` takes four seconds more than its burst, and each piece of `long_pongs` counts as 64 lines.
PIECES = {"lines_of_pongs": 1, "long_pongs": 8}


@pytest.fixture(scope="module")
def plain():
    """One server for all attacks, so that the leaks of one are seen in the next."""
    with Server("--session-connections", "500", resume_seconds=1) as server, Bystander(server) as bystander:
        bystander.measure(SIGNAL_COUNT)
        yield server, bystander


@pytest.fixture(scope="module")
def secure():
    with Server(tls=True) as server, Bystander(server) as bystander:
        bystander.measure(SIGNAL_COUNT)
        yield server, bystander


@pytest.fixture(scope="module")
def keeping(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state")
    with Server("--history", "chat", state_dir=folder) as server, Bystander(server) as bystander:
        bystander.measure(SIGNAL_COUNT)
        yield server, bystander


def written(server):
    """The bytes that the server has written to files and sockets."""
    lines = pathlib.Path(f"/proc/{server.pid}/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


def descriptor_count(server):
    return len(os.listdir(pathlib.Path(f"/proc/{server.pid}/fd")))


def returns(measure, bound):
    """Waits until the measure is within the bound."""
    deadline = time.monotonic() + DEADLINE
    while (now := measure()) > bound:
        assert time.monotonic() < deadline, f"{now} is more than {bound}"
        time.sleep(0.05)


@pytest.mark.parametrize("name", ATTACKS)
def test_g_5_under_attack_others_are_served_and_resources_come_back(request, name):
    kind = "secure" if name in SECURE else "keeping" if name in KEEPING else "plain"
    server, bystander = request.getfixturevalue(kind)
    memory, descriptors = server.memory(), descriptor_count(server)
    with Attack(name, server, pieces=PIECES.get(name, 0)) as attack:
        bystander.measure(SIGNAL_COUNT)
        assert sum(attack.end().values()) > 0
    bystander.measure(1)
    # The bystander's last socket may still be closing.
    returns(lambda: descriptor_count(server), descriptors + 2)
    returns(server.memory, memory + MEMORY_BOUND)


@pytest.mark.parametrize("name", sorted(KEEPING))
def test_his_9_g_5_no_erasure_costs_what_its_session_has(keeping, name):
    """A snapshot of the session alone would write a megabyte."""
    server, bystander = keeping
    session = server.project.session()
    with Attack(name, server, session) as attack:
        before = written(server)
        # The attack goes on meanwhile.
        bystander.measure(SIGNAL_COUNT * 10)
        after = written(server)
        count = attack.end()["sent"]
    assert after - before < 100_000 * count + (4 << 20)


def test_res_12_g_5_clients_that_vanish_do_not_lock_their_session():
    """With one token, an attacker fills a session with connections that have lost their sockets."""
    with Server("--session-connections", "50") as server, Bystander(server) as bystander:
        session = server.project.session()
        with Attack("joins", server, session) as attack:
            with Bystander(server, session) as member:
                member.measure(SIGNAL_COUNT)
            bystander.measure(1)
            attack.end()
