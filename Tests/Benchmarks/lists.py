"""Measures what a request for a list, or for the metrics, costs the clients of other projects.

One project has many sessions with a client each. Two of its clients measure round trips: alone, and while requests come
in as fast as they are answered, over 16 connections of another process. `quiet` is the median without requests.

    lists.py [--sessions 5000] [--seconds 3]

SIGNALBOX_BIN names the server's program. Measure a release build.
"""

import argparse
import asyncio
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from credentials import Project  # noqa: E402
from crowd import Member, connect_all, memory  # noqa: E402
from server_process import Server  # noqa: E402
from signalbox_client import Client  # noqa: E402

CONNECTIONS = 16


async def flood(port, request):
    """Sends a request as soon as the last one is answered, until the standard input ends."""
    count = 0

    async def repeat():
        nonlocal count
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while True:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            assert b" 200 " in head[:16] or b" 429 " in head[:16], head + body[:200]
            count += b" 200 " in head[:16]

    tasks = [asyncio.create_task(repeat()) for _ in range(CONNECTIONS)]
    print("ready", flush=True)
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    print(count, flush=True)


async def round_trips(sender, receiver, seconds):
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        answer, _ = await sender.signal(type="lists")
        while (await receiver.next()).get("seq") != answer["seq"]:
            pass
        times.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.005)
    return times


async def measure(name, port, path, headers, clients, arguments, quiet):
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    request = "\r\n".join([*lines, "", ""])
    process = subprocess.Popen(
        [sys.executable, __file__, "flood", str(port), request], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    times = await round_trips(*clients, arguments.seconds)
    took = time.monotonic() - began
    count, _ = process.communicate("")
    assert process.returncode == 0
    median, tail = statistics.median(times), statistics.quantiles(times, n=100)[98]
    print(f"{name:34} {median:8.2f} {tail:8.2f} {max(times):8.2f} {median / quiet:8.1f} {int(count) / took:10.0f}",
          flush=True)


async def main(arguments):
    crowd, other = (Project(key, f"the secret of project {key}, long enough") for key in ("100", "200"))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "settings.json"
        file.write_text(json.dumps({
            "projects": [{"apiKey": each.key, "secrets": [each.secret]} for each in (crowd, other)],
            "signalRate": 0, "publicMetrics": True, "maxConnectionsPerProject": 20000, "adminPort": 0,
        }))
        with Server("--config", file, project=crowd) as server:
            admin = int(server.out.until("administration is at").rpartition(":")[2].strip(" /\n"))
            sessions = [crowd.session() for _ in range(arguments.sessions)]
            members = [Member() for _ in sessions]
            await connect_all(
                server, members, sessions, [crowd.token(each) for each in sessions], [None] * len(members))
            session = crowd.session()
            clients = [await Client.join(server, session, data=each) for each in ("sender", "receiver")]
            await round_trips(*clients, 1)
            quiet = statistics.median(await round_trips(*clients, arguments.seconds))
            print(f"{arguments.sessions} sessions, resident {memory(server) / 1e6:.0f} MB, quiet {quiet:.2f} ms")
            print(f"{'requests for':34} {'median':>8} {'99 %':>8} {'longest':>8} {'/quiet':>8} {'answered/s':>10}")
            listed, own = other.headers(), crowd.headers()
            for name, port, path, headers in [
                ("/livez, to compare with", server.port, "/livez", {}),
                ("sessions, of another project", server.port, "/admin/v1/sessions", listed),
                ("connections, of another project", server.port, "/admin/v1/connections", listed),
                ("sessions, of the same project", server.port, "/admin/v1/sessions?limit=1000", own),
                ("connections, of the same project", server.port, "/admin/v1/connections?limit=1000", own),
                ("/metrics of the main port", server.port, "/metrics", {}),
                ("/metrics of the admin listener", admin, "/metrics", {}),
                ("/stats of the admin listener", admin, "/admin/v1/stats", {}),
            ]:
                await measure(name, port, path, headers, clients, arguments, quiet)
            for member in members:
                member.transport.abort()


if __name__ == "__main__":
    if sys.argv[1:2] == ["flood"]:
        asyncio.run(flood(int(sys.argv[2]), sys.argv[3].encode()))
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--sessions", type=int, default=5000)
        parser.add_argument("--seconds", type=float, default=3)
        asyncio.run(main(parser.parse_args()))
