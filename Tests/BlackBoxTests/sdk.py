"""Helpers of the tests of OpenTok's and Vonage's SDKs."""

import asyncio

from signalbox_client import Client


async def two_clients(server, session, project=None):
    """Ada, and Bob, whose arrival Ada has seen. They are of the server's project, or of another one."""
    ada = await Client.join(server, session, project=project)
    bob = await Client.join(server, session, project=project)
    await ada.expect("connectionCreated")
    return ada, bob


async def call(function, *arguments):
    """Calls an SDK, which blocks, on a thread of its own, so that the test's sockets are served meanwhile."""
    return await asyncio.to_thread(function, *arguments)
