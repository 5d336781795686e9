"""The messages of section 16: pages of the history, and erasures."""

from dataclasses import dataclass

from .connection import Connection, connection
from .members import UnexpectedMessage, member, objects, optional_object


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
    """HIS-9: the message `ref`, all up to `through`, or those of `user` before `seq`. Two of the three are None."""

    seq: int
    ref: int | None
    through: int | None
    user: str | None = None


def _history(message):
    id = member(message, "id", int)
    code = optional_object(message, "error", lambda error: member(error, "code", int))
    if code is not None:
        return HistoryFailed(id, code)
    first, last = member(message, "first", int, None), member(message, "last", int, None)
    if (first is None) is not (last is None) or first is not None and first > last:
        raise UnexpectedMessage("the range of a history is malformed")
    messages = objects(message, "messages", _history_message)
    return HistoryPage(id, first, last, member(message, "more", bool, False), messages)


def _history_message(value):
    is_erased = member(value, "erased", bool, False)
    return HistoryMessage(
        seq=member(value, "seq", int),
        sender=optional_object(value, "connection", connection),
        type=None if is_erased else member(value, "type", str, None),
        data=None if is_erased else member(value, "data", str, None),
        is_json=member(value, "json", bool, False),
        time=member(value, "time", int),
        is_erased=is_erased,
    )


def _erased(message):
    ref, through = member(message, "ref", int, None), member(message, "through", int, None)
    user = member(message, "user", str, None)
    if [ref, through, user].count(None) != 2:
        raise UnexpectedMessage("an erasure has one of ref, through and user")
    return Erased(member(message, "seq", int), ref, through, user)


PARSERS = {"history": _history, "erased": _erased}
