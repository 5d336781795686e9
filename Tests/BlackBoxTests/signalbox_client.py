"""A client of `signalbox.v1`, written from docs/PROTOCOL.md. Every wait has a deadline."""

import asyncio
import collections
import contextlib
import itertools
import json

import websockets
from websockets.asyncio.client import connect as websocket

from planted_secrets import plant

# A wait that takes longer has failed. It is long, so that it suits a busy machine; a test that passes does not wait.
DEADLINE = 60
SUBPROTOCOL = "signalbox.v1"


class Client:
    """A client that reads all the time, and answers each `ping` when it arrives.

    So it never misses a heartbeat (HB-3), even while the test is busy.
    """

    def __init__(self, socket):
        self.socket = socket
        self.ids = itertools.count(1)
        self.answers_pings = True
        self.connected = None
        # Text messages so far; those that only contain an answered `ping` do not count.
        self.message_count = 0
        self._received = asyncio.Queue()
        # What `history` has read and not answered with. `next` returns it first.
        self._set_aside = collections.deque()
        self._end = None
        self._reader = asyncio.create_task(self._read())

    async def _read(self):
        try:
            while True:
                message = await self.socket.recv()
                assert isinstance(message, str), "WIRE-2: text only"
                events = [json.loads(line) for line in message.split("\n") if line]
                self.message_count += any(not self._answers(event) for event in events)
                for event in events:
                    await self._accept(event)
        except Exception as end:
            self._end = end
        self._received.put_nowait(None)

    def _answers(self, event):
        return event.get("ev") == "ping" and self.answers_pings

    async def _accept(self, event):
        assert isinstance(event.get("ev"), str), event
        if event["ev"] == "connected" and isinstance(event.get("resume"), dict):
            plant(event["resume"].get("secret"))
        if self._answers(event):
            # The events before a close can still be read, but no pong can be sent any more.
            try:
                await self.socket.send('{"op":"pong"}')
            except websockets.ConnectionClosed:
                pass
        else:
            self._received.put_nowait(event)

    # Connect

    @classmethod
    async def open(cls, server, query="", **options):
        """A socket that is not connected to a session yet. The query of its URL may name one."""
        options = {
            "subprotocols": [SUBPROTOCOL], "max_size": 16 << 20, "ping_interval": None, "compression": None
        } | options
        url = f"ws{'s' if server.tls else ''}://{server.host}:{server.port}/v1/signaling{query}"
        if server.tls:
            options["ssl"] = server.tls
        return cls(await asyncio.wait_for(websocket(url, proxy=None, open_timeout=None, **options), DEADLINE))

    @classmethod
    async def join(
        cls, server, session, role="publisher", data=None, token=None, key=None, options=None, socket=None, project=None
    ):
        """A client that is connected to the session."""
        project = project or server.project
        client = await cls.open(server, **(socket or {}))
        members = {"options": options} if options else {}
        token = token or project.token(session, role, data)
        request = await client.request("connect", apiKey=key or project.key, sessionId=session, token=token, **members)
        client.connected = await client.expect("connected", id=request)
        return client

    @classmethod
    async def denied(cls, server, session, token, key=None):
        """The error that the server answers a `connect` with."""
        async with await cls.open(server) as client:
            request = await client.request("connect", apiKey=key or server.project.key, sessionId=session, token=token)
            return await client.expect("error", id=request)

    @property
    def id(self):
        return self.connected["connection"]["connectionId"]

    @property
    def me(self):
        return self.connected["connection"]

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await asyncio.wait_for(self.socket.close(), DEADLINE)
        await self._reader

    # Send

    async def send(self, text):
        """Sends text or bytes as they are."""
        await asyncio.wait_for(self.socket.send(text), DEADLINE)

    async def request(self, op, **members):
        """Sends a request, and returns its id."""
        request = next(self.ids)
        if op == "signal":
            plant(members.get("data"))
        await self.send(json.dumps({"op": op, "id": request} | members))
        return request

    async def signal(self, **members):
        """Sends a signal, and returns the answer and the events before it."""
        return await self.answer(await self.request("signal", **members))

    # Receive

    async def next(self, timeout=DEADLINE):
        """The next object; an answered `ping` is not reported. Raises the reason when the connection has ended."""
        if self._set_aside:
            return self._set_aside.popleft()
        event = await asyncio.wait_for(self._received.get(), timeout)
        if event is None:
            self._received.put_nowait(None)
            raise self._end
        return event

    async def expect(self, ev, timeout=DEADLINE, **members):
        """Requires the next object to have these members, and returns it. Other members are not checked."""
        event = await self.next(timeout)
        assert {"ev": ev} | members == {name: event.get(name) for name in {"ev"} | members.keys()}, event
        return event

    async def answer(self, request, timeout=DEADLINE):
        """The answer to a request, and the events before it."""
        events = []
        while True:
            event = await self.next(timeout)
            if event["ev"] in ("ack", "error", "connected", "history", "restrictions") and event.get("id") == request:
                return event, events
            events.append(event)

    async def history(self, **members):
        """Reads a page of the history, and returns it, or the error. Keeps the objects before it: a page may come before
        the answers to earlier requests (HIS-7)."""
        page, events = await self.answer(await self.request("history", **members))
        self._set_aside.extend(events)
        return page

    async def refused(self, code, name, request=None, **members):
        """Requires the next object to be this error, and returns it."""
        event = await self.expect("error", code=code, name=name, **members)
        assert event.get("id") == request, event
        assert isinstance(event["message"], str) and event["message"], event
        assert isinstance(event["retryable"], bool), event
        return event

    async def closed(self, timeout=DEADLINE):
        """Waits until the connection is closed: the server's close code, and the objects before it."""
        events = []
        try:
            while True:
                events.append(await self.next(timeout))
        except websockets.ConnectionClosed as closed:
            return (closed.rcvd.code if closed.rcvd else None), events

    async def leave(self):
        """Disconnects, and waits for the end."""
        request = await self.request("disconnect")
        await self.answer(request)
        code, _ = await self.closed()
        assert code == 1000


class Bystander(Client):
    """A client that the faults of other clients must not affect."""

    async def is_unaffected(self, *but):
        """Requires that signals are still delivered, and that nothing came before except presence of the connections
        `but`."""
        answer, events = await self.signal(type="bystander", data="still here")
        assert answer["ev"] == "ack", answer
        presence = ("connectionCreated", "connectionDestroyed")
        others = [event for event in events if event["ev"] not in presence or presence_id(event) not in but]
        assert others == [
            {"ev": "signal", "seq": answer["seq"], "from": self.id, "type": "bystander", "data": "still here"}
        ], events
        return events


async def join_all(server, sessions, **options):
    """A client in each of the sessions. A few at a time: each has ten seconds for its handshake, and as long for its
    `connect` (CON-2). One that is late on a busy machine comes again."""

    async def join(session):
        while True:
            with contextlib.suppress(websockets.InvalidMessage, websockets.ConnectionClosed):
                return await Client.join(server, session, **options)

    clients = []
    for first in range(0, len(sessions), 20):
        clients += await asyncio.gather(*map(join, sessions[first : first + 20]))
    return clients


def presence_id(event):
    return event.get("connectionId") or event["connection"]["connectionId"]


def connect_line(server, session, **members):
    """A `connect` request as text, for tests that send bytes. `members` replace its members."""
    return json.dumps(
        {
            "op": "connect",
            "id": 1,
            "apiKey": server.project.key,
            "sessionId": session,
            "token": server.project.token(session),
        }
        | members
    )


async def refuses(server, session, code, name, **members):
    """Requires that the server refuses a `connect` with this error, and closes with 4501 (CON-3)."""
    async with await Client.open(server) as client:
        members = {"apiKey": server.project.key, "sessionId": session, "token": server.project.token(session)} | members
        request = await client.request("connect", **{k: v for k, v in members.items() if v is not None})
        await client.refused(code, name, request, retryable=False)
        close, events = await client.closed()
        assert close == 4501
        assert [event["ev"] for event in events] in ([], ["disconnected"])


async def reconnect(server, session, old, after, secret=None, answers_pings=True, **members):
    """Connects with the resume ticket of `old`, and keeps counting its request ids."""
    client = await Client.open(server)
    client.answers_pings = answers_pings
    client.ids = old.ids
    resume = {
        "connectionId": old.id, "secret": secret or old.connected["resume"]["secret"],
        "epoch": old.connected["epoch"], "after": after,
    }
    request = await client.request(
        "connect", apiKey=server.project.key, sessionId=session, resume=resume,
        **{"token": server.project.token(session)} | members,
    )
    client.connected, events = await client.answer(request)
    assert events == [], "RES-4: no event comes before `connected`"
    return client
