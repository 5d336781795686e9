"""The messages of section 18: what holds, what has begun and ended, and what moderators have done."""

from dataclasses import dataclass

from .members import member, objects, optional_object

BAN, MUTE, FREEZE = "ban", "mute", "freeze"


@dataclass(frozen=True)
class Moderator:
    """The connection of a moderator, and the moderator's user if there is one (MOD-6)."""

    connection_id: str
    user: str | None


@dataclass(frozen=True)
class Restriction:
    """MOD-2. `until` is in ms since 1970, and None if the restriction holds until it is lifted.

    `ref`, `user`, `connection_id`, `by` and `time` are for moderators alone.
    """

    kind: str
    until: int | None = None
    reason: str | None = None
    ref: int | None = None
    user: str | None = None
    connection_id: str | None = None
    by: Moderator | None = None
    time: int | None = None


@dataclass(frozen=True)
class Restrictions:
    """The answer to `restrictions` with this id (MOD-6)."""

    id: int
    restrictions: tuple[Restriction, ...]


@dataclass(frozen=True)
class Restricted:
    """The client may not signal from now on (MOD-5)."""

    seq: int
    restriction: Restriction


@dataclass(frozen=True)
class Unrestricted:
    seq: int
    kind: str


@dataclass(frozen=True)
class Moderated:
    """An action of a moderator or of REST, for which `by` is None (MOD-6)."""

    seq: int
    action: str
    user: str | None = None
    connection_id: str | None = None
    ref: int | None = None
    until: int | None = None
    reason: str | None = None
    erases_messages: bool = False
    by: Moderator | None = None


def restriction(value):
    return Restriction(
        kind=member(value, "kind", str),
        until=member(value, "until", int, None),
        reason=member(value, "reason", str, None),
        ref=member(value, "ref", int, None),
        user=member(value, "user", str, None),
        connection_id=member(value, "connectionId", str, None),
        by=optional_object(value, "by", _moderator),
        time=member(value, "time", int, None),
    )


def _moderator(value):
    return Moderator(member(value, "connectionId", str), member(value, "user", str, None))


def _moderated(message):
    return Moderated(
        seq=member(message, "seq", int),
        action=member(message, "action", str),
        user=member(message, "user", str, None),
        connection_id=member(message, "connectionId", str, None),
        ref=member(message, "ref", int, None),
        until=member(message, "until", int, None),
        reason=member(message, "reason", str, None),
        erases_messages=member(message, "eraseMessages", bool, False),
        by=optional_object(message, "by", _moderator),
    )


PARSERS = {
    "restrictions": lambda message: Restrictions(
        member(message, "id", int), objects(message, "restrictions", restriction)
    ),
    "restricted": lambda message: Restricted(member(message, "seq", int), restriction(message)),
    "unrestricted": lambda message: Unrestricted(member(message, "seq", int), member(message, "kind", str)),
    "moderated": _moderated,
}
