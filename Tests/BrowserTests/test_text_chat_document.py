"""docs/text-chat-web.md: its complete page works as written. `text-chat-document.test.js` runs its other code.

The test changes two things: the address of its server replaces 127.0.0.1:8080, and a room of its own `lobby`.
"""

import re

import pytest
from application import Application
from conftest import REPOSITORY
from playwright.sync_api import expect
from refusing_proxy import RefusingProxy

pytestmark = pytest.mark.reads(
    "docs/text-chat-web.md", "web-test-client/text-chat", "web-test-client/opentok", "web-test-client/client",
    "Tests/BrowserTests/test_text_chat_document.py",
)  # fmt: skip

DOCUMENT = (REPOSITORY / "docs/text-chat-web.md").read_text()
(PAGE,) = re.findall(r"^```html\n(<!doctype html>.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


class Person:
    def __init__(self, page):
        self.page = page
        expect(page.get_by_role("status")).to_have_text("Connected")

    def send(self, text):
        self.page.get_by_label("Message").fill(text)
        self.page.get_by_role("button", name="Send").click()

    def set_hidden(self, is_hidden):
        self.page.evaluate(
            """isHidden => {
                 Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
                 document.dispatchEvent(new Event('visibilitychange'));
               }""",
            is_hidden,
        )

    def expect_rows(self, *rows):
        """The rows below the day and the beginning: `sent: text`, `Name: text` where the name is shown, `: text`, or `unreadDivider`."""
        self.page.wait_for_function(
            """rows => {
                 const text = (item, name) => item.querySelector(name)?.textContent ?? '';
                 const shown = [...document.querySelectorAll('#rows > li:not(.day):not(.beginning)')].map((item) =>
                   !item.classList.contains('message') ? item.className
                     : `${item.classList.contains('sent') ? 'sent' : text(item, '.name')}: ${text(item, '.text')}`);
                 return JSON.stringify(shown) === JSON.stringify(rows);
               }""",
            arg=list(rows),
        )


@pytest.fixture
def meet(open_page, url, room):
    """Opens the page for Ada, with `open_first` in place of `open_page`, and for Bob."""
    html = PAGE.replace("http://127.0.0.1:8080", url).replace("/room/lobby", f"/room/{room}")
    assert html.count(url) == 3 and room in html
    application = Application(html)

    def meet(open_first=open_page):
        return (
            Person(open_first(f"{application.url}/chat.html?name=Ada")),
            Person(open_page(f"{application.url}/chat.html?name=Bob")),
        )

    yield meet
    application.stop()


@pytest.mark.smoke
def test_the_page_shows_messages_in_groups_below_their_day(meet, screenshots):
    ada, bob = meet()
    for text in ("one", "two"):
        ada.send(text)
    bob.expect_rows("Ada: one", ": two")
    ada.expect_rows("sent: one", "sent: two")
    expect(ada.page.get_by_label("Message")).to_have_value("")
    bob.send("three")
    ada.expect_rows("sent: one", "sent: two", "Bob: three")
    # The time is shown on the last message of each group.
    expect(ada.page.locator("#rows .time")).to_have_count(2)
    expect(ada.page.locator("#rows > .day")).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d$"))
    ada.page.screenshot(path=screenshots / "document-chat.png")


def test_the_page_shows_who_is_typing(meet):
    ada, bob = meet()
    # However briefly the page shows it.
    ada.page.evaluate(
        """() => {
             window.said = [];
             const line = document.getElementById('typing');
             new MutationObserver(() => said.push(line.textContent)).observe(line, { childList: true, characterData: true });
           }"""
    )
    bob.page.get_by_label("Message").press_sequentially("I am h")
    ada.page.wait_for_function("() => said.includes('Bob is typing…')")
    bob.page.get_by_role("button", name="Send").click()
    expect(ada.page.locator("#typing")).to_have_text("")
    ada.expect_rows("Bob: I am h")


def test_the_page_retries_and_discards_a_failed_message(meet, open_page):
    proxy = RefusingProxy(open_page, "unlucky")
    ada, bob = meet(proxy.open)
    ada.send("unlucky one")
    failed = ada.page.locator("#rows > .message", has_text="Not sent: too many signals")
    expect(failed).to_have_count(1)
    ada.send("later")
    ada.send("unlucky two")
    proxy.word = "unlucky two"
    ada.page.get_by_role("button", name="Retry").click()
    bob.expect_rows("Ada: unlucky one", ": later")
    ada.page.get_by_role("button", name="Discard").click()
    ada.expect_rows("sent: unlucky one", "sent: later")


def test_the_page_marks_unread_messages(meet):
    ada, bob = meet()
    ada.send("read")
    bob.expect_rows("Ada: read")
    bob.set_hidden(True)
    ada.send("unread")
    bob.expect_rows("Ada: read", "unreadDivider", ": unread")
    expect(bob.page).to_have_title("(1) Chat")
    bob.set_hidden(False)
    bob.expect_rows("Ada: read", "unreadDivider", ": unread")
    bob.page.get_by_role("button", name="Mark as read").click()
    bob.expect_rows("Ada: read", ": unread")
    expect(bob.page).to_have_title("Chat")


def test_the_page_refuses_a_blank_or_too_long_draft(meet):
    ada, _ = meet()
    ada.send("")
    expect(ada.page.get_by_role("alert")).to_have_text("Not sent: blank")
    ada.page.get_by_label("Message").fill("x")
    ada.page.get_by_label("Message").fill("x" * 1001)
    expect(ada.page.get_by_label("Message")).to_have_value("x")
