"""The outputs of the state machine. Events of the session are the messages of `messages` themselves."""

from dataclasses import dataclass
from typing import Any

from .messages.history import HistoryPage
from .messages.moderation import Restriction


@dataclass(frozen=True)
class OpenSocket:
    """Open a WebSocket. `socket` names it from now on: 1, 2, 3, …"""

    socket: int


@dataclass(frozen=True)
class Send:
    socket: int
    message: dict


@dataclass(frozen=True)
class CloseSocket:
    socket: int
    code: int


@dataclass(frozen=True)
class ConnectSucceeded:
    connection_id: str
    outcome: str


@dataclass(frozen=True)
class ConnectFailed:
    """`restriction` is the ban, if there is one, and `retry_after` the time in ms until it ends by itself (MOD-3)."""

    code: int
    restriction: Restriction | None = None
    retry_after: float | None = None


@dataclass(frozen=True)
class Succeeded:
    """The server has acknowledged a request. `seq` is None if the request has none."""

    call: Any
    seq: int | None


@dataclass(frozen=True)
class PageRead:
    """The server has answered a `history` request."""

    call: Any
    page: HistoryPage


@dataclass(frozen=True)
class RestrictionsRead:
    """The server has answered a `restrictions` request."""

    call: Any
    restrictions: tuple[Restriction, ...]


@dataclass(frozen=True)
class Failed:
    """`restriction` is what forbids the request, and `retry_after` the time in ms until it ends by itself (ERR-1)."""

    call: Any
    code: int
    restriction: Restriction | None = None
    retry_after: float | None = None


@dataclass(frozen=True)
class Reconnecting:
    """The socket is lost. The client tries to come back."""


@dataclass(frozen=True)
class Reconnected:
    """`missing` is the first and the last seq of the events that are lost for good (RES-16)."""

    outcome: str
    connection_id: str
    missing: tuple[int, int] | None


@dataclass(frozen=True)
class Ended:
    """The connection has ended for good, with a reason of PRES-2, and because of a ban with the ban (MOD-3)."""

    reason: str
    restriction: Restriction | None = None
