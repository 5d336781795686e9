"""The messages of the server; those of the sections 16 and 18 are in `history` and `moderation`. `parse` checks the form of each member that a client reads; it ignores all others."""

from dataclasses import dataclass, field
from typing import Any

from . import history, moderation
from .connection import Connection, connection
from .members import NUMBER, UnexpectedMessage, checked, member, objects, optional_object
from .moderation import Restriction, restriction


@dataclass(frozen=True)
class Resume:
    """The offer to come back (CON-7). The windows are in seconds."""

    secret: str
    resume_seconds: float
    recovery_seconds: float

    @property
    def longest_window(self):
        return max(self.resume_seconds, self.recovery_seconds)


@dataclass(frozen=True)
class Connected:
    id: int
    connection: Connection
    connections: tuple[Connection, ...]
    connection_count: int | None
    capabilities: dict
    role: str
    epoch: str
    seq: int
    outcome: str
    resume: Resume
    heartbeat_seconds: float
    limits: dict
    replay_through: int | None
    missing: tuple[int, int] | None
    away: tuple[str, ...] | None
    history: bool
    restrictions: tuple[Restriction, ...]


@dataclass(frozen=True)
class ConnectionsPage:
    connections: tuple[Connection, ...]
    rest: int


@dataclass(frozen=True)
class Signal:
    """`seq` is None for an online-only signal, `sender` is None for a signal through REST."""

    seq: int | None
    sender: str | None
    type: str
    data: str | None
    to: str | None = None
    is_json: bool = False
    sender_connection: Connection | None = None


@dataclass(frozen=True)
class ConnectionCreated:
    seq: int
    connection: Connection


@dataclass(frozen=True)
class ConnectionDestroyed:
    seq: int
    connection_id: str
    reason: str


@dataclass(frozen=True)
class ConnectionAway:
    connection_id: str


@dataclass(frozen=True)
class ConnectionBack:
    connection_id: str


@dataclass(frozen=True)
class Ack:
    id: int
    seq: int | None


@dataclass(frozen=True)
class Error:
    """`retry_after` is the time in ms until `restriction` ends by itself (ERR-1)."""

    id: int | None
    code: int
    name: str
    message: str
    retryable: bool
    restriction: Restriction | None = None
    retry_after: float | None = None


@dataclass(frozen=True)
class Ping:
    seq: int


@dataclass(frozen=True)
class Disconnected:
    reason: str
    reconnect: bool
    reconnect_after: Any = field(default=None)
    restriction: Restriction | None = None


OUTCOMES = ("new", "resumed", "recovered", "lost")


def parse(message):
    """The message of a decoded line, or None if its `ev` is unknown (WIRE-6). Raises UnexpectedMessage."""
    parser = _PARSERS.get(member(message, "ev", str))
    return parser(message) if parser else None


def _connected(message):
    offer = member(message, "resume", dict)
    outcome = member(message, "outcome", str)
    if outcome not in OUTCOMES:
        raise UnexpectedMessage(f"outcome {outcome}")
    away = member(message, "away", list, None)
    restrictions = member(message, "restrictions", list, None)
    return Connected(
        id=member(message, "id", int),
        connection=connection(member(message, "connection", dict)),
        connections=objects(message, "connections", connection),
        connection_count=member(message, "connectionCount", int, None),
        capabilities=member(message, "capabilities", dict, {}),
        role=member(message, "role", str, ""),
        epoch=member(message, "epoch", str),
        seq=member(message, "seq", int),
        outcome=outcome,
        resume=Resume(
            member(offer, "secret", str),
            member(offer, "resumeSeconds", NUMBER),
            member(offer, "recoverySeconds", NUMBER),
        ),
        heartbeat_seconds=member(message, "heartbeatSeconds", NUMBER),
        limits=member(message, "limits", dict, {}),
        replay_through=member(message, "replayThrough", int, None),
        missing=optional_object(message, "missing", _missing),
        away=None if away is None else tuple(checked(id, str, "a connection id") for id in away),
        history=member(message, "history", bool, False),
        restrictions=() if restrictions is None else objects(message, "restrictions", restriction),
    )


def _missing(value):
    return member(value, "first", int), member(value, "last", int)


def _signal(message):
    return Signal(
        seq=member(message, "seq", int, None),
        sender=None if message.get("from", "") is None else member(message, "from", str),
        type=member(message, "type", str, ""),
        data=member(message, "data", str, None),
        to=member(message, "to", str, None),
        is_json=member(message, "json", bool, False),
        sender_connection=optional_object(message, "connection", connection),
    )


_PARSERS = {
    **history.PARSERS,
    **moderation.PARSERS,
    "connected": _connected,
    "connections": lambda message: ConnectionsPage(
        objects(message, "connections", connection), member(message, "rest", int)
    ),
    "signal": _signal,
    "connectionCreated": lambda message: ConnectionCreated(
        member(message, "seq", int), connection(member(message, "connection", dict))
    ),
    "connectionDestroyed": lambda message: ConnectionDestroyed(
        member(message, "seq", int), member(message, "connectionId", str), member(message, "reason", str)
    ),
    "connectionAway": lambda message: ConnectionAway(member(message, "connectionId", str)),
    "connectionBack": lambda message: ConnectionBack(member(message, "connectionId", str)),
    "ack": lambda message: Ack(member(message, "id", int), member(message, "seq", int, None)),
    "error": lambda message: Error(
        member(message, "id", int, None),
        member(message, "code", int),
        member(message, "name", str, ""),
        member(message, "message", str, ""),
        member(message, "retryable", bool, False),
        optional_object(message, "restriction", restriction),
        member(message, "retryAfter", NUMBER, None),
    ),
    "ping": lambda message: Ping(member(message, "seq", int)),
    "disconnected": lambda message: Disconnected(
        member(message, "reason", str),
        member(message, "reconnect", bool),
        message.get("reconnectAfter"),
        optional_object(message, "restriction", restriction),
    ),
}
