"""The page on a server with an API key: the user enters session and token, which an application would provide."""

import os
import subprocess

import pytest
from conftest import DEADLINE, Server
from playwright.sync_api import expect
from relay import Relay
from user import MESSAGE_ROWS, User

KEY, SECRET = "100", "a-secret-of-this-test"
CREDENTIALS = ["--api-key", KEY, "--api-secret", SECRET]


@pytest.fixture
def servers(require_server):
    """Starts servers of one project. They share no sessions."""
    started = []

    def start(*arguments):
        started.append(Server(*CREDENTIALS, *arguments, is_development=False))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def run_command(*arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_API_")}
    result = subprocess.run(
        [
            os.environ["SIGNALBOX_BIN"], *arguments, *CREDENTIALS
        ], capture_output=True, text=True, timeout=DEADLINE, check=True, env=environment
    )
    return result.stdout.strip()


@pytest.fixture
def session():
    return run_command("session", "create")


def fill(page, name, session, token, key=KEY):
    page.get_by_label("Your name").fill(name)
    page.get_by_label("API key").fill(key)
    page.get_by_label("Session ID").fill(session)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Join").click()


def join(open_page, url, name, session):
    page = open_page(url + "/?tools")
    fill(page, name, session, run_command("token", session, "--data", name))
    expect(page.locator("#status-text")).to_have_text("Connected")
    return User(page)


@pytest.mark.parametrize(
    "types, sentence, is_first", [(None, "You see messages from now on.", False), ("text-chat", "No messages yet.", True)]
)
def test_his_8_an_empty_list_says_whether_the_room_keeps_messages(
    open_page, servers, session, types, sentence, is_first
):
    page = join(open_page, servers(*(["--history", types] if types else [])).url, "Ada", session).page
    expect(page.locator(".empty-hint strong")).to_have_text(sentence)
    expect(page.get_by_text("Write the first one.", exact=True)).to_be_visible(visible=is_first)
    expect(page.get_by_text("To chat with yourself")).to_be_visible()


def test_two_users_join_with_a_session_and_tokens(open_page, servers, session, screenshots):
    """The browser reports no error: `open_page` checks that."""
    server = servers()
    page = open_page(server.url + "/?tools")
    expect(page.get_by_role("heading", name="Join a session")).to_be_visible()
    expect(page.get_by_label("Room", exact=True)).to_be_hidden()
    page.screenshot(path=screenshots / "join-with-credentials.png")
    ada, bob = join(open_page, server.url, "Ada", session), join(open_page, server.url, "Bob", session)
    ada.send("hello")
    bob.expect_messages("hello")
    bob.expect_participants("Ada", "Bob")
    expect(ada.page.locator("#room-name")).to_have_text("Session")
    expect(ada.page.get_by_role("button", name="Copy link")).to_be_hidden()


def test_the_form_names_missing_or_wrong_input(open_page, servers, session):
    page = open_page(servers().url + "/?tools")
    alert = page.get_by_role("alert")
    fill(page, "Ada", session, "")
    expect(alert).to_have_text("Enter the API key, the session ID and a token.")
    fill(page, "Ada", session, "T1==nonsense")
    expect(alert).not_to_be_empty()
    expect(page.get_by_role("button", name="Try again")).to_be_enabled()
    page.get_by_label("Token").fill("T1==other nonsense")
    expect(page.get_by_role("button", name="Join")).to_be_enabled()
    fill(page, "Ada", session, run_command("token", session, "--data", "Ada"))
    expect(page.locator("#status-text")).to_have_text("Connected")


def test_g_4_after_a_loss_the_page_marks_where_messages_may_be_missing(open_page, servers, session, screenshots):
    """The outcome of the reconnection is `lost`, and the page shows it."""
    first = servers()
    relay = Relay(first.url)
    ada = join(open_page, relay.url, "Ada", session)
    ada.open_inspector()
    ada.send("before")
    expect(ada.page.locator(MESSAGE_ROWS)).to_have_attribute("data-state", "sent")
    relay.cut()
    expect(ada.page.locator("#status-text")).to_have_text("Reconnecting…")
    first.stop()
    second = servers()
    bob = join(open_page, second.url, "Bob", session)
    bob.send("Ada misses this")
    expect(bob.page.locator(MESSAGE_ROWS)).to_have_attribute("data-state", "sent")
    relay.route_to(second.url)
    relay.restore()
    expect(ada.log("sessionReconnected")).to_contain_text("lost")
    expect(ada.page.locator("#messages [data-kind=gap]")).to_have_text(
        "The connection was interrupted. Messages may be missing here."
    )
    bob.send("after")
    ada.expect_messages("before", "after")
    ada.expect_rows("day", "sent single", "gap", "received single")
    # In the order in which the second server accepted them.
    ada.expect_participants("Bob", "Ada")
    ada.page.screenshot(path=screenshots / "gap.png")
    # The browser reports sockets that it could not open.
    ada.page.complaints.clear()
    relay.stop()
