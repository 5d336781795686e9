"""The connections of the session, and which of them are away (CON-5, RES-5, PRES-4, PRES-5)."""

from .codes import NETWORK_DISCONNECTED
from .messages.server import ConnectionAway, ConnectionBack, ConnectionCreated, ConnectionDestroyed


class Roster:
    """Returns the events that the program has to learn."""

    def __init__(self):
        self.connections = {}
        # The connections that the program knows as away, and those that are away by the server's word.
        self._reported, self._away = set(), set()

    def replace(self, connections, own_ids):
        """The list of `new`, `recovered` or `lost` (RES-5). The program learns the difference as presence events.

        The client's own connections, the old one and the new one, cause no events (PRES-1).
        """
        old, self.connections = self.connections, {connection.id: connection for connection in connections}
        self._reported &= self.connections.keys()
        left = [id for id in old if id not in self.connections and id not in own_ids]
        joined = [connection for id, connection in self.connections.items() if id not in old and id not in own_ids]
        return [ConnectionDestroyed(None, id, NETWORK_DISCONNECTED) for id in left] + [
            ConnectionCreated(None, connection) for connection in joined
        ]

    def away(self, ids, replay_changes_list):
        """The list `away` of `connected`, which is the state after the replay.

        Only the replay after `resumed` has presence events. The returns then wait for `replay_ended` (PRES-5).
        """
        self._away = set(ids or ())
        back = [] if replay_changes_list else self._known_as_back()
        return back + self._known_as_away()

    def replay_ended(self):
        return self._known_as_back()

    def created(self, message):
        """A connection that is known already causes no second event (G7)."""
        connection = message.connection
        known = connection.id in self.connections
        self.connections[connection.id] = connection
        return [] if known else [message, *self._known_as_away()]

    def destroyed(self, message):
        """The end of a connection that is not known causes no event (G7)."""
        self._reported.discard(message.connection_id)
        self._away.discard(message.connection_id)
        return [message] if self.connections.pop(message.connection_id, None) else []

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
