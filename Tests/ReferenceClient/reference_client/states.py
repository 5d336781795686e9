"""The states and timers of section 8, and what a client remembers of its connection."""

import enum
from dataclasses import dataclass, field

from .messages.server import Resume


class State(enum.Enum):
    """The states of section 8."""

    DISCONNECTED = "disconnected"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    DISCONNECTING = "disconnecting"


class Attempt(enum.Enum):
    """How far an attempt is, in the states `connecting` and `reconnecting` (RES-13)."""

    WAITING = "waiting"
    OPENING = "opening"
    JOINING = "connecting"
    LISTING = "listing"


class Timer(enum.Enum):
    """The timers of section 8. The first attempt and the later ones share a timer, because they never run together."""

    ATTEMPT = "attempt"
    SILENCE = "silence"
    WAIT = "wait"
    RETURN = "return"
    GOODBYE = "answer to disconnect"


@dataclass
class Credentials:
    """`token` is the newest token that the server has accepted (CON-12)."""

    api_key: str
    session_id: str
    token: str
    options: dict = field(default_factory=dict)


@dataclass
class Position:
    """The connection that the client resumes, and how far it has read (RES-1)."""

    connection_id: str
    epoch: str
    resume: Resume
    seq: int
    replay_through: int | None
