"""Typing indicators as a receiver reads and shows them (section 15, TYP-1 to TYP-10). Times are seconds."""

from . import chat

TYPE = "typing"
EASEMOB_TYPE = "TypingBegin"
BEGIN, PAUSE, FINISH = "begin", "pause", "finish"
SHOWN_SECONDS = {BEGIN: 10, PAUSE: 15}
MOST_CONNECTIONS = 100
# TYP-3: how long a receiver keeps the number of a connection that it does not show.
NUMBER_SECONDS = 10


def read(signal):
    """The action and its number (None without one), or None if the signal is no typing signal."""
    if signal.type == EASEMOB_TYPE:
        return BEGIN, None
    members = chat.object_of(signal.data) if signal.type == TYPE else None
    if members is None or members.get("action") not in (BEGIN, PAUSE, FINISH):
        return None
    return members["action"], chat.whole_number(members.get("n"), 0, chat.MAX_TYPING_N)


class TypingReceiver:
    """The people that a receiver shows as typing or paused. It never shows its own user (TYP-10)."""

    def __init__(self, own_id, own_user=None):
        self._own_id, self._own_user = own_id, own_user
        self._shown, self._users = {}, {}
        self._last_n = {}

    def received(self, now, signal, connection_count, user=None):
        """A signal of any type, and the user of its connection. `connection_count` includes the receiver's own one."""
        sender = signal.sender
        if sender is None or sender == self._own_id or user is not None and user == self._own_user:
            return
        self._users[sender] = user
        if message := chat.read(signal):
            self._message(now, sender, message)
        elif typing := read(signal):
            is_allowed = signal.to is not None or connection_count <= MOST_CONNECTIONS
            if is_allowed:
                self._typing(now, sender, *typing)

    def destroyed(self, connection_id):
        """TYP-9."""
        self._shown.pop(connection_id, None)
        self._last_n.pop(connection_id, None)
        self._users.pop(connection_id, None)

    def connection_lost(self):
        """TYP-9: the receiver shows no typing until new signals arrive."""
        self._shown.clear()

    def shown(self, now):
        """What to show, by connection id: `begin` or `pause`."""
        self._shown = {id: (action, end) for id, (action, end) in self._shown.items() if now < end}
        return {id: action for id, (action, _) in self._shown.items()}

    def people(self, now):
        """What to show, as `shown`, but with one connection for each user. A user who types anywhere is typing."""
        shown, people = self.shown(now), {}
        for id, action in sorted(shown.items(), key=lambda each: each[1] != BEGIN):
            user = self._users[id]
            people.setdefault(("user", user) if user is not None else ("guest", id), (id, action))
        return dict(people.values())

    @property
    def deadline(self):
        """The next time at which something shown expires."""
        return min((end for _, end in self._shown.values()), default=None)

    def _typing(self, now, sender, action, n):
        if n is not None:
            if n <= self._last(now, sender):
                return
            self._last_n[sender] = n, now + SHOWN_SECONDS.get(action, 0) + NUMBER_SECONDS
        if action == FINISH:
            self._shown.pop(sender, None)
        else:
            self._shown[sender] = (action, now + SHOWN_SECONDS[action])

    def _message(self, now, sender, message):
        """TYP-5: a message ends the typing, unless a signal after the message has arrived before it."""
        n = message.typing_n
        if n is None or self._last(now, sender) <= n:
            self._shown.pop(sender, None)
            if n is not None:
                self._last_n[sender] = n, now + NUMBER_SECONDS

    def _last(self, now, sender):
        """The last number of the connection, or -1 if there is none or the receiver has forgotten it (TYP-3)."""
        n, kept_until = self._last_n.get(sender, (-1, now))
        return n if now < kept_until else -1
