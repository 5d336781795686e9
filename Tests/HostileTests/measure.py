"""Measures by how much each attack delays a bystander:

    measure.py [NAME …]      all attacks by default

For each attack it prints the bystander's median round trip without an attack, under the attack, and while the same
attack hits another server on the same machine. The last one is the cost of sharing the machine, which no server can
avoid. The ratios are under attack to quiet, and under attack to that.

The attacker has an address of its own, 127.0.0.2, with the limits that other than loopback addresses have by default.
"""

import statistics
import sys

from attacks import ATTACKS, SECURE
from processes import Attack, Bystander

from server_process import Server

COUNT, INTERVAL, SECONDS = 300, 0.01, 10
# Members that flood.
WIDTH = 20
ATTACKER = "127.0.0.2"
# The default for addresses that are not loopback ones.
LIMIT = ("--max-connections-per-address", "500")


def median(bystander):
    return statistics.median(bystander.measure(COUNT, INTERVAL, SECONDS)) * 1000


def measure(name):
    options = {"tls": True} if name in SECURE else {}
    with Server(*LIMIT, **options) as server, Server(*LIMIT, **options) as other, Bystander(server) as bystander:
        median(bystander)
        quiet = median(bystander)
        with Attack(name, other, width=WIDTH, source=ATTACKER) as attack:
            beside = median(bystander)
            attack.end()
        memory = server.memory()
        with Attack(name, server, width=WIDTH, source=ATTACKER) as attack:
            under = median(bystander)
            memory = server.memory() - memory
            count = attack.end()
    done = " ".join(f"{what} {number}" for what, number in sorted(count.items()))
    print(
        f"{name:32} {quiet:7.2f} {beside:7.2f} {under:7.2f} {under / quiet:6.1f} {under / beside:6.1f} "
        f"{memory / (1 << 20):7.1f}  {done}",
        flush=True,
    )


if __name__ == "__main__":
    print(f"{'median round trip in ms':32} {'quiet':>7} {'beside':>7} {'under':>7} {'/quiet':>6} {'/beside':>6} {'MiB':>7}  done")
    for name in sys.argv[1:] or ATTACKS:
        measure(name)
