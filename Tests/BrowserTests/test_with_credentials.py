"""The page on a server that has credentials: what an application would hand out is given by hand."""

import os
import subprocess

import pytest
from conftest import Server
from person import MESSAGE_ROWS, Person
from playwright.sync_api import expect
from relay import Relay

KEY, SECRET = "100", "a-secret-of-this-test"
CREDENTIALS = ["--api-key", KEY, "--api-secret", SECRET]


@pytest.fixture
def servers(require_server):
    """Starts servers of one project, each of which knows nothing of the ones before."""
    started = []

    def start(*arguments):
        started.append(Server(*CREDENTIALS, *arguments, is_development=False))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def tool(*arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_API_")}
    result = subprocess.run(
        [os.environ["SIGNALBOX_BIN"], *arguments, *CREDENTIALS], capture_output=True, text=True, timeout=20, check=True, env=environment
    )
    return result.stdout.strip()


@pytest.fixture
def session():
    return tool("session", "create")


def fill(page, name, session, token, key=KEY):
    page.get_by_label("Your name").fill(name)
    page.get_by_label("API key").fill(key)
    page.get_by_label("Session ID").fill(session)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Join").click()


def join(open_page, url, name, session):
    page = open_page(url + "/")
    fill(page, name, session, tool("token", session, "--data", name))
    expect(page.locator("#status-text")).to_have_text("Connected")
    return Person(page)


def test_two_people_join_with_what_they_were_given(open_page, servers, session, screenshots):
    """Without a complaint of the browser: `open_page` would see one."""
    server = servers()
    page = open_page(server.url + "/")
    expect(page.get_by_role("heading", name="Join a session")).to_be_visible()
    expect(page.get_by_label("Room", exact=True)).to_be_hidden()
    page.screenshot(path=screenshots / "join-with-credentials.png")
    ada, bob = join(open_page, server.url, "Ada", session), join(open_page, server.url, "Bob", session)
    ada.say("hello")
    bob.sees_messages("hello")
    bob.sees_people("Ada", "Bob")
    expect(ada.page.locator("#room-name")).to_have_text("Session")
    expect(ada.page.get_by_role("button", name="Copy link")).to_be_hidden()


def test_what_is_missing_or_wrong_is_said_in_the_form(open_page, servers, session):
    page = open_page(servers().url + "/")
    alert = page.get_by_role("alert")
    fill(page, "Ada", session, "")
    expect(alert).to_have_text("API key, session ID and token are all needed.")
    fill(page, "Ada", session, "T1==nonsense")
    expect(alert).not_to_be_empty()
    expect(page.get_by_role("button", name="Join")).to_be_enabled()
    fill(page, "Ada", session, tool("token", session, "--data", "Ada"))
    expect(page.locator("#status-text")).to_have_text("Connected")


def test_a_server_that_lost_its_sessions_leaves_a_mark_where_messages_may_be_missing(open_page, servers, session, screenshots):
    """G4: the outcome is `lost`, and the reader is told."""
    first = servers()
    relay = Relay(first.url)
    ada = join(open_page, relay.url, "Ada", session)
    ada.open_inspector()
    ada.say("before")
    expect(ada.page.locator(MESSAGE_ROWS)).to_have_attribute("data-state", "sent")
    relay.cut()
    expect(ada.page.locator("#status-text")).to_have_text("Reconnecting…")
    first.stop()
    second = servers()
    bob = join(open_page, second.url, "Bob", session)
    bob.say("nobody told Ada")
    expect(bob.page.locator(MESSAGE_ROWS)).to_have_attribute("data-state", "sent")
    relay.lead_to(second.url)
    relay.mend()
    expect(ada.log("sessionReconnected")).to_contain_text("lost")
    expect(ada.page.locator("#messages [data-kind=gap]")).to_have_text(
        "The connection was away for a while. Messages may be missing here."
    )
    bob.say("after")
    ada.sees_messages("before", "after")
    ada.sees_rows("day", "sent single", "gap", "received single")
    # Whom the server knew first.
    ada.sees_people("Bob", "Ada")
    ada.page.screenshot(path=screenshots / "gap.png")
    # The browser itself reports sockets that could not be opened.
    ada.page.complaints.clear()
    relay.stop()
