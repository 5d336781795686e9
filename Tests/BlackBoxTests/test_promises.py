"""The promises of docs/PROTOCOL.md, section 2, over sockets that are cut: one scenario, whose record each test checks.

G4 and G5 have tests of their own: test_resume.py, test_restart.py, test_back_pressure.py, test_rate_limits.py.
"""

import asyncio
import json
import random

import pytest

from server_process import Server
from signalbox_client import Client, reconnect

MEMBER_COUNT, ROUNDS, SEED = 4, 40, 20


class Member:
    """A user of a client: sends numbered signals, loses the socket now and then, resumes, and repeats unanswered
    requests."""

    def __init__(self, name, server, session):
        self.name, self.server, self.session = name, server, session
        self.random = random.Random(f"{SEED} {name}")
        self.client = None
        self.last_seq = 0
        self.typing_count = 0
        self.acknowledged_typing_count = 0
        self.unanswered = {}
        # The record.
        self.outcomes = []
        self.sent, self.acknowledged, self.received, self.presence, self.typing, self.cuts = [], {}, [], [], [], []

    async def join(self):
        self.client = await Client.join(self.server, self.session, data=self.name)
        self.last_seq = self.client.connected["seq"]

    async def send(self):
        text = f"{self.name} {len(self.sent)}"
        self.sent.append(text)
        message = {"op": "signal", "id": next(self.client.ids), "type": "chat", "data": text}
        self.unanswered[message["id"]] = message
        await self.client.send(json.dumps(message))
        return message["id"]

    async def type(self):
        """Sends a typing signal, which is answered like any other, and never repeated."""
        self.typing_count += 1
        number = self.typing_count
        answer, events = await self.client.signal(type="typing", data=str(number), onlineOnly=True)
        self.record([*events, answer])
        assert answer["ev"] == "ack" and "seq" not in answer
        self.acknowledged_typing_count = number

    def record(self, events):
        for event in events:
            match event["ev"]:
                case "signal" if "seq" in event:
                    self.last_seq = event["seq"]
                    self.received.append((event["seq"], event["from"], event["data"]))
                case "signal":
                    self.typing.append((event["from"], int(event["data"])))
                case "ack":
                    message = self.unanswered.pop(event["id"], None)
                    if message:
                        self.acknowledged[message["data"]] = event["seq"]
                case _:
                    self.last_seq = event.get("seq", self.last_seq)
                    self.presence.append(event)

    async def receive_answer(self, request):
        answer, events = await self.client.answer(request)
        self.record([*events, answer])

    async def cut(self, others):
        """Loses the socket, with all events not read yet, and resumes.

        The requests that were sent may have arrived or not.
        """
        self.client.socket.transport.abort()
        missed = {other.client.id: other.acknowledged_typing_count for other in others}
        token = self.server.project.token(self.session, data=self.name)
        self.client = await reconnect(self.server, self.session, self.client, after=self.last_seq, token=token)
        self.outcomes.append(self.client.connected["outcome"])
        self.cuts.append((len(self.typing), missed))
        repeated = list(self.unanswered.values())
        for message in repeated:
            await self.client.send(json.dumps(message))
        if repeated:
            await self.receive_answer(repeated[-1]["id"])

    async def run(self, others):
        for _ in range(ROUNDS):
            for _ in range(self.random.randrange(3)):
                await self.send()
            if self.random.random() < 0.3:
                await self.type()
            if self.random.random() < 0.3:
                await self.cut(others)
            else:
                await self.receive_answer(await self.send())

    async def receive_ends(self, count):
        while sum(data.startswith("end ") for _, _, data in self.received) < count:
            self.record([await self.client.next()])


@pytest.fixture(scope="module")
def members():
    async def scenario(server):
        session = server.project.session()
        members = [Member(f"p{number}", server, session) for number in range(MEMBER_COUNT)]
        for member in members:
            await member.join()
        # No member joins or leaves between this signal and the last one.
        await members[-1].client.signal(type="chat", data="begin")
        for member in members:
            while not member.received and member is not members[-1]:
                member.record([await member.client.next()])
            member.received, member.presence = [], []
        await asyncio.gather(*(member.run([other for other in members if other is not member]) for member in members))
        for member in members:
            answer, events = await member.client.signal(type="chat", data=f"end {member.name}")
            member.record([*events, answer])
        for member in members:
            await member.receive_ends(MEMBER_COUNT)
        for member in members:
            await member.client.leave()
        return members

    with Server("--signal-rate", "0") as server:
        members = asyncio.run(asyncio.wait_for(scenario(server), 240))
    assert sum(len(member.outcomes) for member in members) >= MEMBER_COUNT * ROUNDS / 10, "the sockets are cut often"
    return members


def test_g_1_every_client_receives_the_same_order(members):
    order = [event for event in members[0].received if not event[2].startswith("begin")]
    seqs = [seq for seq, _, _ in order]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "no presence event between, and no signal missing"
    for member in members:
        assert member.received == order


def test_g_2_each_acknowledged_signal_has_the_acknowledged_seq(members):
    seqs = {data: seq for seq, _, data in members[0].received}
    for member in members:
        assert member.unanswered == {} and list(member.acknowledged) == member.sent
        for data, seq in member.acknowledged.items():
            assert seqs[data] == seq


def test_g_3_each_signal_is_received_once_however_often_it_was_sent(members):
    sent = sorted(text for member in members for text in member.sent)
    for member in members:
        assert set(member.outcomes) == {"resumed"}
        assert sorted(data for _, _, data in member.received if not data.startswith("end ")) == sent
        # The signals of each sender are in its order.
        for other in members:
            assert [data for _, sender, data in member.received if sender == other.client.id][:-1] == other.sent


def test_g_6_online_only_signals_come_at_most_once_in_order_and_never_late(members):
    count = 0
    for member in members:
        for other in members:
            numbers = [number for sender, number in member.typing if sender == other.client.id]
            assert numbers == sorted(set(numbers))
            count += len(numbers)
            if member is other:
                continue
            for received_before, missed in member.cuts:
                after = [number for sender, number in member.typing[received_before:] if sender == other.client.id]
                is_new = all(number > missed[other.client.id] for number in after)
                assert is_new, "it was sent while the member was away"
    assert count > 0


def test_g_7_a_short_loss_shows_no_presence_event(members):
    assert [member.presence for member in members] == [[]] * MEMBER_COUNT


def test_g_8_from_is_the_connection_that_sent_the_signal(members):
    names = {member.client.id: member.name for member in members}
    assert all(data.split()[0] in (names[sender], "end") for _, sender, data in members[0].received)
    assert len(names) == MEMBER_COUNT, "a resume keeps the connection"
