"""The protocol of a client as a state machine: inputs with a time in seconds, outputs as effects. It has no clock.

Each input returns its effects in order. `deadline` is the next time at which `advance` has work to do.
"""

from .awaited_page import AwaitedPage
from .backoff import BackOff
from .codes import (
    CLIENT_DISCONNECTED,
    FORCE_DISCONNECTED,
    NETWORK_DISCONNECTED,
    CloseCode,
    ErrorCode,
    may_come_back,
)
from .effects import (
    CloseSocket,
    ConnectFailed,
    ConnectSucceeded,
    Ended,
    Failed,
    OpenSocket,
    PageRead,
    Reconnected,
    Reconnecting,
    RestrictionsRead,
    Send,
    Succeeded,
)
from .messages import lines, server
from .messages.history import Erased, HistoryFailed, HistoryPage
from .messages.members import UnexpectedMessage
from .messages.moderation import Moderated, Restricted, Restrictions, Unrestricted
from .messages.server import (
    Ack,
    Connected,
    ConnectionAway,
    ConnectionBack,
    ConnectionCreated,
    ConnectionDestroyed,
    ConnectionsPage,
    Disconnected,
    Error,
    Ping,
    Signal,
)
from .requests import Requests
from .roster import Roster
from .states import Attempt, Position, State, Timer
from .users import Users

ATTEMPT_SECONDS = 15
GOODBYE_SECONDS = 15
SILENT_HEARTBEATS = 2


class Machine:
    def __init__(self, random):
        """`random` returns a number from 0 to 1."""
        self._random = random
        self.state = State.DISCONNECTED
        self.attempt = None
        self.session = None
        self._socket = 0
        self._has_socket = False
        self._timers = {}
        self._effects = []
        self._forget()

    def _forget(self):
        self.roster, self.users = Roster(), Users()
        self._requests = Requests()
        self._credentials = None
        self._position = None
        self._back_off = BackOff()
        self._server_asked_to_wait = False
        self._connect_id = None
        self._page = None
        self._awaited_page = AwaitedPage()

    # Inputs of the program.

    def connect(self, now, credentials):
        if self.state is State.DISCONNECTING:
            self._end(CLIENT_DISCONNECTED)
        if self.state is not State.DISCONNECTED:
            return [ConnectFailed(ErrorCode.ILLEGAL_STATE)]
        self._forget()
        self._credentials = credentials
        self.state = State.CONNECTING
        self._begin_attempt(now)
        return self._take_effects()

    def request(self, now, request):
        """Any request except `connect` and `disconnect`."""
        connected = self.state is State.CONNECTED
        if not connected and self.state is not State.RECONNECTING:
            return [Failed(request.call, request.code_without_connection)]
        if request.ends_with_its_socket and not connected or request.is_online_only and not self._requests.has_room:
            return [Failed(request.call, request.code_without_connection)]
        if self._requests.is_full:
            return [Failed(request.call, ErrorCode.RATE_LIMIT_EXCEEDED)]
        self._requests.add(request)
        self._send_waiting()
        return self._take_effects()

    def disconnect(self, now):
        match self.state:
            case State.DISCONNECTED | State.DISCONNECTING:
                pass
            case State.CONNECTING:
                self._fail_connect(ErrorCode.CONNECT_FAILED)
            case State.RECONNECTING:
                self._end(CLIENT_DISCONNECTED)
            case State.CONNECTED:
                self.state = State.DISCONNECTING
                self._timers = {Timer.GOODBYE: now + GOODBYE_SECONDS}
                self._send({"op": "disconnect", "id": self._requests.next_id()})
        return self._take_effects()

    # Inputs of the network.

    def network_is_back(self, now):
        """The system reports that the network is back. A wait that the server has asked for stays (RES-13)."""
        if self.attempt is Attempt.WAITING and not self._server_asked_to_wait:
            self._begin_attempt(now)
        return self._take_effects()

    def socket_opened(self, now, socket):
        if self._is_current(socket) and self.attempt is Attempt.OPENING:
            self.attempt = Attempt.JOINING
            self._connect_id = self._requests.next_id()
            self._send(self._connect_message())
        return self._take_effects()

    def received(self, now, socket, text):
        """A text message, with one or more lines."""
        for line in lines.split(text):
            if not self._is_current(socket):
                break
            try:
                message = server.parse(lines.decode(line))
                self._heard(now)
                self._handle(now, message)
            except (lines.MalformedLine, UnexpectedMessage):
                self._received_nonsense()
        return self._take_effects()

    def socket_closed(self, now, socket, code):
        """The socket has ended, or could not be opened."""
        if self._is_current(socket):
            self._has_socket = False
            self._socket_ended(now, code)
        return self._take_effects()

    # Time.

    @property
    def deadline(self):
        return min(self._timers.values(), default=None)

    def advance(self, now):
        while self._timers and (timer := min(self._timers, key=self._timers.get)):
            due = self._timers[timer]
            if due > now:
                break
            del self._timers[timer]
            self._ran_out(now, timer, late=now - due)
        return self._take_effects()

    def _ran_out(self, now, timer, late):
        match timer:
            case Timer.ATTEMPT if self.state is State.CONNECTING:
                self._fail_connect(ErrorCode.CONNECT_FAILED)
            case Timer.ATTEMPT:
                self._attempt_failed(now)
            case Timer.SILENCE if late >= self.session.heartbeat_seconds:
                # The machine was asleep: it listens for one more heartbeat (HB-3).
                self._timers[Timer.SILENCE] = now + self.session.heartbeat_seconds
            case Timer.SILENCE:
                self._lost(now)
            case Timer.WAIT:
                self._begin_attempt(now)
            case Timer.RETURN:
                self._end(NETWORK_DISCONNECTED)
            case Timer.GOODBYE:
                self._end(CLIENT_DISCONNECTED)

    # Attempts.

    def _begin_attempt(self, now):
        self._timers.pop(Timer.WAIT, None)
        self.attempt = Attempt.OPENING
        self._socket += 1
        self._has_socket = True
        self._timers[Timer.ATTEMPT] = now + ATTEMPT_SECONDS
        self._effects.append(OpenSocket(self._socket))

    def _connect_message(self):
        credentials = self._credentials
        message = {
            "op": "connect",
            "id": self._connect_id,
            "apiKey": credentials.api_key,
            "sessionId": credentials.session_id,
            "token": credentials.token,
        }
        if credentials.options:
            message["options"] = credentials.options
        if position := self._position:
            message["resume"] = {
                "connectionId": position.connection_id,
                "secret": position.resume.secret,
                "epoch": position.epoch,
                "after": position.seq,
            }
        return message

    def _attempt_failed(self, now, counts=True):
        self._close(CloseCode.HEARTBEAT_MISSED)
        self._timers.pop(Timer.ATTEMPT, None)
        if counts:
            self._back_off.attempt_failed()
        self._wait(now)

    def _wait(self, now):
        self.attempt = Attempt.WAITING
        wait, self._server_asked_to_wait = self._back_off.next_wait(self._random())
        self._timers[Timer.WAIT] = now + wait

    def _lost(self, now):
        """The socket is lost. The client comes back (RES-10)."""
        self._close(CloseCode.HEARTBEAT_MISSED)
        self._fail(self._requests.take_ending_with_socket())
        self._requests.renew_reads()
        window = self._position.resume.longest_window
        if window <= 0:
            self._end(NETWORK_DISCONNECTED)
            return
        self.state = State.RECONNECTING
        self._timers = {Timer.RETURN: now + window}
        self._effects.append(Reconnecting())
        self._wait(now)

    # The ends of sockets and connections.

    def _socket_ended(self, now, code):
        match self.state:
            case State.CONNECTING:
                self._fail_connect(ErrorCode.CONNECT_FAILED)
            case State.DISCONNECTING:
                self._end(CLIENT_DISCONNECTED)
            case _ if not may_come_back(code):
                self._end(FORCE_DISCONNECTED if code == CloseCode.FORCE_DISCONNECTED else NETWORK_DISCONNECTED)
            case State.CONNECTED:
                self._lost(now)
            case State.RECONNECTING:
                self._attempt_failed(now)

    def _close(self, code):
        if self._has_socket:
            self._has_socket = False
            self._effects.append(CloseSocket(self._socket, code))

    def _fail_connect(self, code, restriction=None, retry_after=None):
        self._close(CloseCode.GOODBYE)
        self._disconnected()
        self._effects.append(ConnectFailed(code, restriction, retry_after))

    def _end(self, reason, restriction=None):
        self._close(CloseCode.GOODBYE)
        self._fail(self._requests.take_all())
        self._disconnected()
        self._effects.append(Ended(reason, restriction))

    def _disconnected(self):
        self.state = State.DISCONNECTED
        self.attempt = None
        self._timers = {}

    # Messages of the server.

    def _heard(self, now):
        """Each line is a sign of life (HB-3)."""
        if Timer.SILENCE in self._timers:
            self._timers[Timer.SILENCE] = now + SILENT_HEARTBEATS * self.session.heartbeat_seconds

    def _received_nonsense(self):
        if self.state is State.CONNECTING:
            self._fail_connect(ErrorCode.UNEXPECTED_SERVER_RESPONSE)
        else:
            self._end(CLIENT_DISCONNECTED if self.state is State.DISCONNECTING else NETWORK_DISCONNECTED)

    def _handle(self, now, message):
        match message:
            case None:
                pass
            case Disconnected():
                self._server_says_goodbye(now, message)
            case Connected():
                if self.attempt is Attempt.JOINING:
                    self._joined(now, message)
            case ConnectionsPage():
                if self.attempt is Attempt.LISTING:
                    self._listed(now, message)
            case Error() if self.attempt is Attempt.JOINING and message.id in (None, self._connect_id):
                self._refused(now, message)
            case _ if self.attempt is not None:
                pass  # The server sends nothing else before `connected`.
            case HistoryPage(id) | HistoryFailed(id) if self._awaited_page.takes(id):
                if isinstance(message, HistoryPage):
                    self._effects.append(message)
            case Ack() | HistoryPage() | HistoryFailed() | Restrictions() | Error():
                self._reached(message.seq if isinstance(message, Ack) else None)
                self._answered(message)
            case Ping(seq):
                self._send({"op": "pong"})
                self._reached(seq)
            case (
                Signal(seq)
                | Erased(seq)
                | ConnectionCreated(seq)
                | ConnectionDestroyed(seq)
                | Moderated(seq)
                | Restricted(seq)
                | Unrestricted(seq)
            ):
                if seq is None or seq > self._position.seq:
                    self._effects += self._events(message)
                    self._reached(seq)
            case ConnectionAway(connection_id):
                self._effects += self.roster.went_away(connection_id)
            case ConnectionBack(connection_id):
                self._effects += self.roster.came_back(connection_id)

    def _refused(self, now, error):
        if self.state is State.CONNECTING:
            self._fail_connect(error.code, error.restriction, error.retry_after)
        elif error.retryable:
            self._attempt_failed(now)
        else:
            self._end(NETWORK_DISCONNECTED, error.restriction)

    def _server_says_goodbye(self, now, message):
        """`disconnected` precedes the close, so the client acts at once (LEAVE-4)."""
        match self.state:
            case State.CONNECTING:
                self._fail_connect(ErrorCode.CONNECT_FAILED)
            case State.DISCONNECTING:
                self._end(CLIENT_DISCONNECTED)
            case _ if not message.reconnect:
                self._end(message.reason, message.restriction)
            case state:
                is_asked = self._back_off.server_asks(message.reconnect_after)
                self._lost(now) if state is State.CONNECTED else self._attempt_failed(now, counts=not is_asked)

    def _events(self, message):
        match message:
            case ConnectionCreated(_, connection):
                return self.roster.created(message) + self.users.created(connection)
            case ConnectionDestroyed(_, id):
                return self.roster.destroyed(message) + self.users.destroyed(id)
            case _:
                return [message]

    def _reached(self, seq):
        """The position only grows (RES-1). At the end of the replay, absences that have ended become known (PRES-5)."""
        position = self._position
        if seq is None or seq <= position.seq:
            return
        position.seq = seq
        self._check_replay()

    def _check_replay(self):
        position = self._position
        if position.replay_through is None or position.seq >= position.replay_through:
            position.replay_through = None
            self._effects += self.roster.replay_ended()

    # Answers. A page of the history does not change the position (HIS-4).

    def _answered(self, answer):
        if request := self._requests.answered(answer.id):
            self._effects.append(self._result(request, answer))
            self._send_waiting()

    def _result(self, request, answer):
        match request.op, answer:
            case _, Error(_, code):
                return Failed(request.call, code, answer.restriction, answer.retry_after)
            case "history", HistoryPage():
                return PageRead(request.call, answer)
            case "history", HistoryFailed(_, code):
                return Failed(request.call, code)
            case "restrictions", Restrictions(_, restrictions):
                return RestrictionsRead(request.call, restrictions)
            case op, Ack(_, seq) if not request.is_read:
                if op == "refreshToken":
                    self._credentials.token = request.members["token"]
                return Succeeded(request.call, seq)
            case _:
                return Failed(request.call, ErrorCode.UNEXPECTED_SERVER_RESPONSE)

    # The answer to `connect`.

    def _joined(self, now, message):
        others = (message.connection_count or 1) - 1
        if self._credentials.options.get("connectionPages") and message.outcome != "resumed" and others > 0:
            self._page = (message, list(message.connections))
            self.attempt = Attempt.LISTING
        else:
            self._admitted(now, message, message.connections)

    def _listed(self, now, page):
        message, connections = self._page
        connections += page.connections
        if page.rest == 0:
            self._page = None
            self._admitted(now, message, connections)

    def _admitted(self, now, message, connections):
        """The client is in the session, and has the whole list."""
        first, old = self.state is State.CONNECTING, self._position
        outcome = self._outcome(message)
        self.state, self.attempt, self.session = State.CONNECTED, None, message
        self._back_off = BackOff()
        self._timers = {Timer.SILENCE: now + SILENT_HEARTBEATS * message.heartbeat_seconds}
        seq = max(message.seq, old.seq) if outcome in ("resumed", "recovered") else message.seq
        own_ids = {message.connection.id} | ({old.connection_id} if old else set())
        self._position = Position(message.connection.id, message.epoch, message.resume, seq, message.replay_through)
        if first:
            self.roster.replace(connections, own_ids)
            self._effects.append(ConnectSucceeded(message.connection.id, outcome))
            self._effects += self.users.replace(connections)
        else:
            if outcome != "resumed":
                self._effects += self.roster.replace(connections, own_ids) + self.users.replace(connections)
            missing = message.missing if outcome == "lost" and message.epoch == old.epoch else None
            self._effects.append(Reconnected(outcome, message.connection.id, missing))
        self._effects += self.roster.away(message.away, replay_changes_list=outcome == "resumed")
        if outcome == "resumed":
            self._repeat()
        else:
            self._awaited_page.connected(message, self._credentials.options.get("history"))
            self._fail(self._requests.take_unanswered())
            self._send_waiting()
        self._check_replay()

    def _outcome(self, message):
        """An outcome that does not belong to the resumed connection means that events may be missing."""
        old, outcome = self._position, message.outcome
        if old is None:
            return "new"
        same_epoch = message.epoch == old.epoch
        same_connection = message.connection.id == old.connection_id
        if outcome == "resumed" and same_epoch and same_connection or outcome == "recovered" and same_epoch:
            return outcome
        return "lost"

    def _repeat(self):
        """After `resumed`: the unanswered requests, then those that waited (RES-9).

        A line confirms the secret, so there is a `pong` if there is no request (RES-6).
        """
        unanswered = self._requests.unanswered()
        for id, request in unanswered:
            self._send_request(id, request)
        asks = self._awaited_page.is_missing
        if asks:
            self._send(self._awaited_page.request(self._requests.next_id()))
        if not self._send_waiting() and not unanswered and not asks:
            self._send({"op": "pong"})

    # Sending.

    def _send_waiting(self):
        """Sends what may be sent, and returns whether this was anything."""
        if self.state is not State.CONNECTED:
            return False
        sent = False
        for id, request in self._requests.sendable():
            self._send_request(id, request)
            sent = True
        return sent

    def _send_request(self, id, request):
        self._send({"op": request.op, "id": id, **request.members})

    def _send(self, message):
        self._effects.append(Send(self._socket, message))

    def _fail(self, requests):
        self._effects += [Failed(request.call, request.code_without_connection) for request in requests]

    def _is_current(self, socket):
        return self._has_socket and socket == self._socket

    def _take_effects(self):
        effects, self._effects = self._effects, []
        return effects
