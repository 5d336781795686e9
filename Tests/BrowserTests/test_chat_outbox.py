"""Messages that the session does not have yet survive a reload, or leaving the page asks."""

import pytest
from application import Application
from chat_element import element, expect_messages, expect_state, send
from conftest import Server
from playwright.sync_api import expect
from relay import Relay
from test_dismissed import PAGE, PROJECT, access

FAILED = "#chat [data-kind=message][data-state=failed]"
SENT = "#chat [data-kind=message][data-state=sent]"
# Keeps every answer of the server from the page, and the page's messages from no server.
DEAF = """
  const Real = WebSocket;
  window.WebSocket = class extends Real {
    addEventListener(name, act, ...rest) {
      super.addEventListener(name, (event) => (name === 'message' && window.isDeaf ? undefined : act(event)), ...rest);
    }
  };
"""


@pytest.fixture(scope="module")
def server(require_server):
    server = Server(
        "--api-key", PROJECT.key, "--api-secret", PROJECT.secret, "--history", "text-chat", is_development=False
    )
    yield server
    server.stop()


@pytest.fixture
def relay(server):
    relay = Relay(server.url)
    yield relay
    relay.stop()


@pytest.fixture
def visit(open_page, server):
    applications = []

    def visit(given, page=None, url=None, script=None):
        content = element(given, server=url or server.url)
        applications.append(Application(PAGE.format(url=server.url, content=content)))
        page = page or open_page("about:blank")
        if script:
            page.add_init_script(script)
        page.address = applications[-1].url
        page.goto(page.address)
        return page

    yield visit
    for application in applications:
        application.stop()


KEPT = """() => new Promise((done) => {
  const request = indexedDB.open('signalbox');
  request.onsuccess = () => {
    const all = request.result.transaction('outbox').objectStore('outbox').getAll();
    all.onsuccess = () => {
      request.result.close();
      done(all.result.flatMap(({ messages }) => messages.map(({ text }) => text)).join());
    };
  };
})"""


def expect_kept(page, *texts):
    """Waits until the browser has these messages on its disk."""
    page.wait_for_function(f"async (texts) => await ({KEPT})() === texts", arg=",".join(texts))


def in_tunnel(visit, relay, session, user="ada"):
    """A user whose connection is gone, and who writes on."""
    page = visit(access(session, user), url=relay.url)
    expect_state(page, "connected")
    relay.cut()
    expect_state(page, "reconnecting")
    send(page, "one")
    send(page, "two")
    expect_messages(page, "one", "two")
    expect_kept(page, "one", "two")
    return page


def test_messages_that_waited_are_sent_once_and_in_order_after_a_reload(visit, relay):
    session = PROJECT.session()
    bob = visit(access(session, "bob"))
    expect_state(bob, "connected")
    ada = in_tunnel(visit, relay, session)
    ada.reload()
    # They are there without a connection.
    expect_messages(ada, "one", "two")
    ada.locator("#chat").evaluate("(chat) => { chat.style.height = '300px'; }")
    relay.restore()
    expect_state(ada, "connected")
    expect(ada.locator(SENT)).to_have_count(2)
    expect_messages(bob, "one", "two")
    ada.reload()
    expect_state(ada, "connected")
    expect_messages(ada, "one", "two")
    send(ada, "three")
    expect_messages(bob, "one", "two", "three")
    expect_messages(ada, "one", "two", "three")
    ada.complaints.clear()


def test_the_next_user_sees_nothing_of_them_and_the_first_one_finds_them(visit, relay):
    session = PROJECT.session()
    ada = in_tunnel(visit, relay, session)
    relay.restore()
    relay.cut()
    eve, again = access(session, "eve"), access(session, "ada")
    ada.evaluate("token => { chat.token = token; }", eve["token"])
    expect_messages(ada)
    relay.restore()
    expect_state(ada, "connected")
    expect_messages(ada)
    ada.evaluate("token => { chat.token = token; }", again["token"])
    expect(ada.locator(SENT)).to_have_count(2)
    expect_messages(ada, "one", "two")
    ada.complaints.clear()


def test_a_message_without_an_answer_comes_back_as_perhaps_not_sent_and_is_found_in_the_history(visit):
    session = PROJECT.session()
    ada = visit(access(session, "ada"), script=DEAF)
    expect_state(ada, "connected")
    bob = visit(access(session, "bob"))
    expect_state(bob, "connected")
    ada.evaluate("window.isDeaf = true")
    send(ada, "did it arrive?")
    expect_messages(bob, "did it arrive?")
    expect_kept(ada, "did it arrive?")
    ada.reload()
    expect(ada.locator(SENT)).to_have_count(1)
    expect_messages(ada, "did it arrive?")


def test_a_message_of_which_nobody_knows_waits_for_the_user(visit, relay):
    session = PROJECT.session()
    ada = visit(access(session, "ada"), url=relay.url, script="window.isStuck = false; const { send } = WebSocket.prototype; "
                "WebSocket.prototype.send = function (...all) { if (!window.isStuck) send.apply(this, all); };")
    expect_state(ada, "connected")
    ada.evaluate("window.isStuck = true")
    send(ada, "lost?")
    expect_kept(ada, "lost?")
    ada.reload()
    expect_state(ada, "connected")
    expect(ada.locator(FAILED)).to_contain_text("Perhaps not sent: the connection was lost.")
    send(ada, "next")
    expect(ada.locator(SENT)).to_have_count(1)
    ada.get_by_role("button", name="Try again").click()
    expect(ada.locator(SENT)).to_have_count(2)
    ada.reload()
    expect(ada.locator(SENT)).to_have_count(2)
    expect(ada.locator(FAILED)).to_have_count(0)
    expect_kept(ada)


def test_another_tab_sends_none_twice_and_takes_them_over_when_the_first_is_gone(visit, relay):
    session = PROJECT.session()
    ada = in_tunnel(visit, relay, session)
    tab = ada.context.new_page()
    tab.goto(ada.address)
    # The other tab is of the same user, and the first one keeps the messages.
    relay.restore()
    for page in (ada, tab):
        expect_state(page, "connected")
        expect_messages(page, "one", "two")
        expect(page.locator(SENT)).to_have_count(2)
    relay.cut()
    expect_state(ada, "reconnecting")
    send(ada, "three")
    expect_kept(ada, "three")
    ada.close()
    expect_messages(tab, "one", "two", "three")
    relay.restore()
    expect(tab.locator(SENT)).to_have_count(3)
    ada.complaints.clear()


@pytest.mark.parametrize("broken", ["delete window.indexedDB; Object.defineProperty(window, 'indexedDB', { value: undefined });",
                                    "Object.defineProperty(navigator, 'locks', { value: undefined });"])  # fmt: skip
def test_where_nothing_can_be_kept_leaving_asks(visit, relay, broken):
    session = PROJECT.session()
    ada = visit(access(session, "ada"), url=relay.url, script=broken)
    expect_state(ada, "connected")
    asked = []
    ada.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    send(ada, "hello")
    expect(ada.locator(SENT)).to_have_count(1)
    ada.reload()
    assert asked == []
    expect_state(ada, "connected")
    relay.cut()
    expect_state(ada, "reconnecting")
    send(ada, "in the tunnel")
    ada.reload()
    assert asked == ["beforeunload"]
    ada.complaints.clear()
