"""Measures by how much each attack delays a bystander:

    measure.py [NAME …]      all attacks by default

For each attack it prints the bystander's median round trip without an attack; while the same attack hits a listener
that does nothing (`idle`) and another server (`beside`) on the same machine; and under the attack. The two in the
middle are the cost of sharing the machine, which no server can avoid.

The bound is three times as long, or 2 ms longer. `over` says which values the median under attack exceeds by more than
that. An attack over the bound of `quiet` is measured again, up to three times.

The attacker has an address of its own, 127.0.0.2, with the limits that other than loopback addresses have by default.
"""

import statistics
import sys

from attacks import ATTACKS, SECURE
from processes import Attack, Bystander, IdleListener

from server_process import Server

COUNT, INTERVAL, SECONDS = 300, 0.01, 10
# Members that flood.
WIDTH = 20
ATTACKER = "127.0.0.2"
# How long an attack on the listener that does nothing may take to get under way, in seconds.
PATIENCE = 3
# The default for addresses that are not loopback ones.
LIMIT = ("--max-connections-per-address", "500")


def median(bystander):
    return statistics.median(bystander.measure(COUNT, INTERVAL, SECONDS)) * 1000


def measure(name):
    options = {"tls": True} if name in SECURE else {}
    with Server(*LIMIT, **options) as server, Server(*LIMIT, **options) as other, Bystander(server) as bystander:
        median(bystander)
        quiet = median(bystander)
        with IdleListener(server.project) as listener:
            with Attack(name, listener, width=WIDTH, source=ATTACKER, patience=PATIENCE) as attack:
                idle = median(bystander)
                attack.end()
        with Attack(name, other, width=WIDTH, source=ATTACKER) as attack:
            beside = median(bystander)
            attack.end()
        memory = server.memory()
        with Attack(name, server, width=WIDTH, source=ATTACKER) as attack:
            under = median(bystander)
            memory = server.memory() - memory
            count = attack.end()
    done = " ".join(f"{what} {number}" for what, number in sorted(count.items()))
    medians = {"quiet": quiet, "idle": idle, "beside": beside}
    over = [which for which, time in medians.items() if under > max(3 * time, time + 2)]
    print(
        f"{name:28} {quiet:6.2f} {idle:6.2f} {beside:6.2f} {under:6.2f} {under / quiet:6.1f} {under / idle:6.1f} "
        f"{memory / (1 << 20):6.1f}  {','.join(over) or '-':18}  {done}",
        flush=True,
    )
    return "quiet" not in over


if __name__ == "__main__":
    print(
        f"{'median round trip in ms':28} {'quiet':>6} {'idle':>6} {'beside':>6} {'under':>6} {'/quiet':>6} {'/idle':>6} "
        f"{'MiB':>6}  {'over':18}  done"
    )
    for name in sys.argv[1:] or ATTACKS:
        any(measure(name) for _ in range(3))
