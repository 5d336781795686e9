"""Clients that an attack must not affect, in a process of their own:

    bystander.py TARGET

For each line of input, `COUNT INTERVAL SECONDS`, one client sends COUNT signals, one after the other, or as many as it
can in that time, and another one receives them. The process prints one line of JSON: the round trips in seconds. Each
signal has arrived then. It prints another line when a new client has connected.
"""

import asyncio
import json
import sys
import time

from target import Target

from signalbox_client import DEADLINE, Client


async def measure(sender, receiver, count, interval, seconds):
    times, end = [], time.monotonic() + seconds
    while len(times) < count and (not times or time.monotonic() < end):
        number = len(times)
        started = time.monotonic()
        answer, _ = await sender.signal(type="bystander", data=str(number))
        times.append(time.monotonic() - started)
        assert answer["ev"] == "ack", answer
        while (event := await receiver.next(DEADLINE)).get("seq") != answer["seq"]:
            assert event["ev"] != "signal", event
        assert (event["ev"], event["data"]) == ("signal", str(number))
        await asyncio.sleep(interval)
    return times


async def main(target):
    session = target.session
    sender, receiver = await Client.join(target, session), await Client.join(target, session)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        count, interval, seconds = line.split()
        # The clients go on reading meanwhile, and answer their pings.
        print(json.dumps(await measure(sender, receiver, int(count), float(interval), float(seconds))), flush=True)
        # A new client can connect, too.
        async with await Client.join(target, session) as late:
            assert (await late.signal(to=late.id))[0]["ev"] == "ack"
        print("connected", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Target.parse(sys.argv[1])))
