"""The processes of one measurement: the attacker and the bystander."""

import json
import math
import pathlib
import queue
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

    def next(self, timeout=DEADLINE):
        line = self.out.next(timeout)
        assert line is not None, f"{self.process.args} ended"
        return line


class IdleListener(Process):
    """A listener that does nothing, in the place of a server for this project."""

    host, tls = "127.0.0.1", None

    def __init__(self, project):
        super().__init__(HERE / "idle_listener.py")
        self.port, self.project = int(self.next()), project


class Attack(Process):
    """An attack that is under way. `end` stops it and returns what it did.

    With less patience than the default, it may be one that gets no further because its target does not answer."""

    def __init__(self, name, server, session=None, width=5, pieces=0, source="127.0.0.1", patience=DEADLINE):
        super().__init__(HERE / "attacks.py", name, Target.of(server, session, source).text(), width, pieces)
        try:
            assert self.next(patience) == "under way"
        except queue.Empty:
            if patience == DEADLINE:
                self.__exit__()
                raise
        except BaseException:
            self.__exit__()
            raise

    def end(self):
        self.process.stdin.close()
        while (line := self.next()) == "under way":
            pass
        report = json.loads(line)
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
