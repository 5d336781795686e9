#!/usr/bin/env python3
"""Writes lines of the table in docs/reports/fuzzing.md, from the logs that scripts/fuzz has just written.

    fuzz_table.py TARGET ...

The lines of other targets stay.
"""

import re
import sys

import document


def row(target):
    text = (document.REPOSITORY / f".build-fuzz/{target}.log").read_text(errors="replace")
    runs, seconds = re.search(r"Done (\d+) runs in (\d+) second", text).groups()
    covered = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)", text)[-1]
    return f"{seconds} | {int(runs):,} | {covered[0]} | {covered[1]} | 0 | {document.stamp()} |"


def main(*targets):
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*)$", document.part("fuzzing"), re.MULTILINE))
    rows |= {target: row(target) for target in targets}
    document.replace("fuzzing", "\n".join([
        "With a debug build:", "",
        "| target | seconds | inputs | covered edges | corpus | findings | last run |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(f"| `{target}` | {rows[target]}" for target in sorted(rows)),
    ]))


main(*sys.argv[1:])
