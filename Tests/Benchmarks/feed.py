"""Measures what a backend that reads the feed costs the server, and how soon it gets a message.

A server with a state folder keeps what `signalbox-lab bench` sends, in turn without a feed, with one that nobody reads, with
a reader by long-poll, and with a receiver of batches. The ratio is the processor time of the server beside that without a feed. The delay of a message
counts from its acceptance.

    feed.py [--rooms 100] [--members 4] [--rate 20] [--seconds 10] [--repeats 3]

SIGNALBOX_BIN names the server's program. Measure a release build, on a quiet machine.
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

import server_process  # noqa: E402
from server_process import Server  # noqa: E402
from waiting import wait_for  # noqa: E402
from webhook_receiver import Receiver  # noqa: E402


class Reader:
    """A backend that reads the feed until it ends, and notes the delay of each signal."""

    def __init__(self, server):
        self.server, self.delays, self.is_over = server, [], False
        self.thread = threading.Thread(target=self._read)

    def _read(self):
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        offset = "now"
        # The server ends while the last request waits.
        with contextlib.suppress(http.client.HTTPException, OSError):
            while not self.is_over:
                path = f"/v2/project/{self.server.project.key}/feed?offset={offset}&live=long-poll&limit=1000"
                connection.request("GET", path, headers=self.server.project.headers(None))
                answer = connection.getresponse()
                body, now = answer.read(), time.time() * 1000
                offset = answer.headers["Stream-Next-Offset"]
                note(json.loads(body) if body else [], now, self)

    def collect(self):
        """The thread does."""

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True


def note(events, now, target):
    for event in events:
        if event["event"] == "signal":
            target.delays.append(now - event["time"])


class Posts:
    """A receiver of batches that notes the delays of their signals."""

    def __init__(self, receiver):
        self.delays, self.receiver = [], receiver

    def collect(self):
        while not self.receiver.posts.empty():
            post = self.receiver.posts.get()
            note(post.event["events"], post.headers["received"], self)


def run(kind, options):
    """Returns the processor seconds of the server, the carried load, and the delays."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        settings = {"history": "all", "state_dir": folder + "/state", "log_level": "warning", "signal_rate": 100000}
        posts = None
        if kind in ("unread", "pull"):
            settings["feed"] = True
        if kind == "push":
            receiver = stack.enter_context(Receiver())
            original = receiver.posts.put
            receiver.posts.put = lambda post: (post.headers.__setitem__("received", time.time() * 1000), original(post))
            posts = Posts(receiver)
            settings |= {"webhook_url": receiver.url, "webhook_types": "all"}
        server = stack.enter_context(Server(**settings))
        reader = stack.enter_context(Reader(server)) if kind == "pull" else None
        before = server.processor_seconds()
        lab = pathlib.Path(server_process.BINARY).with_name("signalbox-lab")
        report = subprocess.run(
            [lab, "bench", server.url, "--rooms", str(options.rooms), "--members", str(options.members), "--rate",
             str(options.rate), "--seconds", str(options.seconds), "--limit", "10000", "--json"],
            env=os.environ | {"SIGNALBOX_API_KEY": server.project.key, "SIGNALBOX_API_SECRET": server.project.secret},
            capture_output=True, check=False, text=True,
        )  # fmt: skip
        backend = reader or posts
        if backend:
            count = options.rooms * options.rate * (options.seconds + 2)
            wait_for(lambda: backend.collect() or len(backend.delays) >= count, "the last signals", pause=0.1)
        used = server.processor_seconds() - before
        delays = backend.delays if backend else []
        return used, json.loads(report.stdout), sorted(delays)


def quantile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def main():
    parser = argparse.ArgumentParser()
    for name, default in [("rooms", 100), ("members", 4), ("rate", 20), ("seconds", 10), ("repeats", 3)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    kinds = ["none", "unread", "pull", "push"]
    used, delays = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    for _ in range(options.repeats):
        for kind in kinds:
            seconds, report, found = run(kind, options)
            used[kind].append(seconds)
            delays[kind] += found
            print(f"{kind:5} {seconds:6.2f} s of the processor, {len(found)} signals at the backend", flush=True)
    base = statistics.median(used["none"])
    for kind in kinds[1:]:
        found = sorted(delays[kind])
        delay = f"; a message is there after p50 {quantile(found, 0.5):.0f} ms, p99 {quantile(found, 0.99):.0f} ms"
        ratio = statistics.median(used[kind]) / base
        print(f"{kind}: {ratio:.2f} × the processor time without a feed{delay if found else ''}")


if __name__ == "__main__":
    main()
