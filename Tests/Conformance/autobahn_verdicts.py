#!/usr/bin/env python3
"""Runs the Autobahn test suite against the transport and the server, and compares its verdicts with verdicts.toml.

    autobahn_verdicts.py [--quick | --smoke] [--repeats N] [--write] [--keep FOLDER]

    --quick    without the cases that verdicts.toml calls long
    --smoke    the cases of frames with text and bytes, 1.*
    --repeats  each case's worst verdict counts
    --write    replaces docs/reports/autobahn.md
    --keep     where the suite's reports stay, with every frame

SIGNALBOX_BIN names the program; the echo server stands beside it. Exit 1 if a verdict is not the expected one.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib

import document

FOLDER = pathlib.Path(__file__).resolve().parent
PYTHON = document.REPOSITORY / ".venv-conformance/bin/python"
PROGRAM = pathlib.Path(os.environ.get("SIGNALBOX_BIN", document.REPOSITORY / ".build/debug/signalbox"))
ORDER = ["OK", "INFORMATIONAL", "NON-STRICT", "REFUSED", "FAILED"]
PATH = "/v1/signaling"
SUBPROTOCOL = "signalbox.v1"


def number(case):
    return [int(part) for part in case.split(".")]


def matches(case, patterns):
    return any(fnmatch.fnmatch(case, pattern) for pattern in patterns)


@contextlib.contextmanager
def started(name, folder):
    """A server as a child process; its port."""
    if name == "transport":
        command = [PROGRAM.parent / "signalbox-tools", "echo-server"]
    else:
        command = [PROGRAM, "serve", "--port", "0", "--log-level", "error"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SIGNALBOX_")}
    environment["XDG_STATE_HOME"] = folder
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        for line in process.stdout:
            if match := re.search(r"(?::|^)(\d+)\b", line):
                yield int(match[1])
                break
        else:
            raise RuntimeError(f"{command[0]} has ended with {process.wait()}")
    finally:
        process.terminate()
        process.wait()


def run(server, cases, excluded, folder):
    """One run of these cases of the suite; the verdict, the verdict on the close, and the report of each case."""
    folder.mkdir(parents=True)
    with started(server["name"], str(folder)) as port, open(folder / "log", "w") as log:
        specification = {
            "agent": server["name"], "url": f"ws://127.0.0.1:{port}{PATH}", "subprotocol": SUBPROTOCOL,
            "cases": cases, "excluded": excluded,
            "standIn": server.get("stand_in"),
        }  # fmt: skip
        subprocess.run(
            [PYTHON, "-W", "ignore", FOLDER / "autobahn_client.py", json.dumps(specification), folder],
            stdout=log, stderr=subprocess.STDOUT, check=True, timeout=600)
    found = json.loads((folder / "index.json").read_text())[server["name"]]
    return {
        case: (entry["behavior"], entry["behaviorClose"], json.loads((folder / entry["reportfile"]).read_text()))
        for case, entry in found.items()
    }


def judge(server, runs):
    """The worst verdict of each case, and a line for each verdict that is not the expected one."""
    worst, faults = {}, []
    for one in runs:
        for case, (verdict, close, report) in one.items():
            exception = next((entry for entry in server["exceptions"] if matches(case, entry["cases"])), None)
            if verdict == "FAILED" and exception and exception.get("code", 0) == report["remoteCloseCode"]:
                verdict = "REFUSED"
            expected = exception["verdicts"] if exception else ["OK"]
            if verdict not in expected or not exception and close != "OK":
                faults.append(
                    f"{server['name']} {case}: {verdict}, close: {close} with {report['remoteCloseCode']}; "
                    f"expected: {' or '.join(expected)}")
            worst[case] = max(worst.get(case, "OK"), verdict, key=ORDER.index)
    return worst, faults


def table(families, worst):
    counts = collections.defaultdict(collections.Counter)
    for case, verdict in worst.items():
        counts[case.split(".")[0]][verdict] += 1
    yield "| family | cases | OK | informational | non-strict | refused | failed |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for family in sorted(counts, key=int):
        row = counts[family]
        cells = [f"{family}: {families[family]}", sum(row.values()), *(row[verdict] for verdict in ORDER)]
        yield "| " + " | ".join(map(str, cells)) + " |"


def exceptions(server, worst):
    yield "| cases | verdict | reason |"
    yield "| --- | --- | --- |"
    for entry in server["exceptions"]:
        found = {worst[case] for case in worst if matches(case, entry["cases"])} - {"OK"}
        if found:
            yield f"| {', '.join(entry['cases'])} | {', '.join(sorted(found)).lower()} | {entry['reason']} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    expected = tomllib.loads((FOLDER / "verdicts.toml").read_text())
    began = time.monotonic()
    faults, parts = [], []
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = arguments.keep or pathlib.Path(temporary)
        jobs = {
            server["name"]: [
                pool.submit(
                    run, server, ["1.*"] if arguments.smoke else server["cases"],
                    server["long"] if arguments.quick else [], folder / server["name"] / str(turn))
                for turn in range(arguments.repeats)]
            for server in expected["servers"]
        }
        for server in expected["servers"]:
            worst, wrong = judge(server, [job.result() for job in jobs[server["name"]]])
            faults += wrong
            parts += [f"## {server['title']}", "", *table(expected["families"], worst), ""]
            parts += [*exceptions(server, worst), ""]
            strict = sum(verdict in ("OK", "INFORMATIONAL", "REFUSED") for verdict in worst.values())
            print(f"{server['name']}: {len(worst)} cases, {strict} OK, informational or refused by a written rule")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"conformance: {len(faults)} unexpected verdicts in {time.monotonic() - began:.0f} s")
    if arguments.write and not faults:
        times = "once" if arguments.repeats == 1 else f"{arguments.repeats} times"
        heading = f"Each case ran {times}; its worst verdict counts. {document.stamp()}."
        document.replace("autobahn", "\n".join([heading, "", *parts]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
