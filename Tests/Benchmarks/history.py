"""Measures by how much the history delays live signals: pages that clients read, and an erasure.

A server with a state folder keeps what `signalbox-lab bench` sends. Its deliveries are measured alone, then while a client of
another session reads pages of 50 at random places, and alone again. Then one session keeps 10,000 messages, a backend erases
them, and a client of another session measures its acknowledgements meanwhile.

    history.py [--rate 100] [--rooms 50] [--members 4] [--seconds 8] [--messages 100000]

SIGNALBOX_BIN names the server's program. Measure a release build, on a quiet machine.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

import server_process  # noqa: E402
from server_process import Server  # noqa: E402
from signalbox_client import Client  # noqa: E402

DATA = "x" * 128
WINDOW = 200


async def keep(client, count):
    """Has the session keep `count` messages. Returns the last seq."""
    sent = answered = last = 0
    while answered < count:
        while sent < count and sent - answered < WINDOW:
            await client.request("signal", type="bench", data=DATA)
            sent += 1
        event = await client.next()
        if event["ev"] == "ack":
            answered, last = answered + 1, event["seq"]
        assert event["ev"] != "error", event
    return last


async def read_pages(client, last, ended):
    """Reads pages of 50 at random places until `ended` is set. Returns the time of each."""
    times, pick = [], random.Random(1)
    while not ended.is_set():
        began = time.perf_counter()
        await client.request("history", before=pick.randint(60, last), limit=50)
        while (event := await client.next())["ev"] != "history":
            assert event["ev"] != "error", event
        assert len(event["messages"]) == 50
        times.append(time.perf_counter() - began)
        await asyncio.sleep(0.02)
    return times


async def live(server, options):
    """The delivery latencies of `signalbox-lab bench`, in microseconds."""
    bench = await asyncio.create_subprocess_exec(
        server_process.LAB, "bench", server.url, "--json", "--rooms", str(options.rooms),
        "--members", str(options.members), "--rate", str(options.rate), "--seconds", str(options.seconds),
        stdout=subprocess.PIPE,
        env=os.environ | {
            "SIGNALBOX_API_KEY": server.project.key, "SIGNALBOX_API_SECRET": server.project.secret})
    output, _ = await bench.communicate()
    return json.loads(output)


async def round_trips(client, ended):
    """The time until the answer to each signal, one at a time."""
    times = []
    while not ended.is_set():
        began = time.perf_counter()
        await client.request("signal", type="bench", data=DATA)
        while (await client.next())["ev"] != "ack":
            pass
        times.append(time.perf_counter() - began)
        await asyncio.sleep(0.001)
    return times


def shown(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))] * 1_000  # noqa: E731
    return f"p50 {at(0.5):.2f} ms, p99 {at(0.99):.2f} ms, longest {times[-1] * 1_000:.2f} ms ({len(times)})"


def summary(histogram):
    return ", ".join(f"{name} {histogram[name] / 1_000:.2f} ms" for name in ("p50", "p99", "max"))


async def measure_pages(server, options):
    session = server.project.session()
    async with await Client.join(server, session) as reader:
        last = await keep(reader, options.messages)
        for name in ("alone", "beside pages", "alone again"):
            ended, pages = asyncio.Event(), None
            if name == "beside pages":
                pages = asyncio.create_task(read_pages(reader, last, ended))
            report = await live(server, options)
            ended.set()
            print(f"live, {name}: {summary(report['deliveryLatency'])}")
            if pages:
                print(f"pages of 50 of {options.messages} messages: {shown(await pages)}")


async def measure_erasure(server):
    session, other = server.project.session(), server.project.session()
    async with await Client.join(server, session) as writer, await Client.join(server, other) as client:
        last = await keep(writer, 10_000)
        # Of the first request, this process would measure its own work.
        await asyncio.to_thread(server.rest, "DELETE", server.session_path(session, "/message?through=1"))
        for name in ("nothing", "10,000 messages"):
            ended = asyncio.Event()
            trips = asyncio.create_task(round_trips(client, ended))
            await asyncio.sleep(1)
            if name != "nothing":
                path = server.session_path(session, f"/message?through={last}")
                answer = await asyncio.to_thread(server.rest, "DELETE", path)
                assert answer.status == 204, answer
            await asyncio.sleep(3)
            ended.set()
            print(f"acknowledgements while the server erases {name}: {shown(await trips)}")


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, standard in (("rate", 100), ("rooms", 50), ("members", 4), ("seconds", 8), ("messages", 100_000)):
        parser.add_argument(f"--{name}", type=int, default=standard)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        arguments = [
            "--state-dir", folder, "--signal-rate", "0", "--request-rate", "0", "--history-messages", "1000000000",
            "--history-bytes", "1099511627776"]
        with Server(*arguments, history="bench", log_level="error") as server:
            await measure_pages(server, options)
            await measure_erasure(server)


asyncio.run(main())
