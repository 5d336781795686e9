"""Counts the instructions that a whole server executes in user space: for a signal in a room of four, from socket to
socket, and for a connect with token, join and leave.

    SIGNALBOX_BIN=.build/release/signalbox .venv-test/bin/python Tests/Benchmarks/server_costs.py [--top 40]

scripts/check costs counts the same. The signals come one at a time, so each of them has its own turns of the loop: one
read, four writes, and the end of a turn. With --durable the server has a state folder, and the count includes its other
threads. --top lists the functions with the most instructions of their own, and with --inclusive those of the functions
that they call, too.
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "BlackBoxTests"))

import server_process  # noqa: E402
from signalbox_client import Client  # noqa: E402

SIGNALS = 200
CONNECTS = 60
DATA = "x" * 128

# valgrind 3.19 writes into the mask of the caller, and libdispatch's is in read-only memory.
SIGSUSPEND = """
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
int sigsuspend(const sigset_t *mask) { sigset_t own = *mask; return syscall(SYS_rt_sigsuspend, &own, 8); }
"""


class Counted:
    """A server under callgrind. Each count is that of the whole process since the last one."""

    def __init__(self, folder, *arguments):
        self.folder = pathlib.Path(folder)
        # valgrind 3.19 cannot read the debug information of Swift 6.3.
        program = self.folder / "signalbox"
        subprocess.run(["objcopy", "--strip-debug", server_process.BINARY, program], check=True)
        server_process.BINARY = str(program)
        # Under callgrind a server starts fifty times as slowly.
        server_process.DEADLINE = 300
        preloaded = self.folder / "sigsuspend.so"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-o", preloaded, "-xc", "-"], input=SIGSUSPEND, text=True, check=True)
        launcher = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={self.folder}/counts"]
        self.server = server_process.Server(
            "--signal-rate", "0", "--request-rate", "0", *arguments, log_level="error", launcher=launcher,
            env=server_process.environment(
                api_key="100", api_secret="a secret of the tests, 32 bytes long")
            # Hash tables of the same content then have the same order in each run.
            # Symbols are looked up at the start, not at the first use.
            | {"SWIFT_DETERMINISTIC_HASHING": "1", "LD_BIND_NOW": "1", "LD_PRELOAD": str(preloaded)})
        self.dumps = 0

    def count(self):
        """The instructions since the last count."""
        subprocess.run(
            ["callgrind_control", "--dump", str(self.server.pid)], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.dumps += 1
        # The totals of each thread come behind its costs.
        return sum(int(total) for total in re.findall(r"^totals: (\d+)", self.dump.read_text(), re.M))

    @property
    def dump(self):
        return self.folder / f"counts.{self.dumps}"


async def signals(clients, count):
    """Each signal goes to all, and the next follows when all of them have it, and its sender has its answer."""
    for number in range(count):
        sender = clients[number % len(clients)]
        request = await sender.request("signal", type="chat", data=DATA)
        for client in clients:
            await client.expect("signal")
        await sender.expect("ack", id=request)


async def connects(server, count):
    for _ in range(count):
        client = await Client.join(server, server.project.session())
        await client.leave()


async def measure(*arguments, top=0, inclusive=False):
    """The instructions for one signal, and for one connect."""
    with tempfile.TemporaryDirectory() as folder:
        counted = Counted(folder, *arguments)
        with counted.server as server:
            session = server.project.session()
            clients = [await Client.join(server, session, data=name) for name in ("ada", "bob", "eve", "joe")]
            for at, client in enumerate(clients):
                for _ in range(len(clients) - 1 - at):
                    await client.expect("connectionCreated")
            await signals(clients, 40)
            counted.count()
            await signals(clients, SIGNALS)
            found = {"signal": counted.count() // SIGNALS}
            show(counted.dump, top, SIGNALS, inclusive)
            await connects(server, 20)
            counted.count()
            await connects(server, CONNECTS)
            found["connect"] = counted.count() // CONNECTS
            show(counted.dump, top, CONNECTS, inclusive)
        return found


def show(dump, top, count, inclusive):
    if not top:
        return
    table = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--auto=no", f"--inclusive={'yes' if inclusive else 'no'}", dump],
        capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^\s*([\d,]+) \([^)]*\)\s+(.*)$", table, re.M)
    demangled = subprocess.run(
        ["swift-demangle", "--simplified"], input="\n".join(name for _, name in lines[1 : top + 1]),
        capture_output=True, text=True, check=True).stdout.split("\n")
    for (number, _), name in zip(lines[1:], demangled):
        print(f"{int(number.replace(',', '')) / count:>10,.0f}  {name[:180]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--durable", action="store_true")
    parser.add_argument("--top", type=int, default=0)
    parser.add_argument("--inclusive", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        options = ["--state-dir", state] if arguments.durable else []
        found = asyncio.run(measure(*options, top=arguments.top, inclusive=arguments.inclusive))
        if arguments.json:
            print(json.dumps(found))
            return
        for step, count in found.items():
            print(f"{step:8} {count:>12,} instructions")


if __name__ == "__main__":
    main()
