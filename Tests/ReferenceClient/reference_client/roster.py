"""The connections of the session, and which of them are away (CON-5, RES-5, PRES-4, PRES-5)."""

from .server_messages import ConnectionAway, ConnectionBack


class Roster:
    """Returns the absences that the program has to learn: ConnectionAway and ConnectionBack."""

    def __init__(self):
        self.connections = {}
        # The connections that the program knows as away, and those that are away by the server's word.
        self._reported, self._away = set(), set()

    def replace(self, connections, away):
        """The list of `new`, `recovered` or `lost`."""
        self.connections = {connection.id: connection for connection in connections}
        self._away = set(away or ())
        self._reported &= self.connections.keys()
        return self._known_as_away() + self._known_as_back()

    def resumed(self, away):
        """The list stays. `away` is the state after the replay, so `replay_ended` reports the returns (PRES-5)."""
        self._away = set(away or ())
        return self._known_as_away()

    def replay_ended(self):
        return self._known_as_back()

    def created(self, connection):
        self.connections[connection.id] = connection
        return self._known_as_away()

    def destroyed(self, id):
        for known in (self._reported, self._away):
            known.discard(id)
        return self.connections.pop(id, None)

    def went_away(self, id):
        self._away.add(id)
        return self._known_as_away()

    def came_back(self, id):
        self._away.discard(id)
        if id not in self._reported:
            return []
        self._reported.remove(id)
        return [ConnectionBack(id)]

    def _known_as_away(self):
        new = [id for id in self.connections if id in self._away and id not in self._reported]
        self._reported.update(new)
        return [ConnectionAway(id) for id in new]

    def _known_as_back(self):
        back = [id for id in self.connections if id in self._reported and id not in self._away]
        self._reported.difference_update(back)
        return [ConnectionBack(id) for id in back]
