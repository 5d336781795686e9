"""A client on asyncio: it opens sockets, reads a clock, and does what the state machine says."""

import asyncio
import random
import time

from . import effects
from .machine import Machine
from .messages import lines
from .messages.moderation import Restricted, Unrestricted
from .own_restrictions import OwnRestrictions
from .requests import Request
from .socket import Socket, url_of
from .states import Credentials


class RequestFailed(Exception):
    """A request has failed, with a code of section 10, and because of a restriction with the restriction (ERR-1)."""

    def __init__(self, code, restriction=None, retry_after=None):
        super().__init__(f"the request failed with code {code}")
        self.code, self.restriction, self.retry_after = code, restriction, retry_after


class Client:
    """One client of one server. Its coroutines run on one event loop.

    `url` is the address without a path, such as `ws://127.0.0.1:8080`. `events` is the queue of what the program
    learns: the messages Signal, ConnectionCreated, ConnectionDestroyed, ConnectionAway, ConnectionBack, Erased,
    Moderated, Restricted, Unrestricted and the HistoryPage that the connect asked for, UserJoined and UserLeft, and the
    effects Reconnecting, Reconnected and Ended.
    """

    def __init__(self, url, random=random.random):
        self._server = url
        self._url = None
        self._machine = Machine(random)
        self._sockets = {}
        self._timer = None
        self._connecting = None
        self._calls = {}
        self._last_call = 0
        self._is_over = False
        self._own_restrictions = OwnRestrictions()
        self.events = asyncio.Queue()

    @property
    def connections(self):
        """The connections of the session by their id, in the order of CON-5."""
        return self._machine.roster.connections

    @property
    def users(self):
        """The users of the session with the ids of their connections."""
        return self._machine.users.present

    @property
    def own_restrictions(self):
        """What keeps this client from signaling now, the restriction that holds longest first."""
        return self._own_restrictions.hold(self._wall_clock())

    @property
    def session(self):
        """The last `connected` message."""
        return self._machine.session

    @property
    def state(self):
        return self._machine.state

    async def connect(self, api_key, session_id, token, **options):
        """Connects, and returns the client's connection id. Raises RequestFailed.

        The options are those of the protocol: connectionEventsSuppressed, connectionPages, connectionAwayEvents, history.
        """
        answer = asyncio.get_running_loop().create_future()
        earlier, self._connecting = self._connecting, answer
        self._url = url_of(self._server, session_id)
        self._perform(self._machine.connect(self._now(), Credentials(api_key, session_id, token, options)))
        if answer.done():
            self._connecting = earlier
        return await answer

    def signal(self, type=None, data=None, to=None, json=None, online_only=None):
        """Sends a signal, and returns a future for its seq (None for an online-only signal) or RequestFailed."""
        members = {"type": type, "data": data, "to": to, "json": json, "onlineOnly": online_only}
        return self._request("signal", {name: value for name, value in members.items() if value is not None})

    def force_disconnect(self, connection_id):
        return self._request("forceDisconnect", {"connectionId": connection_id})

    def refresh_token(self, token):
        return self._request("refreshToken", {"token": token})

    def history(self, before=None, after=None, limit=None):
        """Reads a page, and returns a future for its HistoryPage or RequestFailed. Pages may come out of order (HIS-7)."""
        members = {"before": before, "after": after, "limit": limit}
        return self._request("history", {name: value for name, value in members.items() if value is not None})

    def erase(self, ref=None, through=None, user=None):
        members = {"ref": ref, "through": through, "user": user}
        return self._request("erase", {name: value for name, value in members.items() if value is not None})

    def moderate(self, action, **members):
        """Moderates, and returns a future for the seq of the action or RequestFailed. The members are those of MOD-1."""
        return self._request("moderate", {"action": action, **members})

    def restrictions(self):
        """Reads what holds in the session, and returns a future for the restrictions or RequestFailed."""
        return self._request("restrictions", {})

    def disconnect(self):
        """Leaves the session. `events` ends with Ended."""
        self._perform(self._machine.disconnect(self._now()))

    def network_is_back(self):
        self._perform(self._machine.network_is_back(self._now()))

    def cut(self):
        """Ends the TCP connections without a close frame, as a failing network does."""
        for socket in list(self._sockets.values()):
            socket.cut()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        """Ends the timer and all sockets, whatever the state."""
        self._is_over = True
        if self._timer:
            self._timer.cancel()
        await asyncio.gather(*(socket.end() for socket in list(self._sockets.values())))

    def _request(self, op, members):
        self._last_call += 1
        call, answer = self._last_call, asyncio.get_running_loop().create_future()
        self._calls[call] = answer
        self._perform(self._machine.request(self._now(), Request(call, op, members)))
        return answer

    @staticmethod
    def _now():
        return asyncio.get_running_loop().time()

    @staticmethod
    def _wall_clock():
        """The time in ms since 1970."""
        return time.time() * 1000

    def _perform(self, performed):
        for effect in performed:
            self._note_restrictions(effect)
            match effect:
                case effects.OpenSocket(socket):
                    self._open(socket)
                case effects.Send(socket, message):
                    self._sockets[socket].send(lines.encode(message))
                case effects.CloseSocket(socket, code):
                    self._sockets[socket].close(code)
                case effects.ConnectSucceeded(connection_id):
                    self._connecting.set_result(connection_id)
                case effects.ConnectFailed():
                    self._connecting.set_exception(_failure(effect))
                case effects.Succeeded(call, seq):
                    self._calls.pop(call).set_result(seq)
                case effects.PageRead(call, page):
                    self._calls.pop(call).set_result(page)
                case effects.RestrictionsRead(call, restrictions):
                    self._calls.pop(call).set_result(restrictions)
                case effects.Failed(call):
                    self._calls.pop(call).set_exception(_failure(effect))
                case event:
                    self.events.put_nowait(event)
        self._set_timer()

    def _note_restrictions(self, effect):
        match effect:
            case effects.ConnectSucceeded() | effects.Reconnected():
                session = self._machine.session
                self._own_restrictions.entered(session.restrictions, session.role == "moderator")
            case Restricted(_, restriction):
                self._own_restrictions.restricted(restriction)
            case Unrestricted(_, kind):
                self._own_restrictions.unrestricted(kind)
            case effects.Failed(restriction=restriction) if restriction:
                self._own_restrictions.refused(self._wall_clock(), restriction, effect.retry_after)

    def _open(self, number):
        machine, now = self._machine, self._now

        def closed(code):
            del self._sockets[number]
            if not self._is_over:
                self._perform(machine.socket_closed(now(), number, code))

        self._sockets[number] = Socket(
            self._url,
            opened=lambda: self._perform(machine.socket_opened(now(), number)),
            received=lambda text: self._perform(machine.received(now(), number, text)),
            closed=closed,
        )

    def _set_timer(self):
        if self._timer:
            self._timer.cancel()
        deadline = self._machine.deadline
        loop = asyncio.get_running_loop()
        self._timer = None if deadline is None else loop.call_at(deadline, self._advance)

    def _advance(self):
        self._perform(self._machine.advance(self._now()))


def _failure(effect):
    return RequestFailed(effect.code, effect.restriction, effect.retry_after)
