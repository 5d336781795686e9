"""What the programs of this folder share: they read the feed of a project over REST (docs/backend.md).

The project is in SIGNALBOX_URL, SIGNALBOX_API_KEY and SIGNALBOX_API_SECRET. Only the standard library is needed.
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import random
import signal
import sys
import time
import urllib.error
import urllib.request


# Ctrl-C ends the program without a traceback.
signal.signal(signal.SIGINT, signal.SIG_DFL)


class Gone(Exception):
    """The feed does not reach back to the offset any more, or the server has another state folder."""


class Project:
    def __init__(self):
        self.url = setting("SIGNALBOX_URL").rstrip("/")
        self.key, self.secret = setting("SIGNALBOX_API_KEY"), setting("SIGNALBOX_API_SECRET")

    def credentials(self):
        """A JWT for X-OPENTOK-AUTH, signed with the project's secret."""
        now = int(time.time())
        parts = {"alg": "HS256", "typ": "JWT"}, {"iss": self.key, "ist": "project", "iat": now, "exp": now + 180}
        signed = b".".join(base64url(json.dumps(part).encode()) for part in parts)
        code = hmac.new(self.secret.encode(), signed, hashlib.sha256).digest()
        return (signed + b"." + base64url(code)).decode()

    def request(self, method, path, body=None):
        headers = {"X-OPENTOK-AUTH": self.credentials(), "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/v2/project/{self.key}{path}", data, headers, method=method)
        # A read of the feed waits 20 seconds for an event.
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.headers, answer.read()

    def read(self, offset, live="&live=long-poll"):
        """The events behind an offset, and the offset behind them. Waits for an event."""
        try:
            headers, body = self.request("GET", f"/feed?offset={offset}{live}")
        except urllib.error.HTTPError as fault:
            if fault.code == 410:
                raise Gone from None
            if fault.code in (400, 403, 404):
                sys.exit(f"The server refuses to show the feed: {fault.read().decode(errors='replace')}")
            raise
        return json.loads(body or "[]"), headers["Stream-Next-Offset"]


def setting(name):
    return os.environ.get(name) or sys.exit(f"Set {name} in the environment.")


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def insist(action, *faults):
    """The result of an action. After a fault it is tried again in 1 second, then in 2, 4, … up to 30."""
    pause = 1
    while True:
        try:
            return action()
        except (OSError, http.client.HTTPException, *faults) as fault:
            print(f"{type(fault).__name__}: {fault}; trying again in {pause} s", file=sys.stderr, flush=True)
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, 30)


def follow(project, file, handle):
    """Calls `handle` with every event from now on. The offset is kept in a file, from which the next run goes on.

    An event may come twice: the program may end after it has handled the event, and before it has written the offset.
    """
    if not os.path.exists(file):
        save(file, insist(lambda: project.read("now", live=""))[1], 0, 0)
    with open(file, encoding="utf-8") as stored:
        offset, newest, since = json.load(stored)
    while True:
        try:
            events, offset = insist(lambda: project.read(offset))
        except Gone:
            print("The feed has lost events. What is left of it is read again.", file=sys.stderr, flush=True)
            # Without most of what is known already. Events may have been up to ten minutes late.
            events, offset, since = [], "-1", newest - 600_000
        for event in events:
            if event.get("time", since) >= since:
                insist(lambda: handle(event))
        newest = max([newest, *(event.get("time", 0) for event in events)])
        insist(lambda: save(file, offset, newest, since))


def save(file, *state):
    with open(file + ".new", "w", encoding="utf-8") as new:
        json.dump(state, new)
        new.flush()
        os.fsync(new.fileno())
    os.replace(file + ".new", file)
