"""A computer whose clock is an hour off: the server's clock decides."""

import pytest
from application import Application
from chat_element import element, expect_state, send
from playwright.sync_api import expect
from test_dismissed import PAGE, PROJECT, access, ask

from conftest import Server

HOUR = 3_600_000

# The clock of the computer, not that of the server.
SHIFT = """(() => {
  const Real = Date;
  window.Date = class extends Real {
    constructor(...given) { super(...(given.length === 0 ? [Real.now() + SHIFT] : given)); }
    static now() { return Real.now() + SHIFT; }
  };
})()"""

TIMES = """() => chat.messages.map(({ text, receivedAt }) => [text, receivedAt])"""


@pytest.fixture(scope="module")
def server(require_server):
    server = Server(
        "--api-key", PROJECT.key, "--api-secret", PROJECT.secret, "--history", "text-chat", is_development=False
    )
    yield server
    server.stop()


@pytest.fixture
def visit(open_page, server):
    applications = []

    def visit(given, shift=0):
        applications.append(Application(PAGE.format(url=server.url, content=element(given))))
        page = open_page("about:blank", is_warm=True)
        page.add_init_script(SHIFT.replace("SHIFT", str(shift)))
        page.goto(applications[-1].url)
        expect_state(page, "connected")
        return page

    yield visit
    for application in applications:
        application.stop()


@pytest.mark.parametrize("shift", [-HOUR, HOUR])
def test_mutes_lists_and_messages_have_the_time_of_the_server(visit, server, shift):
    session = PROJECT.session()
    ada = visit(access(session, "ada"), shift)
    carl = visit(access(session, "carl", role="moderator"), shift)
    bob = visit(access(session, "bob"))
    send(ada, "hello")
    send(bob, "hi")
    for page in (ada, bob):
        expect(page.locator("#chat .bubble")).to_have_text(["hello", "hi"])
    live = [dict(page.evaluate(TIMES)) for page in (ada, bob)]
    shown = [page.locator("#chat time").all_text_contents() for page in (ada, bob)]
    ada.reload()
    expect(ada.locator("#chat .bubble")).to_have_text(["hello", "hi"])
    kept = dict(ada.evaluate(TIMES))
    for each in live:
        for text, time in kept.items():
            assert abs(each[text] - time) < 20_000
    assert shown[0] == shown[1]

    # A mute that lasts is shown as long as it lasts, to the user and in the moderator's list.
    path = f"/v2/project/{PROJECT.key}/session/{session}/moderation"
    ask(server, "POST", path, {"action": "mute", "user": "ada", "seconds": 4})
    expect(ada.locator("#restriction")).to_contain_text("You cannot write until")
    expect(carl.locator("#moderation-toggle")).to_have_text("Moderation (1)")
    expect(carl.locator("#moderation-toggle")).to_have_text("Moderation")
    expect(ada.locator("#restriction")).to_have_text("")
    send(ada, "again")
    expect(bob.locator("#chat .bubble")).to_have_text(["hello", "hi", "again"])
