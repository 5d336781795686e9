"""The language of the test page: that of the browser."""

import re

from playwright.sync_api import expect
from user import User

# Every visible text of the page and of its chat with Latin letters, which no Arabic text has: one that is in no table.
LATIN = """
  () => {
    const found = new Set();
    const note = (text) => /[a-z]{2}/i.test(text) && found.add(text.replace(/\\s+/g, ' ').trim());
    for (const root of [document, document.getElementById('chat')?.shadowRoot].filter(Boolean)) {
      for (const each of root.querySelectorAll('body *, .chat *')) {
        if (!each.checkVisibility() || each.closest('style, script, .bubble, bdi, kbd, .avatar, .room-name, h1')) continue;
        for (const { nodeType, data } of each.childNodes) if (nodeType === Node.TEXT_NODE) note(data);
        for (const name of ['aria-label', 'aria-description', 'placeholder', 'title']) note(each.getAttribute(name) ?? '');
      }
    }
    return [...found].sort();
  }
"""

# Settings for developers, names of products and of OpenTok's roles, and the browsers.
FOR_DEVELOPERS = ("Typing", "typing", "Standard", "Layer", "Easemob", "Message signals", "JSON", "Text only", "OpenTok")


def left_over(page):
    return [text for text in page.evaluate(LATIN) if not text.startswith(FOR_DEVELOPERS)]


def test_the_page_has_the_language_and_direction_of_the_browser(open_page, url):
    """`words.test.js` of the page chooses among the languages."""
    page = open_page(url + "/", locale="ar-EG")
    expect(page.locator("#join-button")).to_have_text("انضمام")
    assert page.evaluate("() => [document.documentElement.lang, document.documentElement.dir]") == ["ar-EG", "rtl"]


def test_every_visible_text_of_the_page_is_in_the_tables(open_page, url, room, screenshots):
    page = open_page(url + "/", locale="ar")
    page.locator("#room-fields summary").click()
    page.screenshot(path=screenshots / "page-form-ar.png")
    assert [each for each in left_over(page) if "Chrome" not in each] == []
    page.locator("#name").fill("Ada")
    page.locator("#room").fill("not a room!?")
    page.locator("#join-button").click()
    expect(page.locator("#join-error")).to_be_visible()
    # The rule names the letters.
    assert [each for each in left_over(page) if "A–Z" not in each and "Chrome" not in each] == []
    page.locator("#room").fill(room)
    page.locator("#role").select_option("moderator")
    page.locator("#join-button").click()
    expect(page.locator("#composer-text")).to_be_focused()
    bob = User.join(open_page, url, room, "Bob")
    bob.send("hello")
    expect(page.locator("#chat .bubble")).to_have_text("hello")
    page.locator("#options-toggle").click()
    page.locator("#panes").screenshot(path=screenshots / "page-room-ar.png")
    ids = page.evaluate("() => [...document.querySelectorAll('.participant')].map((each) => each.title)")
    assert [each for each in left_over(page) if each not in ids and "Bob" not in each] == []
    page.keyboard.press("Escape")
    page.locator(".menu-button").click()
    page.locator("#action-menu [role=menuitem]").nth(1).wait_for()
    assert [each for each in left_over(page) if each not in ids and "Bob" not in each] == []
    page.locator("#action-menu").get_by_text("إزالة…").click()
    assert [each for each in left_over(page) if each not in ids and "Bob" not in each] == []
    page.locator("#question-yes").click()
    expect(bob.page.get_by_role("alert")).to_contain_text("You were removed from this chat.")


def test_what_a_page_says_of_a_reconnection_and_of_two_users_is_in_the_tables(open_page, url, room, screenshots):
    page = open_page(url + "/", locale="ar")
    page.locator("#room").fill(room)
    page.locator("#join-button").click()
    expect(page.locator("#composer-text")).to_be_focused()

    def look():
        ids = page.evaluate("() => [...document.querySelectorAll('.participant')].map((each) => each.title)")
        assert [each for each in left_over(page) if each not in ids] == []

    def set_offline(is_offline):
        page.locator("#options-toggle").click()
        page.locator("#offline").set_checked(is_offline)
        page.keyboard.press("Escape")

    set_offline(True)
    expect(page.locator("#chat #offline-hint")).to_be_visible()
    look()
    set_offline(False)
    expect(page.locator("#chat #back-report")).to_be_visible()
    look()
    # A user without a name has one in the language of the reader.
    expect(page.locator("#own-name")).to_have_text(re.compile(r"^ضيف \d+$"))
    page.locator("#second").click()
    expect(page.locator("#status-2")).to_have_attribute("data-state", "connected")
    look()
    page.locator("#cable-button").click()
    expect(page.locator("#status-2")).to_have_attribute("data-state", "reconnecting")
    page.locator("#chat #composer-text").fill("١")
    page.locator("#chat #composer-text").press("Enter")
    expect(page.locator("#score")).to_contain_text("في الطريق")
    look()
    page.screenshot(path=screenshots / "page-two-users-ar.png")
    page.complaints.clear()
