"""Replaces one generated part of docs/CONFORMANCE.md: the lines between `<!-- begin NAME -->` and `<!-- end NAME -->`."""

import datetime
import os
import pathlib
import subprocess

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = REPOSITORY / "docs/CONFORMANCE.md"


def split(name):
    """The document up to the part, the part, and the rest."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    before, found, rest = DOCUMENT.read_text(encoding="utf-8").partition(begin)
    text, closed, after = rest.partition(end)
    assert found and closed, f"{DOCUMENT} has no part {name}"
    return before + begin, text, end + after


def part(name):
    return split(name)[1]


def replace(name, text):
    before, _, after = split(name)
    DOCUMENT.write_text(before + "\n" + text.strip() + "\n\n" + after, encoding="utf-8")


def stamp():
    """When and of which commit a run is. A long run names the commit from which it began: `CONFORMANCE_COMMIT`."""
    commit = os.environ.get("CONFORMANCE_COMMIT") or subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True,
        check=True).stdout.strip()
    return f"{datetime.date.today().isoformat()}, commit `{commit}`"
