"""Runs the tests marked `waiting` beside all others: each waits for a timeout of the server, and uses little processor.

They start with the first test, each on a thread of its own, and report their results at the end. Of several workers of
pytest-xdist the first one runs them, once, and the others find the results in a folder that all share. So it does not
matter which worker is to report a test.

Such a test is a coroutine or a function. Its arguments may be `server`, `tmp_path`, and those of `parametrize`.
"""

import asyncio
import inspect
import os
import threading
import time
import traceback

import pytest

# The time limit of one test. It only ends a test that hangs; no result depends on it.
TEST_SECONDS = 240


def is_waiting(item):
    return item.get_closest_marker("waiting") is not None


class WaitingTest:
    """A test on a thread of its own. `place` is a file with its failure when it has ended; empty: it has passed."""

    def __init__(self, test, arguments, place):
        self.test, self.arguments, self.place = test, arguments, place
        self.loop = self.task = None
        # What still runs when pytest ends does not keep it.
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        failure = ""
        try:
            if inspect.iscoroutinefunction(self.test):
                asyncio.run(self.run_coroutine())
            else:
                self.test(**self.arguments)
        except BaseException:
            failure = traceback.format_exc()
        unfinished = self.place.with_suffix(".new")
        unfinished.write_text(failure)
        unfinished.rename(self.place)

    async def run_coroutine(self):
        self.loop, self.task = asyncio.get_running_loop(), asyncio.current_task()
        await asyncio.wait_for(self.test(**self.arguments), TEST_SECONDS)

    def cancel(self):
        if self.task and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.task.cancel)


class WaitingTests:
    """The waiting tests of a run, and where the workers find their results."""

    def __init__(self, items, folder):
        self.places = {item: folder / str(number) for number, item in enumerate(items)}
        self.running = []

    def start(self, server, make_folder):
        given = {"server": lambda: server, "tmp_path": lambda: make_folder("waiting-test")}
        for item, place in self.places.items():
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            arguments = {
                name: parameters[name] if name in parameters else given[name]() for name in item._fixtureinfo.argnames
            }
            self.running.append(WaitingTest(item.obj, arguments, place))
        for each in self.running:
            each.thread.start()

    def report(self, item):
        """Waits for the end of a test, and fails if it has failed."""
        place = self.places[item]
        deadline = time.monotonic() + 2 * TEST_SECONDS
        while not place.exists():
            assert time.monotonic() < deadline, "the worker that runs the waiting tests has no result"
            time.sleep(0.02)
        if failure := place.read_text():
            pytest.fail(failure, pytrace=False)

    def stop(self, is_finished):
        """Other workers may still wait for results of a run that goes on to its end."""
        for each in self.running:
            if not is_finished:
                each.cancel()
        for each in self.running:
            each.thread.join(TEST_SECONDS)


@pytest.fixture(scope="session", autouse=True)
def waiting_tests(request, tmp_path_factory, no_log_has_a_secret):
    items = [item for item in request.session.items if is_waiting(item)]
    if not items:
        yield None
        return
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    folder = tmp_path_factory.getbasetemp()
    # The workers have folders of their own in one folder of the run.
    folder = (folder.parent if worker else folder) / "waiting"
    folder.mkdir(exist_ok=True)
    tests = WaitingTests(items, folder)
    if worker not in (None, "gw0"):
        yield tests
        return
    tests.start(request.getfixturevalue("shared_server"), tmp_path_factory.mktemp)
    yield tests
    # Before the search for secrets in the logs of all servers.
    tests.stop(is_finished=not (request.session.shouldstop or request.session.shouldfail))
