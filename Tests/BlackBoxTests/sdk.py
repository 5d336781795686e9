"""What the tests of the SDKs share."""

import asyncio

from signalbox_client import Client


async def two(server, session):
    """Ada, and Bob, whom she has heard coming."""
    ada = await Client.join(server, session)
    bob = await Client.join(server, session)
    await ada.expect("connectionCreated")
    return ada, bob


async def call(function, *arguments):
    """An SDK waits for its answers; the test's own sockets go on meanwhile."""
    return await asyncio.to_thread(function, *arguments)
