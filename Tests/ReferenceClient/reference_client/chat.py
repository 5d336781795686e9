"""Chat messages as a receiver reads them (section 15, CHAT-1 to CHAT-5)."""

from dataclasses import dataclass

from .messages import lines

TYPE = "text-chat"
BARE_TEXT_TYPE = "TextChat"
MAX_LOCAL_ID_BYTES = 64
MAX_TYPING_N = 2**53 - 1
# The last instant that a date of JavaScript can hold. A `sentOn` beyond it counts as absent.
MAX_SENT_ON = 8_640_000_000_000_000


@dataclass(frozen=True)
class Message:
    """`author` is a connection id, or None if it is unknown, and `user` that connection's user. `sent_on` is in ms
    since 1970. Messages of one user have one author, whatever the connection (CHAT-4).

    The alias is what the sender states. A name to show needs the data and the user of the connection before it (CHAT-4).
    """

    text: str
    author: str | None
    alias: str | None = None
    sent_on: int | None = None
    local_id: str | None = None
    typing_n: int | None = None
    user: str | None = None


def read(signal, user=None):
    """The message of a Signal of this user (None: a guest), or None if it is none."""
    if signal.type == BARE_TEXT_TYPE:
        return None if signal.data is None else Message(signal.data, signal.sender, user=user)
    members = object_of(signal.data) if signal.type == TYPE else None
    if members is None or not isinstance(members.get("text"), str):
        return None
    sender = members.get("sender")
    sender = sender if isinstance(sender, dict) else {}
    return Message(
        text=members["text"],
        author=signal.sender if signal.sender is not None else _text(sender.get("id")),
        alias=_text(sender.get("alias")) or None,
        sent_on=_instant(members.get("sentOn")),
        local_id=_local_id(members.get("localId")),
        typing_n=whole_number(members.get("typingN"), 0, MAX_TYPING_N),
        user=user,
    )


def object_of(data):
    """The JSON object in the data of a signal, or None."""
    try:
        return lines.decode(data or "")
    except lines.MalformedLine:
        return None


def whole_number(value, lowest, highest):
    """The integer in these bounds, which may be written with a fraction of zero; None for every other value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1:
        return None
    return int(value) if lowest <= value <= highest else None


def _text(value):
    return value if isinstance(value, str) else None


def _local_id(value):
    return value if isinstance(value, str) and 0 < len(value.encode()) <= MAX_LOCAL_ID_BYTES else None


def _instant(value):
    """A fraction of a millisecond is cut off (CHAT-3)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -MAX_SENT_ON <= value <= MAX_SENT_ON:
        return None
    return int(value // 1)


class OnceEach:
    """Shows a message of another connection once, however often it arrives (CHAT-5)."""

    def __init__(self):
        self._seen = set()

    def is_new(self, message):
        key = (message.author, message.local_id)
        if message.local_id is None or message.author is None:
            return True
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new
