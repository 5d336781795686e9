"""Error codes (section 10), close codes (section 11), and the reasons of a departure (PRES-2)."""

import enum

CLIENT_DISCONNECTED = "clientDisconnected"
FORCE_DISCONNECTED = "forceDisconnected"
NETWORK_DISCONNECTED = "networkDisconnected"


class ErrorCode(enum.IntEnum):
    """The codes of section 10. A client passes on a code that it does not know as a plain number."""

    INVALID_PARAMETER = 400
    NOT_PERMITTED = 403
    NOT_FOUND = 404
    TOO_LONG = 413
    RATE_LIMIT_EXCEEDED = 429
    NOT_CONNECTED = 500
    AUTHENTICATION_ERROR = 1004
    INVALID_SESSION_ID = 1005
    CONNECT_FAILED = 1006
    NOT_CONNECTED_TO_FORCE = 1010
    UNKNOWN_CONNECTION = 1011
    ILLEGAL_STATE = 1015
    CONNECTION_LIMIT_EXCEEDED = 1027
    NOT_A_MODERATOR = 1520
    BANNED = 1570
    UNEXPECTED_SERVER_RESPONSE = 2001


class CloseCode(enum.IntEnum):
    """The close codes that the client sends or gives a meaning of their own."""

    GOODBYE = 1000
    HEARTBEAT_MISSED = 4001
    FORCE_DISCONNECTED = 4502


# The standard codes that mean "you may come back" (CLOSE-1).
_STANDARD_CODES_TO_COME_BACK = frozenset({1001, 1005, 1006, 1012, 1013, 1014})


def may_come_back(close_code):
    """CLOSE-1: whether a client may come back after the server or the network ended its socket with this code."""
    return close_code in _STANDARD_CODES_TO_COME_BACK or 3000 <= close_code < 4500
