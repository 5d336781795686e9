"""The reference client (Tests/ReferenceClient) on the shared scripts of Tests/Vectors/client.

Each script names its rule. Tests/Vectors/README.md describes the form of a script.
"""

import json
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "ReferenceClient"))

from reference_client import effects  # noqa: E402
from reference_client.messages import server as messages  # noqa: E402
from reference_client.messages.history import Erased, HistoryPage  # noqa: E402
from reference_client.machine import Machine  # noqa: E402
from reference_client.messages.moderation import Moderated, Restricted, Unrestricted  # noqa: E402
from reference_client.requests import Request  # noqa: E402
from reference_client.socket import url_of  # noqa: E402
from reference_client.states import Attempt, Credentials, State  # noqa: E402
from reference_client.users import UserJoined, UserLeft  # noqa: E402


def is_its(script):
    """No system stops the reference client: it has no part in the scripts of pages and apps that are stopped."""
    return "pageStored" not in script.read_text()


SCRIPTS = [each for each in sorted((TESTS / "Vectors/client").glob("*.json")) if is_its(each)]
SOCKET, RESULT, EVENT = "socket", "result", "event"

# The scripts are those of a client library, which takes the list of connections in pages and asks for absences.
OPTIONS = {"connectionPages": True}
DEFAULT_OPTIONS = {"connectionEventsSuppressed": False, "connectionPages": False, "connectionAwayEvents": False}


class Script:
    """The state machine as a script drives it."""

    def __init__(self, script):
        self.machine = Machine(random=lambda: script.get("random", 0.5))
        self.newest = 0
        # The ids of the client's own connections.
        self.own = set()
        # The calls whose results have a seq in the scripts.
        self.moderating = set()

    def give(self, now, given):
        machine, socket = self.machine, given.get("socket", self.newest)
        match given["is"]:
            case "connect":
                options = dict(OPTIONS, **given.get("options", {}))
                credentials = Credentials(given["apiKey"], given["sessionId"], given["token"], options)
                return machine.connect(now, credentials)
            case "signal" | "forceDisconnect" | "refreshToken" as op:
                requests = [self.request(op, call, given) for call in self.calls(given)]
                return [effect for request in requests for effect in machine.request(now, request)]
            case "history" | "erase" | "moderate" as op:
                self.moderating |= {given["call"]} if op == "moderate" else set()
                return machine.request(now, Request(given["call"], op, given["message"]))
            case "restrictions" as op:
                return machine.request(now, Request(given["call"], op))
            case "disconnect":
                return machine.disconnect(now)
            case "socketOpened":
                return machine.socket_opened(now, socket)
            case "received":
                match given["message"]:
                    case {"ev": "connected", "connection": {"connectionId": own}}:
                        self.own.add(own)
                return machine.received(now, socket, json.dumps(given["message"]))
            case "socketClosed":
                return machine.socket_closed(now, socket, given["code"])
            case "networkBack":
                return machine.network_is_back(now)
            case "time":
                return machine.advance(now)
            case other:
                raise AssertionError(f"the input {other} is unknown")

    @staticmethod
    def calls(given):
        times = given.get("times")
        return [f"{given['call']}-{number}" for number in range(1, times + 1)] if times else [given["call"]]

    @staticmethod
    def request(op, call, given):
        names = {"type", "data", "to", "onlineOnly", "connectionId", "token"}
        members = {name: value for name, value in given.items() if name in names}
        return Request(call, op, members, retries=given.get("retryAfterReconnect", True))

    def written(self, produced):
        """The effects in the words of a script, in three groups whose order does not matter."""
        groups = {SOCKET: [], RESULT: [], EVENT: []}
        for effect in produced:
            if isinstance(effect, (UserJoined, UserLeft)):
                continue  # Tests/Vectors/users has the rules of these events.
            group, words = self.words(effect)
            if not self.is_own_presence(words):
                groups[group].append(words)
        return groups

    def is_own_presence(self, words):
        """Scripts list the presence of the client's own connections too. This client does not report it (PRES-1)."""
        presence = words.get("name") in ("connectionCreated", "connectionDestroyed")
        return presence and words["connectionId"] in self.own

    def words(self, effect):
        event = {"is": "event"}
        match effect:
            case effects.OpenSocket(socket):
                self.newest = socket
                return SOCKET, {"is": "openSocket"}
            case effects.Send(_, message):
                return SOCKET, {"is": "send", "message": without_defaults(message)}
            case effects.CloseSocket(_, code):
                return SOCKET, {"is": "closeSocket", "code": code}
            case effects.ConnectSucceeded(connection_id, outcome):
                return EVENT, {"is": "connected", "connectionId": connection_id, "outcome": outcome}
            case effects.ConnectFailed(code):
                return EVENT, {"is": "connectFailed", "code": code} | because(effect)
            case effects.Succeeded(call, seq):
                words = {"is": "succeeded", "call": call}
                return RESULT, words | ({"seq": seq} if call in self.moderating else {})
            case effects.RestrictionsRead(call, restrictions):
                read = [f"{restriction.kind} {restriction.ref}" for restriction in restrictions]
                return RESULT, {"is": "succeeded", "call": call, "restrictions": read}
            case effects.PageRead(call, page):
                return RESULT, {"is": "succeeded", "call": call, "page": seqs(page)}
            case effects.Failed(call, code):
                return RESULT, {"is": "failed", "call": call, "code": code} | because(effect)
            case effects.Reconnecting():
                return EVENT, event | {"name": "reconnecting"}
            case effects.Reconnected(outcome, connection_id, missing):
                words = event | {"name": "reconnected", "outcome": outcome, "connectionId": connection_id}
                return EVENT, words | ({"missing": dict(zip(("first", "last"), missing))} if missing else {})
            case effects.Ended(reason, restriction):
                return EVENT, event | present(
                    name="disconnected", reason=reason, restriction=restriction and restriction.kind
                )
            case messages.Signal():
                sender = effect.sender_connection
                words = {"name": "signal", "from": effect.sender, "type": effect.type, "data": effect.data}
                return EVENT, event | present(**words, senderData=sender and sender.data)
            case HistoryPage():
                return EVENT, event | {"name": "history", "page": seqs(effect)}
            case Erased(seq, ref, through, user):
                before = None if user is None else seq
                return EVENT, event | present(name="erased", ref=ref, through=through, user=user, before=before)
            case Moderated(seq, action, user):
                return EVENT, event | present(name="moderated", seq=seq, action=action, user=user)
            case Restricted(_, restriction):
                members = {"kind": restriction.kind, "until": restriction.until, "reason": restriction.reason}
                return EVENT, event | present(name="restricted", **members)
            case Unrestricted(_, kind):
                return EVENT, event | {"name": "unrestricted", "kind": kind}
            case messages.ConnectionCreated(_, connection):
                return EVENT, event | {"name": "connectionCreated", "connectionId": connection.id}
            case messages.ConnectionDestroyed(_, connection_id, reason):
                return EVENT, event | {"name": "connectionDestroyed", "connectionId": connection_id, "reason": reason}
            case messages.ConnectionAway(connection_id):
                return EVENT, event | {"name": "connectionAway", "connectionId": connection_id}
            case messages.ConnectionBack(connection_id):
                return EVENT, event | {"name": "connectionBack", "connectionId": connection_id}

    def expected(self, listed):
        groups = {SOCKET: [], RESULT: [], EVENT: []}
        for words in listed:
            match words["is"]:
                case "send":
                    first = words["message"]
                    for number in range(words.get("times", 1)):
                        message = first | ({"id": first["id"] + number} if "id" in first else {})
                        groups[SOCKET].append({"is": "send", "message": without_defaults(message)})
                case "openSocket" | "closeSocket":
                    groups[SOCKET].append(words)
                case "succeeded" | "failed":
                    groups[RESULT] += [
                        {name: value for name, value in words.items() if name != "times"} | {"call": call}
                        for call in self.calls(words)
                    ]
                case "event" if self.is_own_presence(words):
                    pass
                case _:
                    groups[EVENT].append(present(**words))
        return groups

    def state(self):
        machine = self.machine
        if machine.attempt is None:
            return machine.state.value
        step = Attempt.JOINING if machine.attempt is Attempt.LISTING else machine.attempt
        return step.value if machine.state is State.CONNECTING else f"{machine.state.value}/{step.value}"


def present(**words):
    """The words that have a value."""
    return {name: value for name, value in words.items() if value not in (None, "")}


def because(failure):
    """The words for what forbids a request."""
    restriction = failure.restriction
    return present(restriction=restriction and restriction.kind, retryAfter=failure.retry_after)


def seqs(page):
    return [message.seq for message in page.messages]


def without_defaults(message):
    """A message with its default members left out."""
    options = {name: value for name, value in message.get("options", {}).items() if value != DEFAULT_OPTIONS.get(name)}
    rest = {name: value for name, value in message.items() if name != "options"}
    if not rest.get("onlineOnly"):
        rest.pop("onlineOnly", None)
    return rest | ({"options": options} if options else {})


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script(path):
    given = json.loads(path.read_text(encoding="utf-8"))
    script = Script(given)
    for number, step in enumerate(given["steps"]):
        produced = script.written(script.give(step["at"] / 1000, step["input"]))
        where = f"step {number} at {step['at']} ms: {step['input']}"
        assert produced == script.expected(step["expect"]), where
        assert script.state() == step["state"], where


def test_a_suspended_client_listens_for_one_more_heartbeat():
    """HB-3: its timer fires late, so the silence may be its own."""
    script = Script({})
    steps = json.loads((TESTS / "Vectors/client/silence-is-a-loss.json").read_text(encoding="utf-8"))["steps"]
    for step in steps[:3]:
        script.written(script.give(step["at"] / 1000, step["input"]))
    machine = script.machine
    due = machine.deadline
    heartbeat = machine.session.heartbeat_seconds
    assert machine.advance(due + 1000) == [] and machine.state is State.CONNECTED
    assert machine.deadline == due + 1000 + heartbeat
    machine.advance(machine.deadline)
    assert machine.state is State.RECONNECTING


ADDRESSES = json.loads((TESTS / "Vectors/addresses/sessions.json").read_text())["cases"]


@pytest.mark.parametrize("case", ADDRESSES, ids=lambda case: case["name"])
def test_the_session_is_in_the_address(case):
    """WIRE-17"""
    assert url_of("ws://box.example", case["sessionId"]) == "ws://box.example/v1/signaling" + case["query"]
