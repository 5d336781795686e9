"""Attacks on the program, each in a process of its own, beside a bystander in another one.

SIGNALBOX_BIN        the program; default: the debug build
SIGNALBOX_ATTACKS    how many attacks run: others for each commit, in turn; default: all

`pytest Tests/HostileTests` checks that the bystander is served. `measure.py` measures by how much an attack delays it.
"""

import os
import subprocess

import target  # noqa: F401  It makes the helpers of Tests/BlackBoxTests importable.


def pytest_collection_modifyitems(config, items):
    attacks = [item for item in items if hasattr(item, "callspec")]
    count = int(os.environ.get("SIGNALBOX_ATTACKS") or len(attacks))
    if count >= len(attacks):
        return
    here = os.path.dirname(__file__)
    commits = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=here, capture_output=True, text=True).stdout
    first = int(commits or 0) * count
    chosen = {attacks[(first + index) % len(attacks)] for index in range(count)}
    config.hook.pytest_deselected(items=[item for item in attacks if item not in chosen])
    items[:] = [item for item in items if item not in attacks or item in chosen]
