"""A page whose connection is lost: it reconnects, and other users see nothing (G3, G7)."""

import pytest
from playwright.sync_api import expect
from relay import Relay
from user import MESSAGE_ROWS, User


@pytest.fixture
def relay(url):
    relay = Relay(url)
    yield relay
    relay.stop()


def status(user):
    return user.page.locator("#status-text")


def test_g_7_a_dropped_connection_is_resumed_and_other_users_see_nothing(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    for user in (ada, bob):
        user.open_inspector()
    ada.drop_connection()
    expect(ada.log("sessionReconnecting")).to_have_count(1)
    expect(ada.log("sessionReconnected")).to_contain_text("resumed")
    expect(ada.page.locator("#back-report")).to_contain_text("nothing lost")
    expect(status(ada)).to_have_text("Connected")
    ada.send("still me")
    bob.expect_messages("still me")
    ada.expect_participants("Ada", "Bob")
    bob.expect_participants("Ada", "Bob")
    expect(bob.log("connectionDestroyed")).to_have_count(0)
    expect(bob.log("connectionCreated")).to_have_count(0)
    ada.page.screenshot(path=screenshots / "resumed.png")


def test_g_3_messages_sent_while_offline_arrive_once_in_both_directions(open_page, url, relay, room, screenshots):
    ada = User.join(open_page, relay.url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    bob.open_inspector()
    ada.send("one")
    bob.expect_messages("one")
    relay.cut()
    expect(status(ada)).to_have_text("Reconnecting…")
    ada.send("three")
    bob.send("two")
    expect(bob.page.locator(MESSAGE_ROWS).last).to_have_attribute("data-state", "sent")
    expect(ada.page.locator(MESSAGE_ROWS).last).to_have_attribute("data-state", "pending")
    ada.expect_messages("one", "three")
    expect(ada.page.locator("#offline-hint")).to_be_visible()
    ada.page.screenshot(path=screenshots / "reconnecting.png")
    relay.restore()
    expect(status(ada)).to_have_text("Connected")
    for user in (ada, bob):
        user.expect_messages("one", "two", "three")
    expect(ada.page.locator(MESSAGE_ROWS).last).to_have_attribute("data-state", "sent")
    expect(bob.log("connectionDestroyed")).to_have_count(0)
    # The browser reports sockets that it could not open.
    ada.page.complaints.clear()


def set_visible(user, is_visible):
    """Hides or shows the page, as when the user changes the tab."""
    user.page.evaluate(
        """isHidden => {
             Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
             document.dispatchEvent(new Event('visibilitychange'));
           }""",
        not is_visible,
    )


def lose_for_good(user, own_server, relay, url):
    """Ends the connection: another server, with another secret, refuses the token."""
    own_server.stop()
    relay.route_to(url)
    expect(user.page.get_by_role("alert")).to_contain_text("The connection was lost.")
    expect(status(user)).to_have_text("Not connected")


def test_after_the_connection_has_ended_messages_and_draft_stay_and_the_user_can_join_again(
    open_page, own_server, url, room, screenshots
):
    relay = Relay(own_server.url)
    ada = User.join(open_page, relay.url, room, "Ada")
    ada.send("before")
    expect(ada.row("before")).to_have_attribute("data-state", "sent")
    ada.type("half a thought")
    lose_for_good(ada, own_server, relay, url)
    field = ada.page.get_by_label("Message", exact=True)
    expect(field).to_be_disabled()
    ada.expect_messages("before")
    ada.page.screenshot(path=screenshots / "lost-light.png")
    relay.cut()
    again = ada.page.get_by_role("button", name="Join again")
    again.click()
    expect(ada.page.get_by_role("alert")).to_contain_text("Cannot reach 127.0.0.1")
    relay.restore()
    again.click()
    expect(status(ada)).to_have_text("Connected")
    expect(ada.page.locator("#notice")).to_be_hidden()
    # The other server has another secret, so it has begun a new session for the room.
    expect(ada.page.locator("#messages [data-kind=gap]")).to_have_text(
        "A new conversation begins here. The messages above are from the last one."
    )
    expect(field).to_have_value("half a thought")
    field.press("Enter")
    ada.expect_messages("before", "half a thought")
    ada.expect_rows("day", "sent single", "gap", "sent single")
    ada.page.complaints.clear()
    relay.stop()


def test_a_hidden_page_whose_connection_has_ended_reconnects_when_it_is_shown(open_page, own_server, url, room):
    relay = Relay(own_server.url)
    ada = User.join(open_page, relay.url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    set_visible(ada, False)
    lose_for_good(ada, own_server, relay, url)
    bob.send("where are you?")
    set_visible(ada, True)
    expect(status(ada)).to_have_text("Connected")
    expect(ada.page.locator("#notice")).to_be_hidden()
    bob.expect_participants("Bob", "Ada")
    bob.send("there you are")
    expect(ada.bubble("there you are")).to_be_visible()
    ada.page.complaints.clear()
    relay.stop()


def test_a_page_that_was_suspended_too_long_reconnects_after_waking(open_page, own_server, url, room):
    """The page is shown first, and only then finds that its recovery time has passed."""
    relay = Relay(own_server.url)
    ada = User.join(open_page, relay.url, room, "Ada")
    relay.cut()
    expect(status(ada)).to_have_text("Reconnecting…")
    set_visible(ada, False)
    own_server.stop()
    relay.route_to(url)
    set_visible(ada, True)
    relay.restore()
    expect(status(ada)).to_have_text("Connected")
    ada.expect_participants("Ada")
    expect(ada.page.locator("#notice")).to_be_hidden()
    ada.page.complaints.clear()
    relay.stop()


def test_leave_2_a_removed_user_does_not_reconnect_when_the_page_is_shown_but_may_join_again(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada", role="moderator")
    bob = User.join(open_page, url, room, "Bob")
    # Everybody may mention a participant; only a moderator has more in the menu.
    bob.page.get_by_role("button", name="Menu for Ada").click()
    assert bob.page.get_by_role("menuitem").all_inner_texts() == ["Send a signal…", "Mention Ada"]
    bob.page.keyboard.press("Escape")
    set_visible(bob, False)
    ada.remove("Bob")
    expect(bob.page.get_by_role("alert")).to_contain_text("You were removed from this chat.")
    set_visible(bob, True)
    ada.expect_participants("Ada")
    expect(status(bob)).to_have_text("Not connected")
    # One key would bring the user back at once: only a user who means it does that.
    again = bob.page.get_by_role("button", name="Join again")
    expect(again).not_to_be_focused()
    again.click()
    ada.expect_participants("Ada", "Bob")


def test_pres_2_a_closed_page_leaves_at_once(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    bob.open_inspector()
    ada.page.goto("about:blank")
    expect(bob.log("connectionDestroyed")).to_contain_text("clientDisconnected")
    bob.expect_participants("Bob")


def test_a_user_can_leave_while_the_page_reconnects(open_page, relay, room):
    ada = User.join(open_page, relay.url, room, "Ada")
    relay.cut()
    expect(status(ada)).to_have_text("Reconnecting…")
    ada.page.get_by_role("button", name="Leave").click()
    expect(status(ada)).to_have_text("Not connected")
    expect(ada.page.get_by_label("Your name")).to_be_visible()
    ada.page.complaints.clear()
