"""A crash of the program fails the test in which it ends, whatever the test asked."""

import signal

# Only a defect of the program sends them.
CRASHES = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}


def require_none(command, status):
    """Fails if a command of the program has crashed."""
    if status is not None and -status in CRASHES:
        raise AssertionError(f"{signal.Signals(-status).name} ended {' '.join(map(str, command))}")
