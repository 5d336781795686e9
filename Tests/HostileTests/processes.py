"""The processes of one measurement: the attacker and the bystander."""

import json
import math
import pathlib
import subprocess
import sys

from target import Target

from server_process import DEADLINE, Lines

HERE = pathlib.Path(__file__).resolve().parent


class Process:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.out = Lines(self.process.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def next(self):
        line = self.out.next()
        assert line is not None, f"{self.process.args} ended"
        return line


class Attack(Process):
    """An attack that is under way. `end` stops it and returns what it did."""

    def __init__(self, name, server, session=None, width=5, pieces=0, source="127.0.0.1"):
        super().__init__(HERE / "attacks.py", name, Target.of(server, session, source).text(), width, pieces)
        try:
            assert self.next() == "under way"
        except BaseException:
            self.__exit__()
            raise

    def end(self):
        self.process.stdin.close()
        report = json.loads(self.next())
        assert self.process.wait(DEADLINE) == 0
        return report


class Bystander(Process):
    def __init__(self, server, session=None):
        super().__init__(HERE / "bystander.py", Target.of(server, session).text())
        assert self.next() == "ready"

    def measure(self, count, interval=0, seconds=math.inf):
        """Sends this many signals, or as many as it can in this time. All arrive, and another client can connect. Returns
        the round trips in seconds."""
        self.process.stdin.write(f"{count} {interval} {seconds}\n")
        times = json.loads(self.next())
        assert self.next() == "connected"
        return times
