"""The wait before an attempt to come back (RES-13). Times are seconds."""

LONGEST_WAIT = 5
FIRST_WAIT = 0.25
LONGEST_WAIT_OF_SERVER = 60


class BackOff:
    """Full jitter: the wait before attempt n is between 0 and min(5 s, 250 ms × 2ⁿ).

    A wait that the server has asked for replaces the next wait.
    """

    def __init__(self):
        self._failures = 0
        self._asked_by_server = None

    def server_asks(self, milliseconds):
        """Keeps `reconnectAfter` for the next wait. A value that is negative or not an integer is ignored.

        Returns whether the value counts.
        """
        if isinstance(milliseconds, int) and not isinstance(milliseconds, bool) and milliseconds >= 0:
            self._asked_by_server = min(milliseconds / 1000, LONGEST_WAIT_OF_SERVER)
            return True
        return False

    def attempt_failed(self):
        self._failures += 1

    def next_wait(self, random):
        """The wait before the next attempt, and whether the server has asked for it. `random` is from 0 to 1."""
        asked, self._asked_by_server = self._asked_by_server, None
        if asked is not None:
            return asked, True
        # 2⁵ × 250 ms exceeds the longest wait. The bound keeps the power small.
        return random * min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(self._failures, 5)), False
