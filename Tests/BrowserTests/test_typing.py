"""Typing indicators from one page to another (TYP-1 to TYP-10). `chat-typing.test.js` has the rules one by one."""

import pytest
from playwright.sync_api import expect
from user import User


@pytest.fixture
def ada_and_bob(open_page, url, room):
    return [User.join(open_page, url, room, name) for name in ("Ada", "Bob")]


def test_a_typing_user_is_shown_to_others_until_the_message_is_sent(ada_and_bob):
    """TYP-5, TYP-10"""
    ada, bob = ada_and_bob
    for user in (ada, bob):
        user.hold_typing()
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    ada.expect_typing("")
    bob.record_typing()
    ada.page.keyboard.press("Enter")
    bob.expect_messages("h")
    assert bob.recorded_typing == [""], "the message itself ends typing"


def test_two_typing_users_are_both_named_and_the_layout_does_not_move(open_page, url, room, ada_and_bob):
    ada, bob = ada_and_bob
    cy = User.join(open_page, url, room, "Cy")
    # A typing user is shown for a few seconds (TYP-7). Here they are shown at the same time.
    for user in (ada, bob, cy):
        user.hold_typing()
    composer = bob.page.locator("#composer-text")
    before = composer.bounding_box()
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    cy.press_keys("h")
    bob.expect_typing("Ada and Cy are typing…")
    assert composer.bounding_box() == before
    assert bob.page.locator("#typing-text").get_attribute("role") == "status"


def open_intervals(user):
    user.open_options()
    user.page.get_by_text("Typing intervals, in seconds").click()


def set_interval(user, label, seconds):
    field = user.page.get_by_label(label, exact=True)
    field.fill(seconds)
    field.press("Tab")


def test_a_user_can_set_the_typing_intervals_which_survive_a_reload(ada_and_bob):
    ada, bob = ada_and_bob
    open_intervals(ada)
    set_interval(ada, "Show typing for", "1")
    alert = ada.page.locator("#typing-error")
    expect(alert).to_contain_text("Show typing for is too short")
    expect(ada.page.get_by_label("Show typing for", exact=True)).to_have_attribute("aria-invalid", "true")
    set_interval(ada, "Show typing for", "12")
    expect(alert).to_be_hidden()
    set_interval(ada, "Pause without a key for", "0.2")
    set_interval(ada, "Finish after a pause of", "")
    ada.page.keyboard.press("Escape")
    bob.record_typing()
    ada.press_keys("h")
    bob.page.wait_for_function("() => window.typingTexts.includes('Ada has paused')")
    ada.page.reload()
    ada.expect_status("Connected")
    open_intervals(ada)
    expect(ada.page.get_by_label("Pause without a key for", exact=True)).to_have_value("0.2")
    expect(ada.page.get_by_label("Finish after a pause of", exact=True)).to_have_value("")
    ada.page.get_by_label("Typing signals").select_option("layer")
    expect(ada.page.get_by_label("Pause without a key for", exact=True)).to_have_value("10")
