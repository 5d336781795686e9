"""Measures Signalbox beside other servers on this machine, and prints one table: docs/PERFORMANCE.md.

Each repeat goes through all scenarios, and in each scenario through all servers, so that other load on the machine
affects all alike. The server runs on CPU 0, the load generator on CPU 1. The table has medians; its last lines tell the
conditions and the spread. Latencies count from the time at which a message was due, so a server that stalls is charged
for every message that it kept waiting.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "BlackBoxTests"))

from cluster import Redis  # noqa: E402
from server_process import Server  # noqa: E402
from waiting import accepts, free_port, wait_for  # noqa: E402

TIME = "--warmup 0.4"
DIALECTS = HERE / "dialects"
# The number of rooms, the load, and the figure to compare.
SCENARIOS = {
    "rooms 500 × 4, paced": (500, f"rooms --rooms 500 --members 4 --rate 4 {TIME}", "delivery"),
    "rooms 500 × 4, saturated": (500, f"rooms --rooms 500 --members 4 {TIME}", "delivery"),
    "fan-out 10, paced": (1, f"rooms --members 11 --senders 1 --rate 2000 {TIME}", "delivery"),
    "fan-out 100, paced": (1, f"rooms --members 101 --senders 1 --rate 200 {TIME}", "delivery"),
    "fan-out 1000, paced": (1, f"rooms --members 1001 --senders 1 --rate 20 {TIME}", "delivery"),
    "fan-out 5000, paced": (1, f"rooms --members 5001 --senders 1 --rate 2 {TIME}", "delivery"),
    "fan-out 10000, paced": (1, f"rooms --members 10001 --senders 1 --rate 2 {TIME}", "delivery"),
    "fan-out 100, 400 a second": (1, f"rooms --members 101 --senders 1 --rate 400 {TIME}", "delivery"),
    "fan-out 2, 1000 a second": (1, f"rooms --members 3 --senders 1 --rate 1000 {TIME}", "delivery"),
    "fan-out 10, saturated": (1, f"rooms --members 11 --senders 1 --window 64 {TIME}", "delivery"),
    "fan-out 100, saturated": (1, f"rooms --members 101 --senders 1 --window 32 {TIME}", "delivery"),
    "fan-out 1000, saturated": (1, f"rooms --members 1001 --senders 1 --window 16 {TIME}", "delivery"),
    "round trip": (1, "round-trips --count 1500 --gap-us 300", "round trip"),
    "connect and join": (1000, "connects --connections 3000", "connect"),
    "rooms 500 × 1, saturated": (500, f"rooms --rooms 500 --window 4 {TIME}", "delivery"),
    "idle, each alone": (5000, "idle --connections 5000", "idle"),
}
# Measured only if a --scenario is their whole name.
LARGE = {"fan-out 5000, paced", "fan-out 10000, paced"}


class Signalbox:
    """`nodes` servers with one project."""

    dialect = "signalbox"

    def __init__(self, *arguments, nodes=1):
        self.arguments, self.node_count = arguments, nodes

    def start(self, stack, rooms):
        arguments = ["--signal-rate", "0", "--request-rate", "0", "--log-level", "error"]
        if "durable" in self.arguments:
            arguments += ["--state-dir", stack.enter_context(tempfile.TemporaryDirectory())]
        if self.node_count > 1:
            arguments += ["--redis", stack.enter_context(Redis()).url]
        servers = [stack.enter_context(Server(*arguments, log_level=None)) for _ in range(self.node_count)]
        project = servers[0].project
        lines = []
        for _ in range(rooms):
            session = project.session()
            lines.append(f"key={project.key} session={session} token={project.token(session)}\n")
        variables = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()), "rooms")
        variables.write_text("".join(lines))
        return [server.port for server in servers], [server.pid for server in servers], ["--room-vars", variables]


class Program:
    """Another server, which takes its port from the command."""

    def __init__(self, dialect, needs, command):
        self.dialect, self.needs, self.command = dialect, needs, command

    def start(self, stack, rooms):
        port, folder = free_port(), stack.enter_context(tempfile.TemporaryDirectory())
        process = subprocess.Popen(
            self.command(port, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(lambda: (process.terminate(), process.wait()))
        wait_for(lambda: accepts(port), "the server")
        return [port], [process.pid, *children(process.pid)], []


class Nats:
    """A cluster of two nats-servers. It orders, numbers and keeps nothing, and answers no publisher."""

    dialect = "nats"
    needs = "/usr/sbin/nats-server"

    def start(self, stack, _):
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports, routes, monitors = ([free_port() for _ in range(2)] for _ in range(3))
        pids = []
        for index, (port, route, monitor) in enumerate(zip(ports, routes, monitors)):
            path = folder / f"{index}.conf"
            path.write_text(
                f'''listen: "127.0.0.1:{free_port()}", http: "127.0.0.1:{monitor}", server_name: "n{index}"
                websocket {{ listen: "127.0.0.1:{port}", no_tls: true }}
                cluster {{ name: "bench", listen: "127.0.0.1:{route}", routes: ["nats://127.0.0.1:{routes[0]}"] }}''')
            process = subprocess.Popen([self.needs, "-c", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(lambda process=process: (process.terminate(), process.wait()))
            pids.append(process.pid)
        for monitor in monitors:
            wait_for(lambda: accepts(monitor), "nats-server")
            wait_for(lambda: route_count(monitor) == 1, "the route between the servers")
        return ports, pids, []


def route_count(monitor):
    with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/routez") as answer:
        return json.load(answer)["num_routes"]


def children(pid):
    return [int(child) for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()]


def nchan(port, folder):
    configuration = (DIALECTS / "nchan.conf").read_text().replace("@PORT@", str(port)).replace("@DIR@", folder)
    path = pathlib.Path(folder, "nchan.conf")
    path.write_text(configuration)
    return ["nginx", "-p", folder, "-c", str(path)]


SERVERS = {
    "Signalbox": Signalbox(),
    "Signalbox, durable": Signalbox("durable"),
    "Signalbox, 2 nodes": Signalbox(nodes=2),
    "nats, 2 servers": Nats(),
    "nchan": Program("nchan", "/usr/lib/nginx/modules/ngx_nchan_module.so", nchan),
    "plain C": Program("ws-room", None, lambda port, _: [os.environ["PLAIN_ROOM"], str(port)]),
    "Node ws": Program("ws-room", "/usr/share/nodejs/ws", lambda port, _: ["node", DIALECTS / "ws-room.js", str(port)]),
}
DEBIAN = {"nats, 2 servers": "nats-server", "nchan": "nginx libnginx-mod-nchan", "Node ws": "nodejs node-ws"}


def thread_times(pids):
    """The CPU time of each thread, in ticks."""
    times = {}
    for pid in pids:
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                times[path.parent.name] = int(fields[11]) + int(fields[12])
    return times


def measure(server, scenario, generator, seconds):
    rooms, load, kind = SCENARIOS[scenario]
    if TIME in load:
        load += f" --duration {seconds}"
    with contextlib.ExitStack() as stack:
        os.sched_setaffinity(0, {0})
        try:
            ports, pids, options = server.start(stack, rooms)
        finally:
            os.sched_setaffinity(0, range(os.cpu_count()))
        command = [
            "taskset", "-c", str(min(1, os.cpu_count() - 1)), generator, *load.split(),
            "--dialect", DIALECTS / f"{server.dialect}.dialect", "--port", ",".join(map(str, ports)),
            "--pid", ",".join(map(str, pids)), *options]
        before = thread_times(pids)
        run = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=90)
        if run.returncode:
            sys.exit(f"peers: {scenario}: {run.stderr.strip()}")
        result = json.loads(run.stdout)
        if kind == "delivery":
            ticks = [time - before.get(thread, 0) for thread, time in thread_times(pids).items()]
            result["busiest_thread_share"] = max(ticks) / max(1, sum(ticks))
        if result.get("lost") or result.get("gaps") or result.get("dup"):
            print(f"    lost {result['lost']}, gaps {result['gaps']}, repeated {result['dup']}", file=sys.stderr)
        return result


def figures(results, kind):
    """The text for a cell, and the samples of its main figure."""

    def median(key, digits=1):
        values = [result[key] for result in results]
        return f"{statistics.median(values):.{digits}f}"

    if kind == "delivery":
        main = [result["srv_cpu_us_per_deliv"] for result in results]
        rate = statistics.median(result["deliv_per_s"] for result in results) / 1000
        text = (f"{median('srv_cpu_us_per_deliv', 2)} ({median('srv_user_us_per_deliv', 2)} + "
                f"{median('srv_sys_us_per_deliv', 2)}), {rate:.0f}k/s, "
                f"{median('lat_p50_us', 0)} / {median('lat_p99_us', 0)}")
    elif kind == "round trip":
        main = [result["srv_cpu_us_per_rtt"] for result in results]
        text = f"{median('srv_cpu_us_per_rtt')}, {median('rtt_p50_us', 0)} / {median('rtt_p99_us', 0)}"
    elif kind == "connect":
        main = [result["srv_cpu_us_per_connect"] for result in results]
        text = f"{median('srv_cpu_us_per_connect')}, {median('connects_per_s', 0)}/s, p99 {median('join_p99_us', 0)}"
    else:
        main = [result["rss_bytes_per_conn"] for result in results]
        text = f"{median('rss_bytes_per_conn', 0)} bytes, {median('connect_cpu_us')} a connect"
    return text, main


def floor(program):
    """The cost of one bare send() of a frame of this size."""
    run = subprocess.run([program, "send", "--bytes", "222"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["us_per_send"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each load (default: %(default)s)")
    parser.add_argument("--scenario", action="append", help="part of a name; by default all but the largest")
    parser.add_argument("--server", action="append", choices=list(SERVERS), help="all by default")
    parser.add_argument("--json", type=pathlib.Path, help="write every result to this file, one a line")
    arguments = parser.parse_args()
    servers = [name for name in SERVERS if not arguments.server or name in arguments.server]
    for name in list(servers):
        needs = getattr(SERVERS[name], "needs", None)
        if needs and not os.path.exists(needs) or "2 nodes" in name and not shutil.which("redis-server"):
            print(f"without {name}: apt-get install {DEBIAN.get(name, 'redis-server')}", file=sys.stderr)
            servers.remove(name)
    wanted = arguments.scenario or [""]
    scenarios = [name for name in SCENARIOS
                 if (name in wanted if name in LARGE else any(part in name for part in wanted))]
    results = {}
    floors = []
    began, loads = time.strftime("%Y-%m-%d %H:%M"), []
    for repeat in range(arguments.repeats):
        floors.append(floor(os.environ["LOADGEN"]))
        for scenario in scenarios:
            order = servers if repeat % 2 == 0 else servers[::-1]
            for name in order:
                print(f"{repeat + 1}/{arguments.repeats} {scenario}: {name}", file=sys.stderr)
                loads.append(os.getloadavg()[0])
                result = measure(SERVERS[name], scenario, os.environ["LOADGEN"], arguments.seconds)
                results.setdefault((scenario, name), []).append(result)
                if arguments.json:
                    with arguments.json.open("a") as file:
                        file.write(json.dumps(result | {"scenario": scenario, "server": name}) + "\n")
    print("Deliveries: server CPU µs per delivery (user + kernel), deliveries a second, latency p50 / p99 µs.")
    print("Round trip: CPU µs, p50 / p99 µs. Connect: CPU µs, connects a second, p99 µs. Idle: resident bytes, CPU µs.\n")
    print("| scenario | " + " | ".join(servers) + " |")
    print("| --- |" + " --- |" * len(servers))
    spreads = []
    for scenario in scenarios:
        cells = []
        for name in servers:
            text, samples = figures(results[scenario, name], SCENARIOS[scenario][2])
            cells.append(text)
            if statistics.median(samples):
                spreads.append((max(samples) - min(samples)) / statistics.median(samples))
        print(f"| {scenario} | " + " | ".join(cells) + " |")
    shares = [f"{scenario}, {name}: {statistics.median(busiest):.0%}"
              for (scenario, name), samples in results.items()
              if (busiest := [sample["busiest_thread_share"] for sample in samples if "busiest_thread_share" in sample])
              and len(getattr(SERVERS[name], "arguments", ())) > 0]
    if shares:
        print("\nShare of the loop's thread in the CPU time: " + "; ".join(shares) + ".")
    spreads.sort()
    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "?")
    print(f"\nOne bare send() of a frame of this size: {statistics.median(floors):.1f} µs.")
    print(f"{began}; {os.cpu_count()} × {processor}, kernel {os.uname().release}; other load: load average "
          f"{min(loads):.1f} to {max(loads):.1f}; payload 128 bytes, loopback, no TLS; {arguments.repeats} repeats, "
          f"interleaved.")
    print(f"Spread (largest less smallest by the median): median {statistics.median(spreads):.0%}, "
          f"worst tenth from {spreads[len(spreads) * 9 // 10]:.0%}. Smaller differences mean nothing.")


main()
