"""The reference client (Tests/ReferenceClient) on the shared vectors of users and of what keeps a client from writing."""

import json
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "ReferenceClient"))

from reference_client.messages.connection import Connection  # noqa: E402
from reference_client.messages.moderation import restriction  # noqa: E402
from reference_client.own_restrictions import OwnRestrictions  # noqa: E402
from reference_client.users import UserJoined, UserLeft, Users  # noqa: E402


def cases(folder):
    return [
        pytest.param(case, id=case["name"])
        for path in sorted((TESTS / "Vectors" / folder).glob("*.json"))
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
    ]


def connection(step):
    return Connection(step["id"], 0, "", step.get("user"))


@pytest.mark.parametrize("case", cases("users"))
def test_users(case):
    """USR-3."""
    users = Users()
    for number, step in enumerate(case["steps"]):
        match step["do"]:
            case "entered":
                events = users.replace(map(connection, step["connections"]))
            case "created":
                events = users.created(connection(step))
            case "destroyed":
                events = users.destroyed(step["id"])
            case "ended":
                users, events = Users(), []
        where = f"step {number}: {step}"
        for name, kind in (("left", UserLeft), ("joined", UserJoined)):
            if name in step:
                assert [event.user for event in events if isinstance(event, kind)] == step[name], where
        if "users" in step:
            present = [{"user": user, "connections": list(ids)} for user, ids in users.present.items()]
            assert present == step["users"], where


@pytest.mark.parametrize("case", cases("restrictions"))
def test_own_restrictions(case):
    """MOD-2, MOD-4, MOD-5, ERR-1."""
    own = OwnRestrictions()
    for number, step in enumerate(case["steps"]):
        now = step["at"]
        match step["do"]:
            case "entered":
                own.entered(map(restriction, step.get("restrictions", [])), step.get("moderator", False))
            case "restricted":
                own.restricted(restriction(step["restriction"]))
            case "unrestricted":
                own.unrestricted(step["kind"])
            case "refused":
                own.refused(now, restriction(step["restriction"]), step.get("retryAfter"))
        where = f"step {number}: {step}"
        if "holds" in step:
            assert own.hold(now) == [restriction(each) for each in step["holds"]], where
        if "next" in step:
            assert own.next_end(now) == step["next"], where
