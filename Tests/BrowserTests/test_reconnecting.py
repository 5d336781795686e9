"""A page whose connection breaks: it comes back, and nobody else notices (G3, G7)."""

import pytest
from person import MESSAGE_ROWS, Person
from playwright.sync_api import expect
from relay import Relay


@pytest.fixture
def relay(url):
    relay = Relay(url)
    yield relay
    relay.stop()


def status(person):
    return person.page.locator("#status-text")


def test_a_dropped_connection_resumes_and_the_others_notice_nothing(open_page, url, room, screenshots):
    ada = Person.join(open_page, url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    for person in (ada, bob):
        person.open_inspector()
    ada.drop_connection()
    expect(ada.log("sessionReconnecting")).to_have_count(1)
    expect(ada.log("sessionReconnected")).to_contain_text("resumed")
    expect(status(ada)).to_have_text("Connected")
    ada.say("still me")
    bob.sees_messages("still me")
    ada.sees_people("Ada", "Bob")
    bob.sees_people("Ada", "Bob")
    expect(bob.log("connectionDestroyed")).to_have_count(0)
    expect(bob.log("connectionCreated")).to_have_count(2)
    ada.page.screenshot(path=screenshots / "resumed.png")


def test_what_is_said_meanwhile_arrives_once_in_both_directions(open_page, url, relay, room, screenshots):
    ada = Person.join(open_page, relay.url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    bob.open_inspector()
    ada.say("one")
    bob.sees_messages("one")
    relay.cut()
    expect(status(ada)).to_have_text("Reconnecting…")
    ada.say("three")
    bob.say("two")
    expect(bob.page.locator(MESSAGE_ROWS).last).to_have_attribute("data-state", "sent")
    expect(ada.page.locator(MESSAGE_ROWS).last).to_have_attribute("data-state", "pending")
    ada.sees_messages("one", "three")
    ada.page.screenshot(path=screenshots / "reconnecting.png")
    relay.mend()
    expect(status(ada)).to_have_text("Connected")
    for person in (ada, bob):
        person.sees_messages("one", "two", "three")
    expect(ada.page.locator(MESSAGE_ROWS).last).to_have_attribute("data-state", "sent")
    expect(bob.log("connectionDestroyed")).to_have_count(0)
    # The browser itself reports sockets that could not be opened.
    ada.page.complaints.clear()


def look(person, is_looking):
    """The reader turns to another tab, or back."""
    person.page.evaluate(
        """isHidden => {
             Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
             document.dispatchEvent(new Event('visibilitychange'));
           }""",
        not is_looking,
    )


def give_up(person, own_server, relay, url):
    """The connection ends for good: another server, with other keys, refuses to take it."""
    own_server.stop()
    relay.lead_to(url)
    expect(person.page.get_by_role("alert")).to_contain_text("The connection was lost.")
    expect(status(person)).to_have_text("Not connected")


def test_a_page_that_gave_up_has_a_button(open_page, own_server, url, room):
    relay = Relay(own_server.url)
    ada = Person.join(open_page, relay.url, room, "Ada")
    give_up(ada, own_server, relay, url)
    relay.cut()
    again = ada.page.get_by_role("button", name="Join again")
    again.click()
    expect(ada.page.get_by_role("alert")).to_contain_text("The server did not hand out a token.")
    relay.mend()
    again.click()
    expect(status(ada)).to_have_text("Connected")
    expect(ada.page.locator("#notice")).to_be_hidden()
    ada.page.complaints.clear()
    relay.stop()


def test_a_page_that_gave_up_unseen_tries_again_when_it_is_looked_at(open_page, own_server, url, room):
    relay = Relay(own_server.url)
    ada = Person.join(open_page, relay.url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    look(ada, False)
    give_up(ada, own_server, relay, url)
    bob.say("where are you?")
    look(ada, True)
    expect(status(ada)).to_have_text("Connected")
    expect(ada.page.locator("#notice")).to_be_hidden()
    bob.sees_people("Bob", "Ada")
    bob.say("there you are")
    expect(ada.bubble("there you are")).to_be_visible()
    ada.page.complaints.clear()
    relay.stop()


def test_a_page_that_slept_for_too_long_tries_again_after_waking(open_page, own_server, url, room):
    """It is looked at first, and only then does it find that its time has passed."""
    relay = Relay(own_server.url)
    ada = Person.join(open_page, relay.url, room, "Ada")
    relay.cut()
    expect(status(ada)).to_have_text("Reconnecting…")
    look(ada, False)
    own_server.stop()
    relay.lead_to(url)
    look(ada, True)
    relay.mend()
    expect(status(ada)).to_have_text("Connected")
    ada.sees_people("Ada")
    expect(ada.page.locator("#notice")).to_be_hidden()
    ada.page.complaints.clear()
    relay.stop()


def test_who_was_removed_is_not_brought_back_by_looking(open_page, url, room):
    ada = Person.join(open_page, url, room, "Ada", role="moderator")
    bob = Person.join(open_page, url, room, "Bob")
    look(bob, False)
    ada.page.get_by_role("button", name="Remove Bob").click()
    expect(bob.page.get_by_role("alert")).to_contain_text("You were removed from this room.")
    look(bob, True)
    ada.sees_people("Ada")
    expect(status(bob)).to_have_text("Not connected")


def test_a_page_that_is_closed_is_gone_at_once(open_page, url, room):
    ada = Person.join(open_page, url, room, "Ada")
    bob = Person.join(open_page, url, room, "Bob")
    bob.open_inspector()
    ada.page.goto("about:blank")
    expect(bob.log("connectionDestroyed")).to_contain_text("clientDisconnected")
    bob.sees_people("Bob")


def test_a_page_can_be_left_while_it_reconnects(open_page, relay, room):
    ada = Person.join(open_page, relay.url, room, "Ada")
    relay.cut()
    expect(status(ada)).to_have_text("Reconnecting…")
    ada.page.get_by_role("button", name="Leave").click()
    expect(status(ada)).to_have_text("Not connected")
    expect(ada.page.get_by_label("Your name")).to_be_visible()
    ada.page.complaints.clear()
