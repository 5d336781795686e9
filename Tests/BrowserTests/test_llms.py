"""`llms.txt`: what an assistant reads about Signalbox is true, and its page works as it stands."""

import re

import pytest
from application import Application
from chat_element import expect_state, send
from conftest import REPOSITORY
from playwright.sync_api import expect

TEXT = (REPOSITORY / "llms.txt").read_text()
PAGE = re.search(r"^```html\n(<!doctype html>.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def address(url, room):
    # The page has users, and the rooms of other documents guests.
    application = Application(PAGE.replace("http://127.0.0.1:8080", url).replace("/room/lobby", f"/room/{room}"))
    yield application.url
    application.stop()


def test_the_page_of_llms_txt_works(open_page, address, screenshots):
    ada = open_page(address + "/?Ada")
    bob = open_page(address + "/?Bob", viewport={"width": 390, "height": 844})
    for page in (ada, bob):
        expect_state(page, "connected")
        # The browser asks for an icon, which this application does not have.
        page.complaints.clear()
    send(ada, "hello from the document")
    expect(bob.locator(".bubble").last).to_have_text("hello from the document")
    expect(bob.locator(".row-name").last).to_have_text("Ada")
    bob.screenshot(path=screenshots / "llms-phone.png")
    # A token that has ended is replaced.
    ada.evaluate(
        """() => {
             window.before = chat.token;
             chat.dispatchEvent(new CustomEvent('signalbox-error', { detail: { cause: 'expired' } }));
           }"""
    )
    ada.wait_for_function("() => chat.token !== before && chat.state === 'connected'")
    send(ada, "and with another token")
    expect(bob.locator(".bubble").last).to_have_text("and with another token")


def test_what_llms_txt_names_exists(url, open_page):
    manifest = (REPOSITORY / "web-test-client/custom-elements.json").read_text()
    names = re.findall(r"`([a-z-]+|signalbox-[a-z]+)`", TEXT.split("## The element")[1].split("- Properties")[0])
    missing = [name for name in names if f'"name": "{name}"' not in manifest and name != "lang"]
    assert names and missing == []
    for path in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (REPOSITORY / path).is_file(), path
    served = open_page("about:blank").request.get(url + "/llms.txt")
    assert (served.status, served.text()) == (200, TEXT)
    assert served.headers["content-type"] == "text/plain; charset=utf-8"
