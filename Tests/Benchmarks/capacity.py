"""Measures what one server carries, for docs/operations/capacity.md, and prints a table.

The server and the load run on this machine, both with the program of SIGNALBOX_BIN, a release build. The figures are processor time of the server, which
other programs disturb less than latencies, and its resident memory.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request

TLS = pathlib.Path(__file__).resolve().parents[1] / "Vectors/tls"
KEYS = {"SIGNALBOX_API_KEY": "100", "SIGNALBOX_API_SECRET": "a secret of the measurement"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")} | KEYS


class Choices:
    """What the command line says."""

    server = None
    share = 100
    repeats = 3
    seconds = 6


@contextlib.contextmanager
def server(program, *options):
    """A new server: its URL and that of its metrics."""
    with tempfile.TemporaryDirectory() as folder:
        options = [each.replace("FOLDER", folder) for each in options]
        process = subprocess.Popen(
            [Choices.server or program, "serve", "--port", "0", "--admin-port", "0", "--signal-rate", "0", "--log-level", "error", *options],
            stdout=subprocess.PIPE, text=True, env=ENVIRONMENT,
        )  # fmt: skip
        try:
            urls = []
            while len(urls) < 2:
                urls += re.findall(r"https?://[0-9.]+:[0-9]+", process.stdout.readline())
            yield next(each for each in urls if is_admin(each) is False), next(each for each in urls if is_admin(each))
        finally:
            process.terminate()
            process.wait()


def is_admin(url):
    if url.startswith("https"):
        return False
    with contextlib.suppress(OSError):
        return urllib.request.urlopen(url + "/metrics", timeout=10).status == 200
    return False


def bench(program, url, admin, **options):
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    ca_file = ["--ca-file", str(TLS / "authority.pem")] if url.startswith("https") else []
    done = subprocess.run(
        [f"{program}-lab", "bench", url, "--json", "--limit", "10000", "--admin-url", admin, *ca_file, *words],
        capture_output=True, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    if not done.stdout:
        sys.exit(f"capacity: {done.stderr}")
    report = json.loads(done.stdout)
    if report["verdict"] != "carried":
        print(f"not carried: {report['reasons']}", file=sys.stderr)
    return report


def medians(program, options, load, figures):
    """The median of each figure over some servers."""
    found = []
    for _ in range(Choices.repeats):
        with server(program, *options) as (url, admin):
            found.append([figure(bench(program, url, admin, **load), admin) for figure in figures])
    return [statistics.median(each) for each in zip(*found)]


def per_delivery(report, _):
    return report["server"]["cpuNanosecondsPerDelivery"] / 1000


def per_join(report, _):
    return report["server"]["cpuNanosecondsPerJoin"] / 1000


def p99(report, _):
    return report["deliveryLatency"]["p99"] / 1000


def deliveries(program, name, options, **load):
    shrinks = "rooms" if load["rooms"] > 1 else "rate"
    load[shrinks] = max(1, load[shrinks] * Choices.share // 100)
    cpu, latency = medians(program, options, load | {"seconds": Choices.seconds, "warm_up": 2}, [per_delivery, p99])
    rate = load["rooms"] * load["members"] * load["rate"]
    name = f"{load['rooms']} rooms of {load['members']}{name}"
    print(f"{name}: {cpu:.1f} µs per delivery, {cpu * load['members']:.0f} µs per signal, at {rate} deliveries a second; "
          f"99 % within {latency:.1f} ms", flush=True)  # fmt: skip


def connections(program, name, options, rooms, members):
    def each(report, _):
        return report["server"]["bytesPerConnection"]

    load = {"rooms": rooms, "members": members, "rate": 0, "seconds": 1, "warm_up": 0}
    size, join = medians(program, options, load, [each, per_join])
    print(f"{name}: {size:.0f} bytes per connection, {join:.0f} µs per join, {1e6 / join:.0f} joins per core and second",
          flush=True)  # fmt: skip


def events(program, name, size):
    """Memory of kept events: the growth while members send. Each room keeps all of its events."""
    rooms, rate, seconds = 100, 50, Choices.seconds
    load = {"rooms": rooms, "members": 2, "bytes": size, "rate": rate, "seconds": seconds, "warm_up": 0}

    def growth(report, _):
        return report["server"]["residentBytes"] - report["server"]["residentBytesAfterJoins"]

    (grown,) = medians(program, [], load, [growth])
    print(f"{name}: {grown / (rooms * rate * seconds):.0f} bytes per kept event", flush=True)


SECURE = ["--tls-cert", str(TLS / "server.pem"), "--tls-key", str(TLS / "server.key.pem")]
MEASUREMENTS = {
    "pairs": lambda p: deliveries(p, "", [], rooms=500, members=2, rate=4),
    "tens": lambda p: deliveries(p, "", [], rooms=100, members=10, rate=5),
    "hundreds": lambda p: deliveries(p, "", [], rooms=10, members=100, rate=10),
    "thousand": lambda p: deliveries(p, "", [], rooms=1, members=1000, rate=10),
    "busy": lambda p: deliveries(p, ", busier", [], rooms=10, members=100, rate=40),
    "tls": lambda p: deliveries(p, ", TLS", SECURE, rooms=100, members=10, rate=5),
    "state": lambda p: deliveries(
        p, ", state folder", ["--state-dir", "FOLDER/state"], rooms=100, members=10, rate=5),
    "connections": lambda p: connections(p, "1,000 rooms of 5", [], 1000, 5),
    "alone": lambda p: connections(p, "2,000 rooms of 1", [], 2000, 1),
    "together": lambda p: connections(p, "20 rooms of 100", [], 20, 100),
    "secure": lambda p: connections(p, "400 rooms of 5, TLS", SECURE, 400, 5),
    "events": lambda p: [events(p, f"data of {size} bytes", size) for size in (32, 128, 1024)],
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", help="another program for the server")
    parser.add_argument("--share", type=int, default=100, help="percent of the load, for a machine that is busy")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=6, help="of each load (default: %(default)s)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS) + "; by default all")
    parser.parse_args(namespace=Choices)
    print(f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f}, kernel {os.uname().release}")
    for name in Choices.names or MEASUREMENTS:
        MEASUREMENTS[name](os.environ["SIGNALBOX_BIN"])


if __name__ == "__main__":
    main()
