#!/usr/bin/env python3
"""Sends every malformed request of Tests/Vectors/http to a server, and counts what comes back.

    malformed_requests.py [--write]

    --write   replaces docs/reports/malformed-requests.md

SIGNALBOX_BIN names the program. Exit 1 if a request is accepted, or gets another status than the vectors say.
"""

import collections
import json
import pathlib
import re
import sys
import tempfile

import document
from autobahn_verdicts import started

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "BlackBoxTests"))

from raw_exchange import raw_exchange  # noqa: E402

# The kinds of malformed heads, by the names of the vectors. The first that matches counts.
KINDS = [
    ("Method", r"method\b"),
    ("Host", r"\bHosts?\b"),
    ("Version", r"version|^HTTP/0\.9|preface"),
    ("Target", r"target|fragment:|escape|encoded|injected|in the query"),
    ("Length and coding of the body", r"Content-Length|Transfer-Encoding"),
    ("Line ends", r"\b(CR|LF)\b"),
    ("Header names", r"in a name|inside a name|no name|colon"),
    ("Header values", r"in a value|NUL in|folded|line of blanks"),
    ("Repeated headers, and upgrades", r"twice|upgrade"),
    ("Request line, and other protocols", r""),
]
SECONDS = 30
ANSWER = re.compile(rb"HTTP/1\.[01] \d{3} ")


def kind(name):
    return next(title for title, pattern in KINDS if re.search(pattern, name))


def requests():
    """Kind, name, bytes and expected status of each malformed request."""
    folder = document.REPOSITORY / "Tests/Vectors/http"
    for case in json.loads((folder / "heads.json").read_text())["cases"]:
        if "status" in case:
            head = bytes.fromhex(case["base16"]) if "base16" in case else case["text"].encode()
            yield kind(case["name"]), case["name"], head, case["status"]
    start = b"POST /session/create HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    # A reader of the body that differs from the server could hide a request in it (request smuggling).
    hidden = b"GET /session HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for case in json.loads((folder / "chunks.json").read_text())["cases"]:
        if "malformed" in case:
            yield "Bodies in chunks", case["name"], start + case["text"].encode() + hidden, 400


def main():
    counts = collections.defaultdict(collections.Counter)
    faults = []
    with tempfile.TemporaryDirectory() as folder, started("product", folder) as port:
        for title, name, request, expected in requests():
            # A client that half-closes within a body gets no answer: libwebsockets closes at the end of the input.
            received = raw_exchange(("127.0.0.1", port), request, SECONDS, half_closes=title != "Bodies in chunks")
            status = int(received.split(b" ")[1]) if received.startswith(b"HTTP/1.") else 0
            counts[title][status] += 1
            if status != expected or len(ANSWER.findall(received)) != 1:
                faults.append(f"{title}: {name}: {status}, expected {expected}")
    titles = [title for title, _ in KINDS] + ["Bodies in chunks"]
    statuses = sorted({status for row in counts.values() for status in row})
    lines = [
        "| malformed | requests | accepted | " + " | ".join(map(str, statuses)) + " |",
        "| --- | --- | --- |" + " --- |" * len(statuses),
    ]
    for title in titles:
        row = counts[title]
        accepted = sum(count for status, count in row.items() if 0 < status < 400)
        cells = [title, sum(row.values()), accepted, *(row[status] for status in statuses)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    total = sum(sum(row.values()) for row in counts.values())
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"http: {total} malformed requests, {len(faults)} not answered as expected")
    if "--write" in sys.argv[1:] and not faults:
        heading = f"{total} malformed requests, by the status of the answer. {document.stamp()}."
        document.replace("malformed-requests", "\n".join([heading, "", *lines]))
    return 1 if faults or total < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
