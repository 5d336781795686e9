"""Chat and typing of the reference client: the shared vectors, and a receiver of section 15 of docs/PROTOCOL.md."""

import json
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "ReferenceClient"))

from reference_client import chat, typing_indicator  # noqa: E402
from reference_client.messages.server import Signal  # noqa: E402
from reference_client.typing_indicator import BEGIN, PAUSE, TypingReceiver  # noqa: E402


def cases(path):
    return json.loads((TESTS / "Vectors" / path).read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", cases("chat/received.json"), ids=lambda case: case["name"])
def test_chat_message(case):
    """CHAT-1 to CHAT-4."""
    given, expected = case["signal"], case["message"]
    message = chat.read(Signal(1, given.get("from"), given.get("type", ""), given.get("data")), given.get("user"))
    if expected is None:
        assert message is None
        return
    assert message is not None
    assert message.text == expected["text"]
    assert message.author == expected["senderId"]
    assert message.user == expected.get("user")
    assert message.local_id == expected["localId"]
    data_of_sender = (given.get("senderData") or None) if given.get("from") else None
    assert (message.alias if message.alias is not None else data_of_sender) == expected["alias"]
    assert (message.sent_on if message.sent_on is not None else case["now"]) == expected["sentAt"]


@pytest.mark.parametrize("case", cases("typing/signals-read.json"), ids=lambda case: case["name"])
def test_typing_signal(case):
    """TYP-1, TYP-4, TYP-6."""
    read = typing_indicator.read(Signal(None, "ada", case.get("type", ""), case.get("data")))
    expected = case["read"]
    assert read == (expected and (expected["action"], expected.get("n")))


# The receiver shows nobody for longer than TYP-7 demands, so it follows the scripts without `linger`.
RECEIVER_INPUTS = {"connected", "signal", "messageReceived", "connectionDestroyed"}
RECEIVER_SCRIPTS = [
    case
    for path in ("21-message-ends-typing", "23-late-and-twice", "24-one-begin-lost", "35-users")
    for case in cases(f"typing/{path}.json")
    if case["policy"] == {"preset": "standard", "linger": None}
    and all(step["do"] in RECEIVER_INPUTS and "late" not in step for step in case["steps"])
]


def snapshots(case):
    """What the receiver shows after each step and each expiry, as `[at, typing, paused]`, whenever it changes."""
    receiver, found = TypingReceiver("me"), []
    # Who uses a connection: of guests, those with one name are one person, and a user keeps the first name.
    people, first_names = {}, {}

    def look(now):
        shown = receiver.people(now / 1000)
        state = [
            [name for _, name in dict.fromkeys(people[id] for id in shown if shown[id] == action)]
            for action in (BEGIN, PAUSE)
        ]
        if state != (found[-1][1:] if found else [[], []]):
            found.append([now, *state])

    for step in [*case["steps"], {"at": case["until"], "do": None}]:
        while (end := receiver.deadline) is not None and end * 1000 <= step["at"]:
            look(round(end * 1000))
        sender = step.get("from")
        match step["do"]:
            case "connected":
                receiver = TypingReceiver(step["id"], step.get("userId"))
            case "signal":
                user, name = step.get("userId"), step.get("user", sender)
                people[sender] = (None, name) if user is None else (sender, first_names.setdefault(user, name))
                data = {"action": step["action"]} | ({"n": step["n"]} if "n" in step else {})
                receiver.received(step["at"] / 1000, Signal(None, sender, "typing", json.dumps(data)), 2, user)
            case "messageReceived":
                data = {"text": "x"} | ({"typingN": step["typingN"]} if "typingN" in step else {})
                receiver.received(step["at"] / 1000, Signal(9, sender, "text-chat", json.dumps(data)), 2)
            case "connectionDestroyed":
                receiver.destroyed(step["id"])
        look(step["at"])
    return found


@pytest.mark.parametrize("case", RECEIVER_SCRIPTS, ids=lambda case: case["name"])
def test_typing_receiver(case):
    """TYP-3, TYP-5, TYP-7, TYP-9, TYP-10."""
    assert snapshots(case) == case["snapshots"]


def test_a_receiver_shows_neither_itself_nor_a_crowd():
    """TYP-8, TYP-10: a directed signal is exempt from the limit of 100 connections."""
    begin = '{"action":"begin"}'
    receiver = TypingReceiver("me")
    receiver.received(0, Signal(None, "me", "typing", begin), 2)
    receiver.received(0, Signal(None, "ada", "typing", begin), 101)
    assert receiver.shown(0) == {}
    receiver.received(0, Signal(None, "ada", "typing", begin, to="me"), 101)
    assert receiver.shown(0) == {"ada": BEGIN}
    receiver.connection_lost()
    assert receiver.shown(0) == {}


def test_a_message_sent_again_is_shown_once():
    """CHAT-5."""
    signal = Signal(1, "ada", "text-chat", '{"text":"hi","localId":"7"}')
    once = chat.OnceEach()
    assert [once.is_new(chat.read(signal)) for _ in range(2)] == [True, False]
