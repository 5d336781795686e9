"""Measures what it costs when very many users react to one message within some seconds (CHG-12).

All users are in one session, and each reacts once. It prints how many events each member gets, how long the reactions
wait for their answers, when the last count has come, and what a page of the message takes. It fails if the last count is
wrong, or somebody gets another number of events than the others.

SIGNALBOX_BIN names the server's program. Measure a release build.
"""

import argparse
import asyncio
import json
import re
import time

from crowd import Member, connect_all
from raw_socket import TEXT, frame
from server_process import Server

TOLD = re.compile(rb'"ev":"reactions","seq":(\d+),"ref":\d+,"reactions":\[\{"key":"[^"]*","count":(\d+)\}\]')


class Reactor(Member):
    def __init__(self):
        super().__init__("suppressed")
        self.counts, self.sent_at, self.took = {}, None, None

    def buffer_updated(self, count):
        now = time.perf_counter()
        text = self.tail + bytes(memoryview(self.buffer)[:count])
        super().buffer_updated(count)
        for seq, total in TOLD.findall(text):
            self.counts[int(seq)] = (int(total), now)
        if self.sent_at and self.took is None and b'{"ev":"ack","id":9}' in text:
            self.took = now - self.sent_at

    def react(self, ref):
        self.sent_at = time.perf_counter()
        request = json.dumps({"op": "react", "id": 9, "ref": ref, "keys": ["👍"]})
        self.transport.write(frame(TEXT, request.encode()))


async def measure(arguments):
    with Server("--history", "all", "--changes", "all", "--signal-rate", "0", *arguments.option) as server:
        session = server.project.session()
        members = [Reactor() for _ in range(arguments.clients)]
        tokens = [server.project.jwt_token(session, user=f"u-{number}") for number in range(arguments.clients)]
        await connect_all(server, members, [session] * len(members), tokens, [None] * len(members))
        members[0].send_end(2)
        await asyncio.gather(*(member.signalled for member in members))
        path = server.session_path(session, "/message?limit=1")
        page = server.rest("GET", path)
        ref = page.json()["messages"][0]["seq"]
        began = time.perf_counter()
        for number, member in enumerate(members):
            wait = began + number * arguments.seconds / len(members) - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            member.react(ref)
        last_sent = time.perf_counter()
        async with asyncio.timeout(30):
            while not all(member.counts and member.counts[max(member.counts)][0] == len(members) for member in members):
                await asyncio.sleep(0.05)
        told = max(member.counts[max(member.counts)][1] for member in members)
        numbers = {len(member.counts) for member in members}
        assert len(numbers) == 1 and all(member.took is not None for member in members), numbers
        times = sorted(member.took for member in members)
        size = len(json.dumps(server.rest("GET", path).json()["messages"][0]["reactions"]))
        print(f"reactions: {len(members)} users of one session react in {last_sent - began:.1f} s; events for each member: "
              f"{numbers.pop()}; answered within {times[len(times) // 2] * 1000:.1f} ms (median), "
              f"{times[int(len(times) * 0.99)] * 1000:.1f} ms (99 %), {times[-1] * 1000:.1f} ms (all); the last count came to "
              f"all {told - last_sent:.2f} s after the last reaction; {size} bytes of a page", flush=True)
        for member in members:
            member.transport.abort()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--option", action="append", default=[], help="an option of the server, as --option=--x=1")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
