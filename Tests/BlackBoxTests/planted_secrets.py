"""Looks for secrets in everything that the servers of a test run have logged.

The helpers of the tests register each token, credential, secret and longer text of a signal that they make (`plant`),
and each line that a server writes to standard error (`log`). At the end of the run, `found` compares them.
"""

import threading

# Long enough that no log line has it by chance.
WINDOW = 20

_lock = threading.Lock()
_secrets = {}
_lines = []


def plant(text):
    """Registers a text that no log may contain. Returns it. Texts shorter than the window are ignored."""
    if isinstance(text, str) and len(text) >= WINDOW:
        with _lock:
            # The middle and the end: the beginnings of tokens are alike, and the end is the signature of a JWT.
            for start in ((len(text) - WINDOW) // 2, len(text) - WINDOW):
                _secrets[text[start : start + WINDOW]] = text
    return text


def log(line):
    """Registers a line of a server's log."""
    with _lock:
        _lines.append(line)


def found():
    """The lines that contain a secret, with the secret."""
    with _lock:
        lines, secrets = list(_lines), dict(_secrets)
    return [
        (line, secrets[line[start : start + WINDOW]])
        for line in lines
        for start in range(len(line) - WINDOW + 1)
        if line[start : start + WINDOW] in secrets
    ]


def counts():
    """How many secrets and lines were registered."""
    return len(_secrets), len(_lines)
