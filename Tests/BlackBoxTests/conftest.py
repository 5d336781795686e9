"""A stranger's tests: they know docs/PROTOCOL.md, docs/CONFIGURATION.md and the program, and nothing of its inside.

SIGNALBOX_BIN   the program; default: the debug build

Tests may be coroutines. Those marked `waiting` wait for a time-out of the server's: they start with the first test,
go on beside all others, and are asked for their result at the end.
"""

import asyncio
import inspect
import threading

import pytest

from server_process import Server

TEST_SECONDS = 60


def pytest_configure(config):
    config.addinivalue_line("markers", "waiting: waits for a time-out of the server's, beside the other tests")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("waiting") is not None)


@pytest.fixture(scope="session")
def server():
    """With a project; what it logs is looked at by the test of secrets. Its resume window is short, so that a test can see
    a lost client be given up. It refuses no rate: how fast a test asks depends on the machine, and the rates have servers of their own."""
    with Server("--signal-rate", "0", log_level="trace", resume_seconds=1) as server:
        yield server


@pytest.fixture(scope="session")
def dev_server():
    with Server(dev=True) as server:
        yield server


@pytest.fixture
def session(server):
    """A session for this test alone."""
    return server.project.session()


@pytest.fixture(scope="session", autouse=True)
def waiting_tests(request):
    """Each test that is marked `waiting` takes the server and nothing else."""
    items = [item for item in request.session.items if item.get_closest_marker("waiting")]
    if not items:
        yield {}
        return
    server = request.getfixturevalue("server")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield {item: asyncio.run_coroutine_threadsafe(item.obj(server), loop) for item in items}
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    if pyfuncitem.get_closest_marker("waiting"):
        pyfuncitem._request.getfixturevalue("waiting_tests")[pyfuncitem].result(TEST_SECONDS)
        return True
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), TEST_SECONDS))
    return True
