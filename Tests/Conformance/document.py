"""Replaces the generated part of a report in docs/reports: the lines between `<!-- begin NAME -->` and `<!-- end NAME -->`.

    document.py NAME   by the date, the commit, and the text on the standard input
"""

import datetime
import os
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def report(name):
    return REPOSITORY / f"docs/reports/{name}.md"


def split(name):
    """The report up to the part, the part, and the rest."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    before, found, rest = report(name).read_text(encoding="utf-8").partition(begin)
    text, closed, after = rest.partition(end)
    assert found and closed, f"{report(name)} has no generated part"
    return before + begin, text, end + after


def part(name):
    return split(name)[1]


def replace(name, text):
    before, _, after = split(name)
    report(name).write_text(before + "\n" + text.strip() + "\n\n" + after, encoding="utf-8")


def stamp():
    """When and of which commit a run is. A long run names the commit from which it began: `CONFORMANCE_COMMIT`."""
    commit = os.environ.get("CONFORMANCE_COMMIT") or subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True,
        check=True).stdout.strip()
    return f"{datetime.date.today().isoformat()}, commit `{commit}`"


if __name__ == "__main__":
    replace(sys.argv[1], f"{stamp()}.\n\n{sys.stdin.read()}")
