"""Attacks on the program, each in a process of its own, beside a bystander in another one.

SIGNALBOX_BIN   the program; default: the debug build

`pytest Tests/HostileTests` checks that the bystander is served. `measure.py` measures by how much an attack delays it.
"""

import target  # noqa: F401  It makes the helpers of Tests/BlackBoxTests importable.
