#!/usr/bin/env python3
"""Makes the table of docs/CONFORMANCE.md from the logs that scripts/fuzz has just written.

    fuzz_table.py TARGET ...
"""

import re
import sys

import document


def row(target):
    text = (document.REPOSITORY / f".build-fuzz/{target}.log").read_text(errors="replace")
    runs, seconds = re.search(r"Done (\d+) runs in (\d+) second", text).groups()
    covered = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)", text)[-1]
    return f"| `{target}` | {seconds} | {int(runs):,} | {covered[0]} | {covered[1]} | 0 |"


document.replace("fuzzing", "\n".join([
    f"{document.stamp()}; a debug build.", "",
    "| target | seconds | inputs | covered edges | corpus | findings |", "| --- | --- | --- | --- | --- | --- |",
    *map(row, sys.argv[1:]),
]))
