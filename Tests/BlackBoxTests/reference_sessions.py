"""The reference client (Tests/ReferenceClient) in the sessions of a server."""

import asyncio
import contextlib
import pathlib
import sys

import pytest

from server_process import DEADLINE

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ReferenceClient"))

from reference_client.client import Client, RequestFailed  # noqa: E402


@contextlib.asynccontextmanager
async def joined(server, session, role="publisher", data=None, url=None, user=None, **options):
    """A client in the session."""
    async with Client(url or websocket_url(server)) as client:
        await connect(client, server, session, role, data, user, **options)
        yield client


async def connect(client, server, session, role="publisher", data=None, user=None, **options):
    project, fields = server.project, {} if user is None else {"user": user}
    async with asyncio.timeout(DEADLINE):
        await client.connect(project.key, session, project.token(session, role, data, **fields), **options)


def websocket_url(server):
    return server.url.replace("http", "ws", 1)


async def event(client, kind):
    """The next event of this kind. Other events before it are dropped."""
    async with asyncio.timeout(DEADLINE):
        while True:
            if isinstance(found := await client.events.get(), kind):
                return found


async def answer(request):
    async with asyncio.timeout(DEADLINE):
        return await request


async def code_of(request):
    """The code with which the request fails."""
    return (await failure_of(request)).code


async def failure_of(request):
    with pytest.raises(RequestFailed) as failure:
        await answer(request)
    return failure.value
