"""A client of `signalbox.v1`, written from docs/PROTOCOL.md. Every wait has a deadline."""

import asyncio
import collections
import itertools
import json

import websockets
from websockets.asyncio.client import connect as websocket

DEADLINE = 10
SUBPROTOCOL = "signalbox.v1"


class Client:
    def __init__(self, socket):
        self.socket = socket
        self.ids = itertools.count(1)
        self.lines = collections.deque()
        self.answers_pings = True
        self.connected = None

    # Coming

    @classmethod
    async def open(cls, server, **options):
        """A socket, not yet connected to a session."""
        options = {"subprotocols": [SUBPROTOCOL], "max_size": 16 << 20, "ping_interval": None, "compression": None} | options
        url = f"ws{'s' if server.tls else ''}://{server.host}:{server.port}/v1/signaling"
        if server.tls:
            options["ssl"] = server.tls
        return cls(await asyncio.wait_for(websocket(url, proxy=None, **options), DEADLINE))

    @classmethod
    async def join(cls, server, session, role="publisher", data=None, token=None, key=None, options=None, socket=None, project=None):
        """A connection in a session."""
        project = project or server.project
        client = await cls.open(server, **(socket or {}))
        members = {"options": options} if options else {}
        token = token or project.token(session, role, data)
        request = await client.request("connect", apiKey=key or project.key, sessionId=session, token=token, **members)
        client.connected = await client.expect("connected", id=request)
        return client

    @classmethod
    async def denied(cls, server, session, token, key=None):
        """Tries to connect; the error that it gets."""
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

    # Saying

    async def send(self, text):
        """Text or bytes, as they are."""
        await asyncio.wait_for(self.socket.send(text), DEADLINE)

    async def request(self, op, **members):
        """Sends a request and gives its id."""
        request = next(self.ids)
        await self.send(json.dumps({"op": op, "id": request} | members))
        return request

    async def signal(self, **members):
        """Sends a signal, and gives the answer and the events that came before it."""
        return await self.answer(await self.request("signal", **members))

    # Hearing

    async def next(self, timeout=DEADLINE):
        """The next object. Heartbeats are answered and passed over."""
        async with asyncio.timeout(timeout):
            while True:
                while not self.lines:
                    message = await self.socket.recv()
                    assert isinstance(message, str), "WIRE-2: text only"
                    self.lines.extend(json.loads(line) for line in message.split("\n") if line)
                event = self.lines.popleft()
                assert isinstance(event.get("ev"), str), event
                if event["ev"] != "ping" or not self.answers_pings:
                    return event
                await self.socket.send('{"op":"pong"}')

    async def expect(self, ev, timeout=DEADLINE, **members):
        """The next object has to be this one; members that are not named are not looked at."""
        event = await self.next(timeout)
        assert {"ev": ev} | members == {name: event.get(name) for name in {"ev"} | members.keys()}, event
        return event

    async def answer(self, request, timeout=DEADLINE):
        """The answer to a request, and the events before it."""
        events = []
        while True:
            event = await self.next(timeout)
            if event["ev"] in ("ack", "error", "connected") and event.get("id") == request:
                return event, events
            events.append(event)

    async def refused(self, code, name, request=None, **members):
        """The next object has to be this error."""
        event = await self.expect("error", code=code, name=name, **members)
        assert event.get("id") == request, event
        assert isinstance(event["message"], str) and event["message"], event
        assert isinstance(event["retryable"], bool), event
        return event

    async def closed(self, timeout=DEADLINE):
        """Waits for the server to close; the close code, and the objects before it."""
        events = []
        try:
            while True:
                events.append(await self.next(timeout))
        except websockets.ConnectionClosed as closed:
            return (closed.rcvd.code if closed.rcvd else None), events

    async def leave(self):
        """Says goodbye, and waits until it is over."""
        request = await self.request("disconnect")
        await self.answer(request)
        code, _ = await self.closed()
        assert code == 1000


class Bystander(Client):
    """Somebody in the session who must notice nothing of what others do wrong."""

    async def notices_nothing(self, *but):
        """Signals still go around, and nothing came before this one except presence of the connections `but`."""
        answer, events = await self.signal(type="bystander", data="still here")
        assert answer["ev"] == "ack", answer
        presence = ("connectionCreated", "connectionDestroyed")
        seen = [event for event in events if event["ev"] not in presence or presence_id(event) not in but]
        assert seen == [
            {"ev": "signal", "seq": answer["seq"], "from": self.id, "type": "bystander", "data": "still here"}
        ], events
        return events


def presence_id(event):
    return event.get("connectionId") or event["connection"]["connectionId"]
