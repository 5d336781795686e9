"""Typing indicators, from one page to another."""

import pytest
from person import Person
from playwright.sync_api import expect


@pytest.fixture
def ada_and_bob(open_page, url, room):
    return [Person.join(open_page, url, room, name) for name in ("Ada", "Bob")]


def key(person, text="h"):
    person.page.locator("#composer-text").press_sequentially(text)


def choose(person, preset):
    person.open_options()
    person.page.get_by_label("Typing signals").select_option(preset)
    person.page.keyboard.press("Escape")
    person.page.locator("#composer-text").focus()


def test_who_types_is_shown_to_the_other_and_the_message_ends_it(ada_and_bob):
    ada, bob = ada_and_bob
    key(ada)
    bob.sees_typing("Ada is typing…")
    ada.sees_typing("")
    ada.page.keyboard.press("Enter")
    bob.sees_messages("h")
    bob.sees_typing("")


def test_silence_is_a_pause_and_then_the_end(ada_and_bob):
    ada, bob = ada_and_bob
    # The preset with the shortest times.
    choose(ada, "layerWeb")
    key(ada)
    bob.sees_typing("Ada is typing…")
    bob.sees_typing("Ada has paused")
    bob.sees_typing("")
    key(ada)
    bob.sees_typing("Ada is typing…")


def test_a_draft_that_is_deleted_is_the_end(ada_and_bob):
    ada, bob = ada_and_bob
    key(ada)
    bob.sees_typing("Ada is typing…")
    ada.page.keyboard.press("Backspace")
    bob.sees_typing("")


def test_a_closed_tab_types_no_more(ada_and_bob):
    ada, bob = ada_and_bob
    key(ada)
    bob.sees_typing("Ada is typing…")
    ada.page.close()
    bob.sees_typing("")
    bob.sees_people("Bob")


def test_two_who_type_are_both_named_and_nothing_moves(open_page, url, room, ada_and_bob):
    ada, bob = ada_and_bob
    cy = Person.join(open_page, url, room, "Cy")
    field = bob.page.locator("#composer-text")
    before = field.bounding_box()
    key(ada)
    bob.sees_typing("Ada is typing…")
    key(cy)
    bob.sees_typing("Ada and Cy are typing…")
    assert field.bounding_box() == before
    assert bob.page.locator("#typing-text").get_attribute("role") == "status"


def test_whoever_does_not_want_to_be_seen_is_not(ada_and_bob):
    ada, bob = ada_and_bob
    bob.open_inspector()
    key(ada)
    bob.sees_typing("Ada is typing…")
    ada.open_options()
    ada.page.get_by_label("Show others when I type").uncheck()
    ada.page.keyboard.press("Escape")
    bob.sees_typing("")
    expect(bob.log("signal:typing")).to_have_count(2)
    key(ada, "ello")
    ada.page.locator("#composer-text").press("Enter")
    # What comes after it has come: so a typing signal would be here, if it were coming.
    bob.sees_messages("hello")
    expect(bob.log("signal:typing")).to_have_count(2)


def test_easemobs_preset_is_understood(ada_and_bob):
    ada, bob = ada_and_bob
    bob.open_inspector()
    choose(ada, "easemob")
    key(ada)
    bob.sees_typing("Ada is typing…")
    expect(bob.log("signal:TypingBegin")).to_have_count(1)
    ada.page.keyboard.press("Enter")
    bob.sees_typing("")


def test_who_comes_back_sees_nobody_type_until_they_do(ada_and_bob):
    ada, bob = ada_and_bob
    key(ada)
    bob.sees_typing("Ada is typing…")
    bob.unplug()
    expect(bob.page.locator("#status-text")).to_have_text("Reconnecting…")
    bob.unplug(False)
    expect(bob.page.locator("#status-text")).to_have_text("Connected")
    bob.sees_typing("")
