"""Runs the fuzzing client of the Autobahn test suite once. Needs the environment of
scripts/parts/prepare-conformance.

    autobahn_client.py SPECIFICATION OUTPUT

SPECIFICATION is a JSON object: `agent`, `url`, `subprotocol`, `cases`, `excluded`, and perhaps `standIn`. A text message
that begins with `standIn` counts as the echo that a case waits for, and each of its lines as one. So the suite can judge
a server that answers every text, but not with an echo.
"""

import json
import sys

from autobahntestsuite import fuzzing
from twisted.internet import reactor


def accept_stand_in(prefix):
    plain = fuzzing.FuzzingProtocol.onMessage

    def on_message(self, message, binary):
        case = self.runCase
        if case is None or binary or not message.startswith(prefix):
            return plain(self, message, binary)
        for line in filter(None, message.split(b"\n")):
            wanted = [event[1] for event in case.expected.get("OK", []) if event[0] == "message"]
            had = sum(event[0] == "message" for event in case.received)
            plain(self, wanted[had].encode("latin-1") if had < len(wanted) else line, False)

    fuzzing.FuzzingProtocol.onMessage = on_message


def main():
    given = json.loads(sys.argv[1])
    if given.get("standIn"):
        accept_stand_in(given["standIn"].encode())
    fuzzing.startClient({
        "outdir": sys.argv[2],
        # The suite's patience with the server's end of the TCP connection, in seconds.
        "options": {"serverConnectionDropTimeout": 1},
        "servers": [{"agent": given["agent"], "url": given["url"], "protocols": [given["subprotocol"]]}],
        "cases": given["cases"],
        "exclude-cases": given["excluded"],
        "exclude-agent-cases": {},
    })
    reactor.run()


main()
