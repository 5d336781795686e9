"""Runs the tests marked `waiting` beside all others: each waits for a timeout of the server, and uses no processor.

They start with the first test, on a thread with a loop of its own, and each reports its result at the end. Of several
workers of pytest-xdist the first one runs them, once, and the others find the results in a folder that all share. So
it does not matter which worker is to report a test.

Such a test is a coroutine. Its arguments may be `server`, `tmp_path`, and those of `parametrize`. It must not block its
thread for long, since the others wait on the same loop.
"""

import asyncio
import contextlib
import os
import threading
import time
import traceback

import pytest

# The time limit of one test. It only ends a test that hangs; no result depends on it.
TEST_SECONDS = 240


def is_waiting(item):
    return item.get_closest_marker("waiting") is not None


class WaitingTests:
    """The waiting tests of a run. `folder` has a file with the failure of each test that has ended; empty: it passed."""

    def __init__(self, items, folder):
        self.places = {item: folder / str(number) for number, item in enumerate(items)}
        self.loop = None
        self.thread = None
        self.running = []

    def start(self, server, make_folder):
        def arguments(item):
            given = {"server": lambda: server, "tmp_path": lambda: make_folder("waiting-test")}
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            return {
                name: parameters[name] if name in parameters else given[name]() for name in item._fixtureinfo.argnames
            }

        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.running = [
            asyncio.run_coroutine_threadsafe(self.run(item.obj(**arguments(item)), place), self.loop)
            for item, place in self.places.items()
        ]  # fmt: skip

    async def run(self, test, place):
        failure = ""
        try:
            await asyncio.wait_for(test, TEST_SECONDS)
        except BaseException:
            failure = traceback.format_exc()
        finally:
            unfinished = place.with_suffix(".new")
            unfinished.write_text(failure)
            unfinished.rename(place)

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
            if is_finished:
                with contextlib.suppress(Exception):
                    each.result(2 * TEST_SECONDS)
            else:
                each.cancel()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture(scope="session", autouse=True)
def waiting_tests(request, tmp_path_factory):
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
    tests.stop(is_finished=not (request.session.shouldstop or request.session.shouldfail))
