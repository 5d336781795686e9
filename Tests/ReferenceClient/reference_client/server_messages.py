"""The messages of the server. `parse` checks the form of each member that a client reads; it ignores all others."""

from dataclasses import dataclass, field
from typing import Any


class UnexpectedMessage(ValueError):
    """A message that the protocol does not allow."""


@dataclass(frozen=True)
class Connection:
    """A client in the session. `data` is the connection data of its token."""

    id: str
    creation_time: int
    data: str


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
class HistoryMessage:
    """A kept signal; `sender` is None for one through REST, and `type` and `data` are None for an erased one."""

    seq: int
    sender: Connection | None
    type: str | None
    data: str | None
    is_json: bool
    time: int
    is_erased: bool


@dataclass(frozen=True)
class HistoryPage:
    """The answer to `history` with this id. `first` and `last` are None if the whole history is empty (HIS-6)."""

    id: int
    first: int | None
    last: int | None
    more: bool
    messages: tuple[HistoryMessage, ...]


@dataclass(frozen=True)
class HistoryFailed:
    """The server cannot read the page (HIS-5)."""

    id: int
    code: int


@dataclass(frozen=True)
class Erased:
    """One of `ref` and `through` is None (HIS-9)."""

    seq: int
    ref: int | None
    through: int | None


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
    id: int | None
    code: int
    name: str
    message: str
    retryable: bool


@dataclass(frozen=True)
class Ping:
    seq: int


@dataclass(frozen=True)
class Disconnected:
    reason: str
    reconnect: bool
    reconnect_after: Any = field(default=None)


OUTCOMES = ("new", "resumed", "recovered", "lost")

_REQUIRED = object()
_NUMBER = (int, float)


def parse(message):
    """The message of a decoded line, or None if its `ev` is unknown (WIRE-6). Raises UnexpectedMessage."""
    parser = _PARSERS.get(_member(message, "ev", str))
    return parser(message) if parser else None


def _member(message, name, kind, default=_REQUIRED):
    value = message.get(name, default)
    if value is _REQUIRED:
        raise UnexpectedMessage(f"{message.get('ev')} without {name}")
    if value is default:
        return value
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise UnexpectedMessage(f"{name} of {message.get('ev')} has the wrong type")
    return value


def _connection(value):
    if not isinstance(value, dict):
        raise UnexpectedMessage("a connection is an object")
    return Connection(
        _member(value, "connectionId", str), _member(value, "creationTime", int), _member(value, "data", str, "")
    )


def _connections(message):
    return tuple(map(_connection, _member(message, "connections", list)))


def _connected(message):
    offer = _member(message, "resume", dict)
    outcome = _member(message, "outcome", str)
    if outcome not in OUTCOMES:
        raise UnexpectedMessage(f"outcome {outcome}")
    missing = _member(message, "missing", dict, None)
    away = _member(message, "away", list, None)
    return Connected(
        id=_member(message, "id", int),
        connection=_connection(_member(message, "connection", dict)),
        connections=_connections(message),
        connection_count=_member(message, "connectionCount", int, None),
        capabilities=_member(message, "capabilities", dict, {}),
        role=_member(message, "role", str, ""),
        epoch=_member(message, "epoch", str),
        seq=_member(message, "seq", int),
        outcome=outcome,
        resume=Resume(
            _member(offer, "secret", str),
            _member(offer, "resumeSeconds", _NUMBER),
            _member(offer, "recoverySeconds", _NUMBER),
        ),
        heartbeat_seconds=_member(message, "heartbeatSeconds", _NUMBER),
        limits=_member(message, "limits", dict, {}),
        replay_through=_member(message, "replayThrough", int, None),
        missing=missing and (_member(missing, "first", int), _member(missing, "last", int)),
        away=None if away is None else tuple(_text(id) for id in away),
        history=_member(message, "history", bool, False),
    )


def _text(value):
    if not isinstance(value, str):
        raise UnexpectedMessage("a connection id is a string")
    return value


def _signal(message):
    connection = _member(message, "connection", dict, None)
    sender = message.get("from", _REQUIRED)
    return Signal(
        seq=_member(message, "seq", int, None),
        sender=None if sender is None else _member(message, "from", str),
        type=_member(message, "type", str, ""),
        data=_member(message, "data", str, None),
        to=_member(message, "to", str, None),
        is_json=_member(message, "json", bool, False),
        sender_connection=connection and _connection(connection),
    )


def _history(message):
    id, error = _member(message, "id", int), _member(message, "error", dict, None)
    if error is not None:
        return HistoryFailed(id, _member(error, "code", int))
    first, last = _member(message, "first", int, None), _member(message, "last", int, None)
    if (first is None) is not (last is None) or first is not None and first > last:
        raise UnexpectedMessage("the range of a history is malformed")
    messages = tuple(map(_history_message, _member(message, "messages", list)))
    return HistoryPage(id, first, last, _member(message, "more", bool, False), messages)


def _history_message(value):
    if not isinstance(value, dict):
        raise UnexpectedMessage("a message of a history is an object")
    connection, is_erased = _member(value, "connection", dict, None), _member(value, "erased", bool, False)
    return HistoryMessage(
        seq=_member(value, "seq", int),
        sender=None if connection is None else _connection(connection),
        type=None if is_erased else _member(value, "type", str, None),
        data=None if is_erased else _member(value, "data", str, None),
        is_json=_member(value, "json", bool, False),
        time=_member(value, "time", int),
        is_erased=is_erased,
    )


def _erased(message):
    ref, through = _member(message, "ref", int, None), _member(message, "through", int, None)
    if (ref is None) is (through is None):
        raise UnexpectedMessage("an erasure has either ref or through")
    return Erased(_member(message, "seq", int), ref, through)


_PARSERS = {
    "connected": _connected,
    "connections": lambda message: ConnectionsPage(_connections(message), _member(message, "rest", int)),
    "signal": _signal,
    "history": _history,
    "erased": _erased,
    "connectionCreated": lambda message: ConnectionCreated(
        _member(message, "seq", int), _connection(_member(message, "connection", dict))
    ),
    "connectionDestroyed": lambda message: ConnectionDestroyed(
        _member(message, "seq", int), _member(message, "connectionId", str), _member(message, "reason", str)
    ),
    "connectionAway": lambda message: ConnectionAway(_member(message, "connectionId", str)),
    "connectionBack": lambda message: ConnectionBack(_member(message, "connectionId", str)),
    "ack": lambda message: Ack(_member(message, "id", int), _member(message, "seq", int, None)),
    "error": lambda message: Error(
        _member(message, "id", int, None),
        _member(message, "code", int),
        _member(message, "name", str, ""),
        _member(message, "message", str, ""),
        _member(message, "retryable", bool, False),
    ),
    "ping": lambda message: Ping(_member(message, "seq", int)),
    "disconnected": lambda message: Disconnected(
        _member(message, "reason", str), _member(message, "reconnect", bool), message.get("reconnectAfter")
    ),
}
