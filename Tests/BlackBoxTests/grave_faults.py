"""Faults that fail a run of scripts/test also if the test passes when it runs once more: see scripts/test-steps."""

import os
import signal

# Only a defect of the program sends them.
CRASHES = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}


def note(text):
    if name := os.environ.get("SIGNALBOX_GRAVE_FAULTS"):
        with open(name, "a") as file:
            file.write(text + "\n")


def note_crash(command, status):
    """Notes that a command of the program has crashed, if it has."""
    if status is not None and -status in CRASHES:
        note(f"{signal.Signals(-status).name} ended {' '.join(map(str, command))}")
