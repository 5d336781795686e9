"""Posts webhooks to a receiver on loopback for a while, and watches the server's memory:

    webhooks.py [--seconds 600] [--rate 25]

Clients join and leave at a steady rate, and each brings four events. The memory may grow during the first third, while
the allocator and the pools fill. Afterwards it may grow by one megabyte at most. Each event must arrive once.

SIGNALBOX_BIN names the server's program.
"""

import argparse
import asyncio
import pathlib
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from server_process import DEADLINE, Server  # noqa: E402
from signalbox_client import Client  # noqa: E402

MOST_GROWTH = 1 << 20
LENGTH = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)
IDENTITY = re.compile(rb"webhook-id: *[^\r]*-([0-9]+)\r", re.IGNORECASE)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Receiver:
    def __init__(self):
        self.posts, self.connections = [], 0

    async def handle(self, reader, writer):
        self.connections += 1
        while head := await self._head(reader):
            await reader.readexactly(int(LENGTH.search(head)[1]))
            self.posts.append(int(IDENTITY.search(head)[1]))
            writer.write(ANSWER)
        writer.close()

    @staticmethod
    async def _head(reader):
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            return b""


async def visit(server):
    client = await Client.join(server, server.project.session())
    await client.leave()


async def soak(seconds, rate):
    receiver = Receiver()
    listener = await asyncio.start_server(receiver.handle, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/hooks"
    with Server(webhook_url=url, log_level="warning") as server:
        begin, visits, samples = time.monotonic(), 0, []
        while (now := time.monotonic() - begin) < seconds:
            await visit(server)
            visits += 1
            samples.append((now, server.memory()))
            if visits % (rate * 30) == 0:
                print(f"{now:5.0f} s {4 * visits:7} events {samples[-1][1] / 1e6:7.2f} MB", flush=True)
            await asyncio.sleep(max(0, begin + visits / rate - time.monotonic()))
        deadline = time.monotonic() + DEADLINE
        while len(receiver.posts) < 4 * visits and time.monotonic() < deadline:
            await asyncio.sleep(0.05)

        def level(start, end):
            """The memory in one part of the time."""
            return statistics.median(size for at, size in samples if start <= at / seconds < end)

        growth = level(0.95, 1) - level(0.3, 0.35)
        print(
            f"{len(receiver.posts)} posts of {4 * visits} events on {receiver.connections} connections, "
            f"{server.processor_seconds():.0f} s of the processor; the memory grew by {growth / 1000:.0f} kB, "
            f"{growth / (0.65 * 4 * visits):.1f} bytes for each event"
        )
        listener.close()
        return sorted(receiver.posts) == [*range(1, 4 * visits + 1)] and growth <= MOST_GROWTH


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--rate", type=int, default=25, help="visits per second")
    options = parser.parse_args()
    return 0 if asyncio.run(soak(options.seconds, options.rate)) else 1


sys.exit(main())
