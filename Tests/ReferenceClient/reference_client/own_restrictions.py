"""What keeps the client from signaling, as the server has told it (MOD-2, MOD-4, MOD-5). Times are ms since 1970."""

from .messages.moderation import FREEZE


class OwnRestrictions:
    """Ends a restriction by the clock: the server sends nothing at `until`."""

    def __init__(self):
        self._is_moderator = False
        # By kind, as `(restriction, end)`. `end` is infinite for a restriction that holds until it is lifted.
        self._held = {}

    def entered(self, restrictions, is_moderator):
        """The list of `connected`, which counts alone."""
        self._is_moderator, self._held = is_moderator, {}
        for restriction in restrictions:
            self.restricted(restriction)

    def restricted(self, restriction):
        """A newer restriction replaces the older one of its kind. A freeze does not hold for moderators."""
        if restriction.kind != FREEZE or not self._is_moderator:
            self._held[restriction.kind] = restriction, _end(restriction.until)

    def unrestricted(self, kind):
        self._held.pop(kind, None)

    def refused(self, now, restriction, retry_after):
        """An error names what holds. `retryAfter` is right even if the clock of the client is wrong (ERR-1)."""
        end = _end(restriction.until) if retry_after is None else now + retry_after
        self._held[restriction.kind] = restriction, end

    def hold(self, now):
        """What holds now, the restriction that holds longest first."""
        held = [each for each in self._held.values() if each[1] > now]
        return [restriction for restriction, _ in sorted(held, key=lambda each: -each[1])]

    def next_end(self, now):
        """The next time at which a restriction ends by itself, or None."""
        ends = (end for _, end in self._held.values() if now < end < float("inf"))
        return min(ends, default=None)


def _end(until):
    return float("inf") if until is None else until
