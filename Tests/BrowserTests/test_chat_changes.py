"""Users of `<signalbox-chat>` edit, delete, copy and answer messages, with pointer, keyboard and finger."""

import gzip
import re

import pytest
from chat_element import element, expect_messages, expect_state, send
from conftest import REPOSITORY
from playwright.sync_api import expect
from test_accessibility import NAMELESS, assert_contrast

DIST = REPOSITORY / "web-test-client/dist"

DELETED = "This message was deleted."

# What the page hears of keys.
HEARD = """() => {
  window.heard = [];
  for (const name of ['keydown', 'keypress', 'keyup']) document.addEventListener(name, ({ key }) => window.heard.push(key));
}"""

# Messages of others, as many as a long list needs.
FLOOD = """(chat, count) => {
  const from = { connectionId: 'zoe', data: 'name=Zoe' };
  for (let index = 0; index < count; index += 1) {
    chat.component.handle({ kind: 'signal', type: 'text-chat', data: `{"text":"flood ${index}"}`, from, seq: 1e6 + index }, Date.now());
  }
}"""


# Clicks on a quote. What it leads to is marked for 2 s only: its text, and whether the user sees it.
FOLLOW = """async (quote) => {
  const root = quote.getRootNode();
  quote.click();
  let found = null;
  while (found === null) {
    await new Promise(requestAnimationFrame);
    found = root.querySelector('.found');
  }
  await new Promise(requestAnimationFrame);
  const view = root.getElementById('messages-scroll').getBoundingClientRect();
  const { top, bottom } = found.getBoundingClientRect();
  return [found.querySelector('.bubble').textContent, top >= view.top && bottom <= view.bottom];
}"""


@pytest.fixture
def join(open_host, access):
    """Opens the chat of a user with a tab of their own. The part with the changes is loaded."""

    def join(name, attributes=None, options=None, **query):
        tag = element(access(name, user=f"u-{name.lower()}", **query), **(attributes or {}))
        page = open_host('<meta name="viewport" content="width=device-width">' + tag, **(options or {}))
        expect_state(page, "connected")
        page.locator("#chat #composer-text").focus()
        expect(page.locator("#chat .reply-bar")).to_have_count(1)
        return page

    return join


def row(page, text):
    bubble = page.locator(".bubble", has_text=re.compile(f"^{re.escape(text)}$"))
    return page.locator("#chat #messages [data-kind=message]", has=bubble)


def say(page, text):
    """Sends a message, and waits until the page knows its place in the session: before, nothing can be done with it."""
    send(page, text)
    expect(row(page, text).locator(".reply:not([hidden])")).to_have_count(1)


def open_menu(page, text):
    row(page, text).locator(".bubble").hover()
    row(page, text).locator(".row-menu").click()
    return page.get_by_role("menuitem")


def choose(page, text, command):
    open_menu(page, text)
    page.get_by_role("menuitem", name=command).click()


def editor(page):
    return page.locator("#chat .editor textarea")


def said(page):
    return page.locator("#chat [role=status].visually-hidden")


def test_the_first_load_stays_small():
    assert len(gzip.compress((DIST / "signalbox-chat.js").read_bytes(), 9)) <= 100_000


def test_chat_13_a_typing_error_takes_three_keys(join):
    ada, bob = join("Ada"), join("Bob")
    say(ada, "See you at te")
    expect_messages(bob, "See you at te")
    ada.evaluate(HEARD)
    for key in ("ArrowUp", "n", "Enter"):
        ada.keyboard.press(key)
    for page in (ada, bob):
        expect_messages(page, "See you at ten")
        mark = page.locator("#chat .edited")
        expect(mark).to_have_text("edited")
        expect(mark).to_have_attribute("title", re.compile("^Edited "))
    expect(ada.locator("#chat #composer-text")).to_be_focused()
    expect(said(ada)).to_have_text("The message was changed.")
    # Neither the page nor a screen reader at the other end hears of it.
    assert ada.evaluate("window.heard") == []
    expect(said(bob)).to_have_text("")
    assert bob.evaluate("chat.unreadCount") == 0
    # Who comes later reads the same.
    carl = join("Carl")
    expect_messages(carl, "See you at ten")
    expect(carl.locator("#chat .edited")).to_have_count(1)


def test_chat_13_an_editor_keeps_its_text_and_its_undo_whatever_comes(join):
    ada, bob = join("Ada"), join("Bob")
    say(ada, "one")
    expect_messages(bob, "one")
    ada.keyboard.press("ArrowUp")
    expect(editor(ada)).to_be_focused()
    ada.keyboard.type(" two")
    for text in ("a", "b"):
        say(bob, text)
    expect(ada.locator("#chat .bubble").last).to_have_text("b")
    ada.locator("#chat").evaluate("(chat) => { chat.lang = 'de'; }")
    expect(ada.get_by_role("button", name="Speichern", include_hidden=True)).to_have_text("Speichern")
    ada.locator("#chat").evaluate(FLOOD, 3000)
    expect(ada.locator("#chat .bubble").last).to_have_text("flood 2999")
    # The row is far above the view now, and the focus elsewhere: other rows there have lost their elements.
    ada.locator("#chat #messages-scroll").focus()
    ada.locator("#chat").evaluate("(chat) => chat.scrollToEnd()")
    ada.wait_for_function("() => chat.shadowRoot.querySelectorAll('#messages [data-kind]').length < 1500")
    expect(editor(ada)).to_have_value("one two")
    editor(ada).focus()
    ada.keyboard.press("Control+z")
    assert editor(ada).input_value() != "one two"
    ada.keyboard.press("Control+Shift+z")
    expect(editor(ada)).to_have_value("one two")
    ada.keyboard.press("Enter")
    expect(editor(ada)).to_have_count(0)
    expect(bob.locator("#chat .bubble").first).to_have_text("one two")


def test_escape_in_the_editor_is_not_for_the_page_and_the_focus_goes_back_to_the_message(join):
    ada = join("Ada")
    say(ada, "one")
    ada.evaluate(HEARD)
    choose(ada, "one", "Edit")
    expect(editor(ada)).to_be_focused()
    expect(ada.locator("#chat .editor-keys")).to_have_text("Escape cancels, Enter saves")
    ada.keyboard.type("!")
    ada.keyboard.press("Escape")
    expect(editor(ada)).to_have_count(0)
    expect_messages(ada, "one")
    expect(row(ada, "one")).to_be_focused()
    # Of the letter and of Enter it hears nothing either; only that Escape was let go, with the focus elsewhere.
    assert set(ada.evaluate("window.heard")) <= {"Escape"} and ada.evaluate("window.heard.length") <= 1


def test_chat_14_a_message_that_a_moderator_deletes_while_it_is_edited_leaves_its_text_in_the_field(join):
    ada, carl = join("Ada"), join("Carl", role="moderator")
    say(ada, "one")
    expect_messages(carl, "one")
    ada.keyboard.press("ArrowUp")
    ada.keyboard.type(" and what I wrote")
    choose(carl, "one", "Delete this message…")
    carl.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect_messages(ada, DELETED)
    expect(editor(ada)).to_have_count(0)
    expect(ada.locator("#chat #composer-text")).to_have_value("one and what I wrote")
    expect(ada.locator("#chat #composer-hint")).to_have_text(
        "The message that you were editing was deleted. Your text is in the input field."
    )


def test_chg_7_a_change_in_a_second_tab_is_told_and_enter_replaces_it(join):
    first, second = join("Ada"), join("Ada")
    say(first, "one")
    expect_messages(second, "one")
    first.keyboard.press("ArrowUp")
    first.keyboard.type(" of the first")
    second.locator("#chat #composer-text").focus()
    second.keyboard.press("ArrowUp")
    second.keyboard.type(" of the second")
    second.keyboard.press("Enter")
    expect_messages(second, "one of the second")
    expect(first.locator("#chat .editor-note")).to_have_text(
        "This message was changed meanwhile. If you save, your text replaces that change."
    )
    expect(editor(first)).to_have_value("one of the first")
    first.keyboard.press("Enter")
    for page in (first, second):
        expect_messages(page, "one of the first")


def test_chg_6_an_author_deletes_by_keyboard_and_goes_on_with_the_next_message(join):
    ada, bob = join("Ada"), join("Bob")
    for text in ("one", "two", "three"):
        say(ada, text)
    expect_messages(bob, "one", "two", "three")
    ada.locator("#chat #messages-scroll").focus()
    for _ in range(3):
        ada.keyboard.press("ArrowUp")
    ada.keyboard.press("Delete")
    dialog = ada.get_by_role("dialog", name="Delete your message?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    ada.keyboard.press("Escape")
    expect(row(ada, "one")).to_be_focused()
    ada.keyboard.press("Delete")
    ada.keyboard.press("Tab")
    ada.keyboard.press("Enter")
    for page in (ada, bob):
        expect_messages(page, DELETED, "two", "three")
    expect(row(ada, "two")).to_be_focused()
    expect(said(ada)).to_have_text(DELETED)
    ada.keyboard.press("Shift+Delete")
    for page in (ada, bob):
        expect_messages(page, DELETED, DELETED, "three")
    expect(row(ada, "three")).to_be_focused()
    expect(row(ada, DELETED).first.locator(".toolbar")).to_have_count(0)


def test_chat_12_a_reply_quotes_and_a_click_leads_to_the_message(join):
    ada, bob = join("Ada"), join("Bob")
    say(bob, "Shall we meet at ten?")
    expect_messages(ada, "Shall we meet at ten?")
    ada.locator("#chat #messages-scroll").focus()
    ada.keyboard.press("ArrowUp")
    ada.keyboard.press("r")
    bar = ada.locator("#chat .reply-bar")
    expect(bar).to_have_text("Reply to BobShall we meet at ten?×")
    expect(ada.locator("#chat #composer-text")).to_be_focused()
    expect(ada.locator("#chat #composer-text")).to_have_accessible_description(re.compile("Reply to Bob"))
    say(ada, "Yes")
    expect(bar).to_be_hidden()
    for page in (ada, bob):
        expect(row(page, "Yes").locator(".quote-line")).to_have_text("Shall we meet at ten?")
    expect(row(bob, "Yes").locator(".quote")).to_have_accessible_name(re.compile("^Reply to your message: "))
    bob.locator("#chat").evaluate(FLOOD, 60)
    assert row(bob, "Yes").locator(".quote").evaluate(FOLLOW) == ["Shall we meet at ten?", True]
    expect(bob.locator("#chat .found")).to_have_count(0)
    # What is edited or deleted, is so in the quote.
    bob.locator("#chat").evaluate("(chat) => chat.scrollToEnd()")
    choose(bob, "Shall we meet at ten?", "Edit")
    bob.keyboard.press("Control+a")
    bob.keyboard.type("At eleven?")
    bob.keyboard.press("Enter")
    expect(row(ada, "Yes").locator(".quote-line")).to_have_text("At eleven?")
    choose(bob, "At eleven?", "Delete this message…")
    bob.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row(ada, "Yes").locator(".quote-line")).to_have_text(DELETED)


def test_chat_12_a_message_that_is_not_loaded_is_loaded_by_a_click(join):
    ada = join("Ada")
    say(ada, "the first")
    for index in range(110):
        ada.locator("#chat").evaluate("(chat, text) => chat.send({ text })", f"message {index}")
    choose(ada, "the first", "Reply")
    say(ada, "to the first")
    bob = join("Bob")
    quote = row(bob, "to the first").locator(".quote")
    expect(quote.locator(".quote-line")).to_have_text("Earlier message")
    assert quote.evaluate(FOLLOW) == ["the first", True]


def test_mod_4_who_is_muted_can_copy_and_nothing_else(join):
    ada, carl = join("Ada"), join("Carl", role="moderator")
    say(ada, "one")
    expect_messages(carl, "one")
    expect(open_menu(ada, "one")).to_have_text(["Edit", "Delete this message…", "Copy", "Reply", "React"])
    ada.keyboard.press("Escape")
    choose(carl, "one", "Mute until lifted…")
    carl.get_by_role("dialog").get_by_role("button", name="Mute").click()
    expect(ada.locator("#chat #restriction")).to_be_visible()
    expect(open_menu(ada, "one")).to_have_text(["Copy"])
    ada.keyboard.press("Escape")
    expect(row(ada, "one").locator(".reply")).to_be_hidden()


def test_copy_copies_the_text(join):
    ada = join("Ada")
    ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    say(ada, "to be **copied**")
    choose(ada, "to be **copied**", "Copy")
    expect(said(ada)).to_have_text("Copied.")
    ada.locator("#chat #composer-text").press("Control+v")
    expect(ada.locator("#chat #composer-text")).to_have_value("to be **copied**")


PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}


def test_on_a_phone_a_long_press_opens_the_menu_and_scrolling_does_not(join):
    ada = join("Ada", options=PHONE)
    say(ada, "one")
    box = row(ada, "one").locator(".bubble").bounding_box()
    point = {"x": box["x"] + 10, "y": box["y"] + 10}
    finger = ada.context.new_cdp_session(ada)

    def touch(kind, *points):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    touch("touchStart", point)
    touch("touchMove", point | {"y": point["y"] - 40})
    ada.wait_for_timeout(700)
    touch("touchEnd")
    expect(ada.get_by_role("menu")).to_be_hidden()
    expect(row(ada, "one")).not_to_have_class(re.compile("chosen"))
    touch("touchStart", point)
    expect(row(ada, "one")).to_have_class(re.compile("chosen"))
    touch("touchEnd")
    expect(ada.get_by_role("menuitem")).to_have_text(["Edit", "Delete this message…", "Copy", "Reply", "React"])
    ada.get_by_role("menuitem", name="Edit").tap()
    editor(ada).fill("two")
    ada.get_by_role("button", name="Save").tap()
    expect_messages(ada, "two")
    row(ada, "two").locator(".row-menu").tap()
    ada.get_by_role("menuitem", name="Edit").tap()
    ada.get_by_role("button", name="Cancel").tap()
    expect(editor(ada)).to_have_count(0)


@pytest.mark.parametrize("name", ["desktop", "phone", "dark", "arabic", "opentok"])
def test_the_pictures_of_changes_and_replies(join, screenshots, name):
    options = {
        "phone": PHONE, "dark": {"color_scheme": "dark"}, "arabic": {"viewport": {"width": 360, "height": 640}},
    }.get(name)  # fmt: skip
    attributes = {"arabic": {"lang": "ar"}, "dark": {"scheme": "dark"}, "opentok": {"look": "opentok"}}.get(name)
    bob = join("Bob")
    ada = join("Ada", attributes=attributes, options=options)
    say(bob, "Shall we meet on Tuesday? I would like to show you a few things before the others come.")
    expect(ada.locator("#chat .bubble")).to_have_count(1)
    ada.locator("#chat .reply").evaluate("(button) => button.click()")
    expect(ada.locator("#chat .reply-bar")).to_be_visible()
    ada.screenshot(path=screenshots / f"changes-reply-{name}.png")
    say(ada, "نعم" if name == "arabic" else "Yes")
    say(ada, "At the usal place")
    ada.locator("#chat #composer-text").press("ArrowUp")
    ada.keyboard.type(", at ten")
    ada.screenshot(path=screenshots / f"changes-editor-{name}.png")
    assert_sound(ada)
    ada.keyboard.press("Enter")
    expect(ada.locator("#chat .edited")).to_have_count(1)
    last = ada.locator("#chat [data-kind=message]").last
    last.locator(".bubble").hover()
    last.locator(".row-menu").click()
    ada.screenshot(path=screenshots / f"changes-menu-{name}.png")
    assert_sound(ada)


def assert_sound(page):
    assert page.evaluate(NAMELESS) == []
    scroll = "(chat) => { const { scrollWidth, clientWidth } = chat.shadowRoot.getElementById('messages-scroll'); return scrollWidth - clientWidth; }"
    assert page.locator("#chat").evaluate(scroll) <= 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_editor_quote_mark_and_bar_have_enough_contrast(join):
    ada = join("Ada", options={"reduced_motion": "reduce"})
    for text in ("one", "two"):
        say(ada, text)
    ada.keyboard.press("ArrowUp")
    ada.keyboard.type("!")
    ada.keyboard.press("Enter")
    expect(ada.locator("#chat .edited")).to_have_count(1)
    choose(ada, "one", "Reply")
    say(ada, "three")
    choose(ada, "one", "Reply")
    choose(ada, "two!", "Edit")
    ada.keyboard.press("Control+a")
    ada.keyboard.press("Backspace")
    ada.keyboard.press("Enter")
    expect(ada.locator("#chat .editor-note")).to_have_text("A message cannot be empty. You can delete it.")
    assert ada.evaluate(NAMELESS) == []
    assert_contrast(ada)
