"""Measures what it costs when very many users react to one message within some seconds (CHG-12).

All users are in one session, and each reacts once. It prints how many events each member gets, how long the reactions
wait for their answers, when the last count has come, and what a page of the message takes. It fails if the last count is
wrong, or somebody gets another number of events than the others.

SIGNALBOX_BIN names the server's program. Measure a release build.
"""

import argparse
import asyncio
import json
import multiprocessing
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


async def enter(server, session, tokens):
    members = [Reactor() for _ in tokens]
    await connect_all(server, members, [session] * len(members), tokens, [None] * len(members))
    return members


async def react_all(members, ref, seconds, total):
    """All react once, evenly over the time, and hear of all. When the last one reacted, and when the last count came."""
    began = time.perf_counter()
    for number, member in enumerate(members):
        wait = began + number * seconds / len(members) - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        member.react(ref)
    last = time.perf_counter()
    async with asyncio.timeout(30):
        while not all(member.counts and member.counts[max(member.counts)][0] == total for member in members):
            await asyncio.sleep(0.05)
    numbers = {len(member.counts) for member in members}
    assert len(numbers) == 1 and all(member.took is not None for member in members), numbers
    return last, max(member.counts[max(member.counts)][1] for member in members), numbers.pop()


def crowd(pipe, server, session, tokens, arguments):
    """In a process of its own: to read what so many members are told takes Python longer than the server to tell it."""

    async def run():
        members = await enter(server, session, tokens)
        pipe.send("ready")
        ref = await asyncio.to_thread(pipe.recv)
        pipe.send(await react_all(members, ref, arguments.seconds, arguments.clients))
        await asyncio.to_thread(pipe.recv)

    asyncio.run(run())


async def measure(arguments):
    with Server("--history", "all", "--changes", "all", "--signal-rate", "0", *arguments.option) as server:
        session = server.project.session()
        tokens = [server.project.jwt_token(session, user=f"u-{number}") for number in range(arguments.clients)]
        pipe, other = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(
            target=crowd, args=(other, server, session, tokens[arguments.probes:], arguments), daemon=True)
        process.start()
        await asyncio.to_thread(pipe.recv)
        probes = await enter(server, session, tokens[:arguments.probes])
        probes[0].send_end(2)
        await asyncio.gather(*(member.signalled for member in probes))
        path = server.session_path(session, "/message?limit=1")
        ref = server.rest("GET", path).json()["messages"][0]["seq"]
        pipe.send(ref)
        last, told, number = await react_all(probes, ref, arguments.seconds, arguments.clients)
        others = await asyncio.to_thread(pipe.recv)
        assert number == others[2], (number, others)
        last, told = max(last, others[0]), max(told, others[1])
        times = sorted(member.took for member in probes)
        size = len(json.dumps(server.rest("GET", path).json()["messages"][0]["reactions"]))
        print(f"reactions: {arguments.clients} users of one session react in {arguments.seconds:.0f} s; events for each member: "
              f"{number}; {len(probes)} of them were answered within {times[len(times) // 2] * 1000:.1f} ms (median), "
              f"{times[int(len(times) * 0.99)] * 1000:.1f} ms (99 %), {times[-1] * 1000:.1f} ms (all); the last count came to "
              f"all {told - last:.2f} s after the last reaction; {size} bytes of a page", flush=True)
        pipe.send("end")
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=10_000)
    parser.add_argument("--probes", type=int, default=500, help="users whose answers are timed")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--option", action="append", default=[], help="an option of the server, as --option=--x=1")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
