"""A client in the session, as the server describes it (section 1)."""

from dataclasses import dataclass

from .members import member


@dataclass(frozen=True)
class Connection:
    """`data` is the connection data of its token, and `user` the user of its token; a guest's is None (USR-2)."""

    id: str
    creation_time: int
    data: str
    user: str | None = None


def connection(value):
    return Connection(
        member(value, "connectionId", str),
        member(value, "creationTime", int),
        member(value, "data", str, ""),
        member(value, "user", str, None),
    )
