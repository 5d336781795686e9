"""Black-box tests of the program: they use docs/PROTOCOL.md and docs/CONFIGURATION.md, and no knowledge of the sources.

SIGNALBOX_BIN   the program; default: the debug build

Tests may be coroutines. Those marked `waiting` run beside all others (beside.py). Some tests of documents, packages and
programs of others run only if something that they read has changed lately (relevance.py).
"""

import asyncio
import inspect
import signal

import pytest

import planted_secrets
import relevance
from beside import TEST_SECONDS, is_waiting, waiting_tests  # noqa: F401  The last one is a fixture.
from server_process import Server


def pytest_configure(config):
    config.pluginmanager.register(relevance)
    config.addinivalue_line("markers", "waiting: waits for a timeout of the server, beside the other tests")
    # A process in the background may ignore these signals, and its children with it. Some tests send them.
    for number, handler in [(signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)]:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_collection_modifyitems(items):
    items.sort(key=is_waiting)


@pytest.fixture(scope="session")
def shared_server():
    """A server with a project and a short resume window, so that a test can see a lost connection expire.

    It has no rate limit, because the speed of a test depends on the machine. Tests of rates start their own servers.
    """
    with Server("--signal-rate", "0", log_level="trace", resume_seconds=1) as server:
        yield server


@pytest.fixture(scope="session")
def server(shared_server):
    """The server of all tests. Some files have a fixture of this name for a server of their own."""
    return shared_server


@pytest.fixture(scope="session", autouse=True)
def no_log_has_a_secret():
    """Looks for secrets in the logs of all servers of the run. An error here is reported with the last test."""
    yield
    assert planted_secrets.found() == []


@pytest.fixture(scope="session")
def dev_server():
    with Server(dev=True) as server:
        yield server


@pytest.fixture
def session(server):
    """A session that only this test uses."""
    return server.project.session()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if is_waiting(pyfuncitem):
        pyfuncitem._request.getfixturevalue("waiting_tests").report(pyfuncitem)
        return True
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), TEST_SECONDS))
    return True
