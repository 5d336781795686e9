"""Fixtures for tests of the page with a real server and a real browser.

SIGNALBOX_BIN   the server's executable
SCREENSHOT_DIR  the folder for screenshots; default: a temporary one
CHROMIUM        the browser; default: the one of Debian
"""

import atexit
import functools
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
import uuid

import pytest
from application import Application
from playwright.sync_api import BrowserContext, Error, Page, expect, sync_playwright

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "Tests/BlackBoxTests"))

import crashes  # noqa: E402
import relevance  # noqa: E402

# A wait that takes longer has failed. It is long, so that it suits a busy machine; a test that passes does not wait.
DEADLINE = 60
# A browser is many processes.
LAUNCH_DEADLINE = 3 * DEADLINE
READY = re.compile(r"https?://\S+")

# A page of another origin with the chat's script. Its policy permits nothing that is not needed.
HOST = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'none'; script-src SERVER;
  connect-src SERVER WEBSOCKET; require-trusted-types-for 'script'; trusted-types 'none'">
<script src="SERVER/signalbox-chat.js"></script>
<body>CONTENT</body></html>"""

expect.set_options(timeout=DEADLINE * 1000)


# Servers in development mode leave their credentials and rooms there, not in the folder of the user who runs the tests.
USER_STATE = tempfile.mkdtemp(prefix="signalbox-tests-")
atexit.register(shutil.rmtree, USER_STATE, ignore_errors=True)


def environment():
    """The environment of the program. Credentials in it would switch development mode off."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_API_")}
    return kept | {"XDG_STATE_HOME": USER_STATE}


class Server:
    """`signalbox serve` on a free port, in development mode unless the arguments have credentials."""

    def __init__(self, *arguments, is_development=True):
        self.process = subprocess.Popen(
            [
                os.environ["SIGNALBOX_BIN"],
                "serve",
                *(["--dev"] if is_development else []),
                "--port",
                "0",
                "--web-root",
                str(REPOSITORY / "web-test-client"),
                *arguments,
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        lines = queue.Queue()
        # Reads to the end, so that the server never waits for space in the pipe.
        self.reader = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self.reader.start()
        self.url = self._wait_until_ready(lines)

    def _read(self, lines):
        for line in self.process.stdout:
            lines.put(line)
        lines.put(None)

    def _wait_until_ready(self, lines):
        seen = []
        while True:
            try:
                line = lines.get(timeout=DEADLINE)
            except queue.Empty:
                line = None
            if line is None:
                self.stop()
                raise RuntimeError(f"the server printed no ready line; it printed: {seen}")
            seen.append(line)
            found = READY.search(line)
            if found:
                return found[0].rstrip("/")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                self.process.kill()
        crashes.require_none(self.process.args, self.process.wait())


def pytest_configure(config):
    config.pluginmanager.register(relevance)


# What leaves something in a page or its context that no navigation takes away.
LASTING_CALLS = {
    Page: ("add_init_script", "emulate_media", "expose_binding", "expose_function", "on", "once", "route_web_socket",
           "set_default_timeout", "set_extra_http_headers", "set_viewport_size"),
    BrowserContext: ("add_cookies", "add_init_script", "expose_binding", "expose_function", "grant_permissions",
                     "new_cdp_session", "new_page", "on", "route", "route_web_socket", "set_offline"),
}  # fmt: skip

# The calls of this kind in the test that runs.
LASTING = []
listen, open_tab, add_script = Page.on, BrowserContext.new_page, BrowserContext.add_init_script

# A page gives a server 8 s, and then tells the user that it does not answer. A busy machine needs more. The waits of the
# library, between two attempts and for the end of one, are shorter or longer, and stay as they are. A test that installs
# a clock moves all of them.
PATIENCE = """(() => {
  const longer = (milliseconds) => (milliseconds > 5500 && milliseconds <= 8000 ? milliseconds * 20 : milliseconds);
  const { setTimeout } = window;
  window.setTimeout = (act, milliseconds, ...rest) => setTimeout(act, longer(milliseconds), ...rest);
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (milliseconds) => timeout(longer(milliseconds));
})()"""


def make_patient(context):
    """What is done in this context, in its further pages, too, may take as long as a busy machine needs."""
    context.set_default_timeout(DEADLINE * 1000)
    add_script(context, PATIENCE)
    return context


def note_lasting(kind, name):
    call = getattr(kind, name)

    @functools.wraps(call)
    def noted(self, *arguments, **options):
        LASTING.append(name)
        return call(self, *arguments, **options)

    setattr(kind, name, noted)


for kind, names in LASTING_CALLS.items():
    for name in names:
        note_lasting(kind, name)
    clock = kind.clock
    kind.clock = property(lambda self, clock=clock: LASTING.append("clock") or clock.fget(self))


def is_complaint(message):
    """Whether what the console says is an error or a warning of the page.

    A page may close a socket before it is open: a user presses "Try again" or pulls the cable in an attempt. Chromium
    calls that an error. Whether an attempt runs at that moment is chance.
    """
    given_up = "WebSocket is closed before the connection is established"
    return message.type in ("error", "warning") and given_up not in message.text


class WarmPages:
    """Pages for tests, each alone in its browser context.

    A browser needs more than a second of processor time for a new process with a page in it. Pages that tests have left
    as they were are used again: with an empty storage, and with compiled scripts.
    """

    def __init__(self, browser, url):
        self.browser = browser
        self.url = url
        self.waiting = []

    def new(self, **options):
        plain = not options
        options.setdefault("viewport", {"width": 1280, "height": 800})
        page = open_tab(make_patient(self.browser.new_context(**options)))
        page.is_plain = plain
        page.complaints = []
        listen(page, "console", lambda message: is_complaint(message) and page.complaints.append(message.text))
        listen(page, "pageerror", lambda error: page.complaints.append(str(error)))
        return page

    def take(self):
        if not self.waiting:
            return self.new()
        page = self.waiting.pop()
        page.complaints = []
        return page

    def leave(self, page):
        """The test has ended."""
        if LASTING or not page.is_plain or page.is_closed() or len(page.context.pages) > 1:
            page.context.close()
            return
        try:
            page.unroute_all(behavior="ignoreErrors")
            page.mouse.move(0, 0)
            page.evaluate(FORGET)
            page.goto(self.url + "/livez")
            page.evaluate(FORGET)
            page.goto("about:blank")
        except Error:
            # It shows what has no storage, or what does not answer.
            page.context.close()
        else:
            self.waiting.append(page)

    def close(self):
        for page in self.waiting:
            page.context.close()


FORGET = "() => { for (const each of [localStorage, sessionStorage]) each.clear(); }"


@pytest.fixture(scope="session")
def require_server():
    if not os.environ.get("SIGNALBOX_BIN"):
        pytest.fail("Set SIGNALBOX_BIN to the server's executable.")


@pytest.fixture(scope="session")
def shared_server(require_server):
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def url(shared_server):
    return shared_server.url


@pytest.fixture
def own_server(require_server):
    """A server that the test may stop."""
    server = Server()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def playwright_driver():
    """Starts browsers with further arguments. One with a profile, a folder, keeps its history there."""
    with sync_playwright() as playwright:

        def launch(arguments=(), profile=None):
            options = {
                "executable_path": os.environ.get("CHROMIUM", "/usr/bin/chromium"),
                # Without a graphics card, drawing for one costs more than drawing without one.
                "args": ["--no-sandbox", "--disable-gpu", *arguments],
                "timeout": LAUNCH_DEADLINE * 1000,
            }
            if profile:
                return playwright.chromium.launch_persistent_context(profile, **options)
            return playwright.chromium.launch(**options)

        yield launch


@pytest.fixture(scope="session")
def chromium(playwright_driver):
    browser = playwright_driver()
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    folder = os.environ.get("SCREENSHOT_DIR")
    path = pathlib.Path(folder) if folder else tmp_path_factory.mktemp("screenshots")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def room():
    """A room that only this test uses."""
    return f"room-{uuid.uuid4()}"


@pytest.fixture(scope="session")
def warm_pages(chromium, shared_server):
    pages = WarmPages(chromium, shared_server.url)
    yield pages
    pages.close()


@pytest.fixture
def open_page(warm_pages):
    """Opens pages, each in a browser context of its own, as if on different machines.

    Errors and warnings on a page's console fail the test, unless the test expects them and calls
    `page.complaints.clear()`. A page that `is_warm` may be one of an earlier test, without its storage.
    """
    pages = []
    LASTING.clear()

    def open_page(address, is_warm=False, **options):
        page = warm_pages.take() if is_warm and not options else warm_pages.new(**options)
        pages.append(page)
        page.goto(address)
        return page

    open_page.has_warm_pages = True
    yield open_page
    complaints = [complaint for page in pages for complaint in page.complaints]
    for page in pages:
        warm_pages.leave(page)
    assert complaints == []


@pytest.fixture
def open_application(open_page, url):
    """Opens a fixture in the page that is passed, or in a new one, with credentials for the room."""
    applications = []

    def open_application(fixture, script, room, data="Page", query=None, page=None, **changes):
        application = Application.of_fixture(fixture, url + script)
        applications.append(application)
        page = page or open_page("about:blank", is_warm=True)
        page.goto(application.address(room_access(url, room, data=data, **(query or {})) | changes))
        return page

    yield open_application
    for application in applications:
        application.stop()


FAKE_CAMERA = ["--use-fake-device-for-media-stream"]


@pytest.fixture(scope="session")
def camera_answers(playwright_driver):
    """Browsers with a fake camera: one whose user grants it, one whose user refuses."""
    browsers = {
        "granted": playwright_driver([*FAKE_CAMERA, "--use-fake-ui-for-media-stream"]),
        "refused": playwright_driver([*FAKE_CAMERA, "--use-fake-ui-for-media-stream=deny"]),
    }
    yield browsers
    for browser in browsers.values():
        browser.close()


@pytest.fixture
def open_with_camera(camera_answers, open_application, room):
    """Opens a fixture in a browser with a camera. `page.said` collects the errors and warnings on its console."""
    contexts = []

    def open_with_camera(answer, fixture="camera-first.html", script="/v2/js/opentok.min.js", **options):
        contexts.append(make_patient(camera_answers[answer].new_context()))
        page = contexts[-1].new_page()
        page.said = []
        page.on("console", lambda message: message.type in ("error", "warning") and page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        return open_application(fixture, script, room, page=page, **options)

    yield open_with_camera
    for context in contexts:
        context.close()


@pytest.fixture
def open_host(open_page, url):
    """Opens a page of another origin, with the script and this content."""
    applications = []

    def open_host(content="", **options):
        html = HOST.replace("WEBSOCKET", url.replace("http", "ws")).replace("SERVER", url).replace("CONTENT", content)
        applications.append(Application(html))
        return open_page(applications[-1].url, is_warm=True, **options)

    yield open_host
    for application in applications:
        application.stop()


def room_access(url, room, **query):
    """Credentials for a room."""
    with urllib.request.urlopen(f"{url}/room/{room}?{urllib.parse.urlencode(query)}", timeout=DEADLINE) as answer:
        return json.load(answer)


@pytest.fixture
def access(url, room):
    """Credentials for a user of the test's room."""
    return lambda name, **query: room_access(url, room, data=name, **query)


@pytest.fixture
def open_with_policy(open_page, url):
    """Opens a page that has the script, with this policy."""
    applications = []

    def open_with_policy(policy, content):
        html = f"""<!doctype html><html lang="en"><title>Policy</title><link rel="icon" href="data:,">
                   <meta http-equiv="Content-Security-Policy" content="{policy}">
                   <script src="{url}/signalbox-chat.js"></script><body>{content}"""
        applications.append(Application(html))
        return open_page(applications[-1].url)

    yield open_with_policy
    for application in applications:
        application.stop()
