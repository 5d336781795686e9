"""Measures two servers behind nginx beside one, for docs/operations/cores.md and decision 014, and prints a table.

Servers, nginx and the load (`signalbox-lab bench`, whose clients name their session in the URL) run on this machine, with
a release build. The figures are processor time, which other programs disturb less than throughput. The servers of a row
share the work: with twice the processor time per join in sum, two would carry no more than one. The busiest of them
bounds the throughput, so its part is in the table.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "BlackBoxTests"))

from proxies import Proxy  # noqa: E402
from server_process import LAB, TLS, Server, environment  # noqa: E402

CONFIGURATION = HERE.parents[1] / "docs/operations/proxies/nginx-cores.conf"


def processor_seconds(pid):
    """Of all threads, in nanoseconds by the scheduler: the ticks of /proc/PID/stat are 10 ms."""
    return sum(int(each.read_text().split()[0]) for each in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


@contextlib.contextmanager
def layout(count, is_secure):
    """So many servers behind nginx: the proxy and the servers."""
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(
                Server("--signal-rate", "0", "--log-level", "error", "--trusted-proxy", "127.0.0.1",
                       "--max-connections-per-address", "100000", log_level=None))
            for _ in range(count)
        ]  # fmt: skip
        text = CONFIGURATION.read_text()
        for number in range(count + 1, 5):
            text = text.replace(f"        server 127.0.0.1:808{number} max_fails=0;\n", "")
        text = text.replace("listen 443", "listen 127.0.0.1:443").replace("worker_processes auto", "worker_processes 1")
        for name in ("pem", "key.pem"):
            text = text.replace(f"/etc/nginx/signalbox.{name};", f'"{TLS}/server.{name}";')
        if not is_secure:
            text = text.replace("443 ssl", "443")
        ports = {"443": None} | {f"808{number + 1}": str(server.port) for number, server in enumerate(servers)}
        front = stack.enter_context(Proxy("nginx", text, servers[0].project, ports, tls=is_secure or None))
        yield front, servers


def measure(front, servers, **options):
    """The report of the load, the servers' processor seconds, and those of nginx."""
    def seconds():
        workers = sum(processor_seconds(int(pid)) for pid in front.workers())
        return [processor_seconds(server.pid) for server in servers], workers

    before = seconds()
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    words += ["--ca-file", str(TLS / "authority.pem")] if front.tls else []
    project = front.project
    done = subprocess.run(
        [LAB, "bench", front.url, "--json", "--limit", "10000", *words], capture_output=True, text=True,
        env=environment(api_key=project.key, api_secret=project.secret),
    )  # fmt: skip
    if not done.stdout:
        sys.exit(f"cores: {done.stderr}")
    report, after = json.loads(done.stdout), seconds()
    if report["failed"] or report["unanswered"] or report["reconnects"]:
        print(f"not carried: {report['reasons']}", file=sys.stderr)
    return report, [end - start for start, end in zip(before[0], after[0])], after[1] - before[1]


def row(count, is_secure, rooms):
    """Microseconds of all servers, of the busiest one and of nginx: per join, and per delivery in rooms of 4. Two
    servers get twice the load: a server that has less to do merges fewer events into a write, and needs more for each.
    """
    rooms *= count
    with layout(count, is_secure) as (front, servers):
        report, joining, proxy_joining = measure(front, servers, rooms=rooms, members=4, rate=0, seconds=1, warm_up=0)
    with layout(count, is_secure) as (front, servers):
        busy, all_of_it, proxy = measure(front, servers, rooms=rooms, members=4, rate=4, seconds=8, warm_up=0)
    each = [(work - join) / busy["deliveries"] for work, join in zip(all_of_it, joining)]
    joins = report["joins"]
    figures = [sum(joining) / joins, max(joining) / joins, proxy_joining / joins,
               sum(each), max(each), (proxy - proxy_joining) / busy["deliveries"]]  # fmt: skip
    return [1e6 * figure for figure in figures]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rooms", type=int, default=250, help="of four members, for each server")
    chosen = parser.parse_args()
    kinds = [(count, is_secure) for is_secure in (False, True) for count in (1, 2)]
    rows = {kind: [] for kind in kinds}
    for _ in range(chosen.repeats):
        for kind in kinds:
            rows[kind].append(row(*kind, chosen.rooms))
    print("| µs of processor time | join: servers | busiest | nginx | delivery: servers | busiest | nginx |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    medians = {kind: [statistics.median(each) for each in zip(*found)] for kind, found in rows.items()}
    for (count, is_secure), values in medians.items():
        name = f"{'one server' if count == 1 else 'two servers'}, nginx {'with' if is_secure else 'without'} TLS"
        print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + " |")
    for is_secure in (False, True):
        one, two = medians[1, is_secure], medians[2, is_secure]
        print(f"{'with' if is_secure else 'without'} TLS, the busiest of two carries per second of its processor "
              f"{one[1] / two[1]:.2f} × the joins and {one[4] / two[4]:.2f} × the deliveries of one")  # fmt: skip
    print(f"load average {', '.join(f'{each:.1f}' for each in os.getloadavg())}, {os.cpu_count()} processors")


main()
