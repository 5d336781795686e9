"""The users of the session, whose presence a client derives from the connections (USR-3)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class UserJoined:
    user: str


@dataclass(frozen=True)
class UserLeft:
    user: str


class Users:
    """Returns the events that the program has to learn. A user is present from the first connection to the last."""

    def __init__(self):
        self._connections = {}

    @property
    def present(self):
        """The ids of the connections of each user. Users and ids are in the order in which they have come."""
        return {user: tuple(ids) for user, ids in self._connections.items()}

    def replace(self, connections):
        """The list of `new`, `recovered` or `lost`: a user of the old list and of the new has neither left nor joined."""
        old, self._connections = self._connections, {}
        for connection in connections:
            self._add(connection)
        left = [UserLeft(user) for user in old if user not in self._connections]
        return left + [UserJoined(user) for user in self._connections if user not in old]

    def created(self, connection):
        return [UserJoined(connection.user)] if self._add(connection) else []

    def destroyed(self, connection_id):
        for user, ids in self._connections.items():
            if connection_id in ids:
                ids.remove(connection_id)
                return [] if ids else self._left(user)
        return []

    def _left(self, user):
        del self._connections[user]
        return [UserLeft(user)]

    def _add(self, connection):
        """Whether this connection is the first of its user. A guest is nobody."""
        if connection.user is None:
            return False
        ids = self._connections.setdefault(connection.user, [])
        if connection.id not in ids:
            ids.append(connection.id)
            return len(ids) == 1
        return False
