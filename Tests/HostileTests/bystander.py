"""Clients that an attack must not affect, in a process of their own:

    bystander.py TARGET

For each line of input, `COUNT INTERVAL`, one client sends COUNT signals, one after the other, and another one receives
them. The process prints one line of JSON: the round trips in seconds, and how many signals arrived.
"""

import asyncio
import json
import sys
import time

from target import Target

from signalbox_client import DEADLINE, Client


async def measure(sender, receiver, count, interval):
    times, arrived = [], 0
    for number in range(count):
        started = time.monotonic()
        answer, _ = await sender.signal(type="bystander", data=str(number))
        times.append(time.monotonic() - started)
        assert answer["ev"] == "ack", answer
        while (event := await receiver.next(DEADLINE)).get("seq") != answer["seq"]:
            assert event["ev"] != "signal", event
        assert (event["ev"], event["data"]) == ("signal", str(number))
        arrived += 1
        await asyncio.sleep(interval)
    return {"times": times, "arrived": arrived}


async def main(target):
    session = target.session
    sender, receiver = await Client.join(target, session), await Client.join(target, session)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        count, interval = line.split()
        # The clients go on reading meanwhile, and answer their pings.
        print(json.dumps(await measure(sender, receiver, int(count), float(interval))), flush=True)
        # A new client can connect, too.
        async with await Client.join(target, session) as late:
            assert (await late.signal(to=late.id))[0]["ev"] == "ack"
        print("connected", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Target.parse(sys.argv[1])))
