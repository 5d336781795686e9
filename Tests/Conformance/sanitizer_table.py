#!/usr/bin/env python3
"""Writes lines of the table in docs/reports/sanitizers.md, from the results that scripts/sanitize has just left.

    sanitizer_table.py SANITIZER STEP ...

The lines of other runs stay.
"""

import re
import sys

import document

SANITIZERS = {"address": "AddressSanitizer", "thread": "ThreadSanitizer"}
# In the order of the table, by the step of scripts/sanitize.
STEPS = {
    "sockets": "Swift tests of sockets and threads",
    "redis-log": "Swift tests of the log in Redis",
    "others": "other Swift tests, without the randomized ones",
    "attacks": "attacks (`Tests/HostileTests`)",
    "black-box": "black-box tests: protocol, HTTP, TLS, durable log, nodes",
    "verify-one-server": "`signalbox-lab verify` with kills and restarts",
    "verify-two-nodes": "`signalbox-lab verify` with two nodes and a kill",
}


def figures(text):
    """What the tools say at their end."""
    if found := re.search(r"Test run with (\d+) tests.* passed", text):
        return f"{int(found[1]):,} tests passed"
    if found := re.search(r"^=* ?(\d+ passed.*?) in [\d.]+s", text, re.MULTILINE):
        return found[1]
    signals = re.search(r"^signals (\d+): .*; received (\d+)", text, re.MULTILINE)
    assert signals and "every promise was kept" in text, "the output has no result"
    return f"{int(signals[1]):,} signals, received {int(signals[2]):,} times; every promise was kept"


def row(sanitizer, step):
    folder = document.REPOSITORY / f".build-{sanitizer}/results/{step}"
    minutes, seconds = divmod(int((folder / "seconds").read_text()), 60)
    text = (folder / "output").read_text(errors="replace")
    reports = len(list((folder / "reports").iterdir()))
    return f"{figures(text)} | {minutes} min {seconds} s | {reports} | {document.stamp()} |"


def main(sanitizer, *steps):
    rows = {}
    for line in document.part("sanitizers").splitlines():
        if found := re.fullmatch(r"\| (\w+Sanitizer) \| (.+?) \| (.*)", line):
            rows[found[1], found[2]] = found[3]
    rows |= {(SANITIZERS[sanitizer], STEPS[step]): row(sanitizer, step) for step in steps}
    known = [(name, step) for name in SANITIZERS.values() for step in STEPS.values()]
    document.replace("sanitizers", "\n".join([
        "| sanitizer | run | result | time | reports | last run |", "| --- | --- | --- | --- | --- | --- |",
        *(f"| {name} | {step} | {rows[name, step]}" for name, step in known if (name, step) in rows),
    ]))


main(*sys.argv[1:])
