"""Typing indicators from one page to another (TYP-1 to TYP-10)."""

import time

import pytest
from conftest import DEADLINE
from playwright.sync_api import expect
from user import User

# A typing user is shown for a few seconds (TYP-7). To be shown at the same time, two users have to keep typing.
KEY_MILLISECONDS = 1000


@pytest.fixture
def ada_and_bob(open_page, url, room):
    return [User.join(open_page, url, room, name) for name in ("Ada", "Bob")]


def choose(user, preset):
    user.open_options()
    user.page.get_by_label("Typing signals").select_option(preset)
    user.page.keyboard.press("Escape")
    user.page.locator("#composer-text").focus()


def test_a_typing_user_is_shown_to_others_until_the_message_is_sent(ada_and_bob):
    """TYP-5, TYP-10"""
    ada, bob = ada_and_bob
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    ada.expect_typing("")
    bob.record_typing()
    ada.page.keyboard.press("Enter")
    bob.expect_messages("h")
    assert bob.recorded_typing == [""], "the message itself ends typing"


def test_a_user_who_stops_typing_is_shown_as_paused_and_then_not_at_all(ada_and_bob):
    ada, bob = ada_and_bob
    # The preset with the shortest times.
    choose(ada, "layerWeb")
    bob.record_typing()
    ada.press_keys("h")
    bob.page.wait_for_function("() => window.typingTexts.at(-1) === ''")
    assert bob.recorded_typing == ["Ada is typing…", "Ada has paused", ""]
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")


def test_deleting_the_draft_ends_typing(ada_and_bob):
    ada, bob = ada_and_bob
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    bob.record_typing()
    ada.page.keyboard.press("Backspace")
    bob.expect_typing("")
    assert bob.recorded_typing == [""], "no pause before the end"


def test_typ_9_closing_the_page_ends_typing(ada_and_bob):
    ada, bob = ada_and_bob
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    bob.record_typing()
    ada.page.close()
    bob.expect_participants("Bob")
    assert bob.recorded_typing == [""], "connectionDestroyed ends typing"


def test_two_typing_users_are_both_named_and_the_layout_does_not_move(open_page, url, room, ada_and_bob):
    ada, bob = ada_and_bob
    cy = User.join(open_page, url, room, "Cy")
    composer = bob.page.locator("#composer-text")
    before = composer.bounding_box()
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    bob.record_typing()
    deadline = time.monotonic() + DEADLINE
    while "Ada and Cy are typing…" not in bob.recorded_typing:
        assert time.monotonic() < deadline, f"both type; Bob saw {bob.recorded_typing}"
        ada.press_keys("h")
        cy.press_keys("h")
        bob.page.wait_for_timeout(KEY_MILLISECONDS)
    assert composer.bounding_box() == before
    assert bob.page.locator("#typing-text").get_attribute("role") == "status"


def test_a_user_can_switch_typing_signals_off(ada_and_bob):
    ada, bob = ada_and_bob
    bob.open_inspector()
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    ada.open_options()
    ada.page.get_by_label("Show others when I type").uncheck()
    ada.page.keyboard.press("Escape")
    bob.expect_typing("")
    signals = bob.log("signal:typing")
    expect(signals.last).to_contain_text("finish")
    count = signals.count()
    ada.press_keys("ello")
    ada.page.locator("#composer-text").press("Enter")
    # Signals arrive in their order: a typing signal would have arrived before the message.
    bob.expect_messages("hello")
    expect(signals).to_have_count(count)


def test_typ_6_the_easemob_preset_is_understood(ada_and_bob):
    ada, bob = ada_and_bob
    bob.open_inspector()
    choose(ada, "easemob")
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    expect(bob.log("signal:TypingBegin").first).to_be_visible()
    ada.page.keyboard.press("Enter")
    bob.expect_typing("")


def test_typ_9_after_a_reconnection_no_user_is_shown_as_typing(ada_and_bob):
    ada, bob = ada_and_bob
    ada.press_keys("h")
    bob.expect_typing("Ada is typing…")
    bob.record_typing()
    bob.set_offline(True)
    bob.expect_status("Reconnecting…")
    assert bob.recorded_typing == [""], "the loss ends typing"
    bob.set_offline(False)
    bob.expect_status("Connected")
    assert bob.recorded_typing == [""]


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
    set_interval(ada, "Pause without a key for", "0.2")
    set_interval(ada, "Finish after a pause of", "")
    ada.page.keyboard.press("Escape")
    bob.record_typing()
    ada.press_keys("h")
    bob.page.wait_for_function("() => window.typingTexts.at(-1) === 'Ada has paused'")
    ada.page.reload()
    ada.expect_status("Connected")
    open_intervals(ada)
    expect(ada.page.get_by_label("Pause without a key for", exact=True)).to_have_value("0.2")
    expect(ada.page.get_by_label("Finish after a pause of", exact=True)).to_have_value("")
    ada.page.get_by_label("Typing signals").select_option("layer")
    expect(ada.page.get_by_label("Pause without a key for", exact=True)).to_have_value("10")


def test_an_interval_that_cannot_work_is_refused_with_the_reason(ada_and_bob):
    ada, _ = ada_and_bob
    open_intervals(ada)
    set_interval(ada, "Show typing for", "1")
    alert = ada.page.locator("#typing-error")
    expect(alert).to_contain_text("Show typing for is too short")
    expect(ada.page.get_by_label("Show typing for", exact=True)).to_have_attribute("aria-invalid", "true")
    set_interval(ada, "Show typing for", "12")
    expect(alert).to_be_hidden()
