"""The requests of a client that have no answer yet: those that wait to be sent, and those that were sent (RES-9)."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from .codes import ErrorCode

# RES-9. The bound on requests that wait to be sent is the client's own (G5).
MOST_UNANSWERED = 256
MOST_PENDING = 10_000


@dataclass
class Request:
    """`call` is the program's name for the request. `retries`: the program wants it repeated after a loss."""

    call: Any
    op: str
    members: dict = field(default_factory=dict)
    retries: bool = True

    @property
    def is_online_only(self):
        return self.members.get("onlineOnly") is True

    @property
    def code_without_connection(self):
        """The error of a request that fails because there is no connection (section 10)."""
        return ErrorCode.NOT_CONNECTED_TO_FORCE if self.op == "forceDisconnect" else ErrorCode.NOT_CONNECTED

    @property
    def is_read(self):
        """Whether the client sends the request anew after a loss, with a new id (RES-9)."""
        return self.op in ("history", "restrictions")

    @property
    def ends_with_its_socket(self):
        """Whether the client reports the request as failed after a loss instead of repeating it (SIG-10)."""
        return self.is_online_only or not self.retries


class Requests:
    """The requests of one connection, in the order of the program. Ids come from one counter (RES-9)."""

    def __init__(self):
        self._last_id = 0
        self._waiting = deque()
        self._unanswered = {}

    def next_id(self):
        self._last_id += 1
        return self._last_id

    @property
    def is_full(self):
        return len(self._waiting) + len(self._unanswered) >= MOST_PENDING

    @property
    def has_room(self):
        """Whether a request that is added now can be sent at once."""
        return not self._waiting and len(self._unanswered) < MOST_UNANSWERED

    def add(self, request):
        self._waiting.append(request)

    def sendable(self):
        """The waiting requests that may be sent now, as `(id, request)`. They become unanswered."""
        while self._waiting and len(self._unanswered) < MOST_UNANSWERED:
            id, request = self.next_id(), self._waiting.popleft()
            self._unanswered[id] = request
            yield id, request

    def unanswered(self):
        """The sent requests without an answer, in the order in which they were sent."""
        return list(self._unanswered.items())

    def answered(self, id):
        """Takes out the request with this id, or returns None."""
        return self._unanswered.pop(id, None)

    def renew_reads(self):
        """The unanswered reads wait again, before all other requests: they get new ids (RES-9, HIS-7)."""
        reads = [request for request in self._unanswered.values() if request.is_read]
        self._unanswered = {id: r for id, r in self._unanswered.items() if not r.is_read}
        self._waiting.extendleft(reversed(reads))

    def take_ending_with_socket(self):
        """Takes out the requests that do not survive a loss, in the order of the program."""
        taken = [request for request in [*self._unanswered.values(), *self._waiting] if request.ends_with_its_socket]
        self._unanswered = {id: r for id, r in self._unanswered.items() if not r.ends_with_its_socket}
        self._waiting = deque(r for r in self._waiting if not r.ends_with_its_socket)
        return taken

    def take_unanswered(self):
        """Takes out the sent requests, whose fate is unknown after `recovered` or `lost` (RES-9)."""
        taken, self._unanswered = list(self._unanswered.values()), {}
        return taken

    def take_all(self):
        taken, self._waiting = self.take_unanswered() + list(self._waiting), deque()
        return taken
