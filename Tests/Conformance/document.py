"""Replaces one generated part of docs/CONFORMANCE.md: the lines between `<!-- begin NAME -->` and `<!-- end NAME -->`."""

import datetime
import pathlib
import subprocess

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = REPOSITORY / "docs/CONFORMANCE.md"


def replace(name, text):
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    whole = DOCUMENT.read_text(encoding="utf-8")
    before, found, rest = whole.partition(begin)
    _, closed, after = rest.partition(end)
    assert found and closed, f"{DOCUMENT} has no part {name}"
    DOCUMENT.write_text(before + begin + "\n" + text.strip() + "\n\n" + end + after, encoding="utf-8")


def stamp():
    """When and of which commit a run is."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return f"{datetime.date.today().isoformat()}, commit `{commit.stdout.strip()}`"
