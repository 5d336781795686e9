"""The promises of docs/PROTOCOL.md section 2 over sockets that are cut: one story, judged by each of them.

G4 and G5 have stories of their own: test_resume.py, test_restart.py, test_time_and_load.py, test_rate_limits.py.
"""

import asyncio
import json
import random

import pytest

from server_process import Server
from signalbox_client import Client
from test_resume import come_back

PEOPLE, ROUNDS, SEED = 4, 40, 20


class Person:
    """Says numbered things, is cut off now and then, comes back, and says again what was not answered."""

    def __init__(self, name, server, session):
        self.name, self.server, self.session = name, server, session
        self.random = random.Random(f"{SEED} {name}")
        self.client = None
        self.last = 0
        self.typed = 0
        self.typing_acked = 0
        self.unanswered = {}
        self.outcomes = []
        # What it noted.
        self.said, self.acknowledged, self.heard, self.presence, self.typing, self.late = [], {}, [], [], [], []

    async def join(self):
        self.client = await Client.join(self.server, self.session, data=self.name)
        self.last = self.client.connected["seq"]

    async def say(self):
        text = f"{self.name} {len(self.said)}"
        self.said.append(text)
        message = {"op": "signal", "id": next(self.client.ids), "type": "chat", "data": text}
        self.unanswered[message["id"]] = message
        await self.client.send(json.dumps(message))
        return message["id"]

    async def type(self):
        """Answered like any other; not said again, whatever becomes of it."""
        self.typed += 1
        n = self.typed
        answer, events = await self.client.signal(type="typing", data=str(n), onlineOnly=True)
        self.note_all([*events, answer])
        assert answer["ev"] == "ack" and "seq" not in answer
        self.typing_acked = n

    def note_all(self, events):
        for event in events:
            match event["ev"]:
                case "signal" if "seq" in event:
                    self.last = event["seq"]
                    self.heard.append((event["seq"], event["from"], event["data"]))
                case "signal":
                    self.typing.append((event["from"], int(event["data"])))
                case "ack":
                    message = self.unanswered.pop(event["id"], None)
                    if message:
                        self.acknowledged[message["data"]] = event["seq"]
                case _:
                    self.last = event.get("seq", self.last)
                    self.presence.append(event)

    async def hear_until_answered(self, request):
        answer, events = await self.client.answer(request)
        self.note_all([*events, answer])

    async def cut(self, others):
        """What it had not read is gone; what it had said may have arrived or not."""
        self.client.socket.transport.abort()
        missed = {other.client.id: other.typing_acked for other in others}
        old = self.client
        self.client = await come_back(self.server, self.session, old, after=self.last, token=self.server.project.token(self.session, data=self.name))
        self.outcomes.append(self.client.connected["outcome"])
        self.late.append((len(self.typing), missed))
        again = list(self.unanswered.values())
        for message in again:
            await self.client.send(json.dumps(message))
        if again:
            await self.hear_until_answered(again[-1]["id"])

    async def live(self, others):
        for _ in range(ROUNDS):
            for _ in range(self.random.randrange(3)):
                await self.say()
            if self.random.random() < 0.3:
                await self.type()
            if self.random.random() < 0.3:
                await self.cut(others)
            else:
                await self.hear_until_answered(await self.say())

    async def hear_the_end(self, count):
        while sum(data.startswith("end ") for _, _, data in self.heard) < count:
            self.note_all([await self.client.next()])


@pytest.fixture(scope="module")
def story():
    async def tell(server):
        session = server.project.session()
        people = [Person(f"p{number}", server, session) for number in range(PEOPLE)]
        for person in people:
            await person.join()
        # From here on nobody comes or goes.
        await people[-1].client.signal(type="chat", data="begin")
        for person in people:
            while not person.heard and person is not people[-1]:
                person.note_all([await person.client.next()])
            person.heard, person.presence = [], []
        await asyncio.gather(*(person.live([other for other in people if other is not person]) for person in people))
        for person in people:
            answer, events = await person.client.signal(type="chat", data=f"end {person.name}")
            person.note_all([*events, answer])
        for person in people:
            await person.hear_the_end(PEOPLE)
        for person in people:
            await person.client.leave()
        return people

    with Server("--signal-rate", "0") as server:
        people = asyncio.run(asyncio.wait_for(tell(server), 60))
    assert sum(len(person.outcomes) for person in people) >= PEOPLE * ROUNDS / 10, "they were cut off, often"
    return people


def test_g_1_everybody_has_one_and_the_same_order(story):
    longest = [event for event in story[0].heard if not event[2].startswith("begin")]
    seqs = [seq for seq, _, _ in longest]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "no presence between, and none is missing"
    for person in story:
        assert person.heard == longest


def test_g_2_what_is_acknowledged_is_in_the_order_where_the_acknowledgement_says(story):
    places = {data: seq for seq, _, data in story[0].heard}
    for person in story:
        assert person.unanswered == {} and list(person.acknowledged) == person.said
        for data, seq in person.acknowledged.items():
            assert places[data] == seq


def test_g_3_each_signal_once_however_often_it_was_said_and_whoever_was_away(story):
    said = sorted(text for person in story for text in person.said)
    for person in story:
        assert set(person.outcomes) == {"resumed"}
        assert sorted(data for _, _, data in person.heard if not data.startswith("end ")) == said
        # In the order in which each said it.
        for other in story:
            assert [data for _, sender, data in person.heard if sender == other.client.id][:-1] == other.said


def test_g_6_online_only_signals_come_at_most_once_in_order_and_never_late(story):
    count = 0
    for person in story:
        for other in story:
            numbers = [n for sender, n in person.typing if sender == other.client.id]
            assert numbers == sorted(set(numbers))
            count += len(numbers)
            if person is other:
                continue
            for heard_before, missed in person.late:
                after = [n for sender, n in person.typing[heard_before:] if sender == other.client.id]
                assert all(n > missed[other.client.id] for n in after), "it was typed while they were away"
    assert count > 0


def test_g_7_nobody_sees_the_others_come_or_go(story):
    assert [person.presence for person in story] == [[]] * PEOPLE


def test_g_8_each_signal_is_from_who_sent_it(story):
    names = {person.client.id: person.name for person in story}
    assert all(data.split()[0] in (names[sender], "end") for _, sender, data in story[0].heard)
    assert len(names) == PEOPLE, "a resume keeps the connection"
